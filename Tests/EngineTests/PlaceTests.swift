import CausewayEngine
import CausewayPlatform
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

@Suite("Paths at which a migration can't succeed are refused before its work", .timeLimit(.minutes(60)))
struct PlaceTests {
    /// A store whose file has another name.
    private func scenario(named name: String) throws -> (Scenario, String) {
        let scenario = try Scenario(FailureTests.from, FailureTests.to, rows: FailureTests.rows)
        let path = scenario.folder + "/" + name
        try FileManager.default.moveItem(atPath: scenario.store, toPath: path)
        return (scenario, path)
    }

    /// Events of a run that is refused before any row is looked at.
    private func expectRefusal(_ request: MigrationRequest, _ folder: String) throws -> EngineError {
        let before = try snapshot(folder)
        var events = 0
        let error = try failure { _ = try Migration(request) { _ in events += 1 }.run() }
        #expect(events == 0)
        #expect(error.kind == .cannotCreate)
        #expect(error.state == .untouched)
        #expect(try snapshot(folder) == before)
        return error
    }

    @Test("a store with a name of 225 bytes is migrated and rolled back", arguments: [225, 100])
    func longestName(length: Int) throws {
        let (scenario, path) = try scenario(named: String(repeating: "n", count: length - 7) + ".sqlite")
        var request = scenario.request(to: "V2")
        request.store = path
        let before = try Data(contentsOf: URL(filePath: path))
        _ = try Migration(request).run()
        #expect(try Data(contentsOf: URL(filePath: path)) != before)
        _ = try BackupRollback(store: path).run()
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
    }

    @Test("a longer name is refused at once", arguments: [226, 240, 245, 255])
    func tooLongName(length: Int) throws {
        let (scenario, path) = try scenario(named: String(repeating: "n", count: length - 7) + ".sqlite")
        var request = scenario.request(to: "V2")
        request.store = path
        let error = try expectRefusal(request, scenario.folder)
        #expect(error.message.contains("the name is too long"))
        #expect(error.message.contains(" \(length + 30) bytes"))
        #expect(try Migration(request).plan().notices.contains { $0.contains(error.message) })
        #expect(error.remedy.contains("--output"))
        request.output = scenario.folder + "/Short.sqlite"
        _ = try Migration(request).run()
    }

    @Test("the limit is in bytes, and an output's name has it too", arguments: [(122, true), (123, false)])
    func outputName(letters: Int, fits: Bool) throws {
        let scenario = try Scenario(FailureTests.from, FailureTests.to, rows: FailureTests.rows)
        var request = scenario.request(to: "V2")
        // 244 bytes leave room for the work directory's name.
        request.output = scenario.folder + "/" + String(repeating: "ä", count: letters)
        if fits {
            _ = try Migration(request).run()
        } else {
            #expect(try expectRefusal(request, scenario.folder).message.contains("the work directory"))
        }
    }

    @Test("a path that is too long for SQLite with its suffixes is refused at once", arguments: [true, false])
    func longPath(inPlace: Bool) throws {
        let scenario = try Scenario(FailureTests.from, FailureTests.to, rows: FailureTests.rows)
        var folder = scenario.folder
        while folder.utf8.count < 470 {
            folder += "/" + String(repeating: "f", count: min(99, 469 - folder.utf8.count + 1))
        }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var request = scenario.request(to: "V2")
        if inPlace {
            request.store = folder + "/s.sqlite"
            try FileManager.default.moveItem(atPath: scenario.store, toPath: request.store)
        } else {
            request.output = folder + "/s.sqlite"
        }
        #expect(try expectRefusal(request, scenario.folder).message.contains("the path is too long"))
    }

    @Test("an output that exists is refused at once, whatever it is", arguments: ["file", "folder", "link", "-wal"])
    func existing(kind: String) throws {
        let scenario = try Scenario(FailureTests.from, FailureTests.to, rows: FailureTests.rows)
        let path = scenario.folder + "/New.sqlite"
        switch kind {
        case "folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        case "link": try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "nowhere")
        case "-wal": try Data().write(to: URL(filePath: path + "-wal"))
        default: try Data().write(to: URL(filePath: path))
        }
        var request = scenario.request(to: "V2")
        request.output = path
        #expect(try expectRefusal(request, scenario.folder).message.contains("already exists"))
        #expect(try Migration(request).plan().notices.contains { $0.contains("already exists") })
    }

    @Test("a rejects file or key map that exists already is refused at once", arguments: [true, false])
    func taken(inPlace: Bool) throws {
        let scenario = try Scenario(FailureTests.from, FailureTests.to, rows: FailureTests.rows)
        let path = scenario.folder + "/lines.jsonl"
        try Data("mine".utf8).write(to: URL(filePath: path))
        let output = inPlace ? nil : scenario.folder + "/New.sqlite"
        var (rejects, keyMap) = (scenario.request(to: "V2", output: output), scenario.request(to: "V2", output: output))
        (rejects.rejects, rejects.badRows) = (path, .quarantine)
        keyMap.keyMap = path
        for request in [rejects, keyMap] {
            #expect(try expectRefusal(request, scenario.folder).message == "\(path): already exists")
        }
    }
}
