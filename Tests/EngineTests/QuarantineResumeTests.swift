import CausewayEngine
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

/// The rejects file and the new store are the same for every run, interrupted or not.
@Suite("Quarantine in any batch size and after a crash", .timeLimit(.minutes(60)))
struct QuarantineResumeTests {
    private static func reference() throws -> (file: String, store: [String]) {
        let office = try BadOffice()
        _ = try Migration(office.request(batchRows: 1_024, jobs: 1)).run()
        return (try office.file(), try Database.dump(office.scenario.store))
    }

    @Test("file and store don't depend on batches and workers", arguments: [1, 7, 1_024], [1, 2, 3])
    func batches(rows: Int, jobs: Int) throws {
        let reference = try Self.reference()
        let office = try BadOffice()
        _ = try Migration(office.request(batchRows: rows, jobs: jobs)).run()
        #expect(try office.file() == reference.file)
        #expect(try Database.dump(office.scenario.store) == reference.store)
    }

    @Test("a run that is killed anywhere and resumed gives the same file and store", arguments: [1, 7])
    func crash(batchRows: Int) throws {
        let reference = try Self.reference()
        let office = try BadOffice()
        let folder = office.scenario.folder
        var request = office.request(batchRows: batchRows, jobs: 2)
        // A commit with every batch and station.
        request.options.checkpointInterval = 0
        var copies: [String] = []
        var events = 0
        defer { for copy in copies { try? FileManager.default.removeItem(atPath: copy) } }
        _ = try Migration(request) { event in
            switch event {
            case .progress, .warning, .statement: break
            default: return
            }
            events += 1
            // Coprime with a table's number of events, so that every kind of event is reached.
            guard events % 11 == 3 else { return }
            let copy = folder + "-copy-\(events)"
            do {
                try Self.run("/bin/cp", "-a", folder, copy)
                copies.append(copy)
            } catch {
                Issue.record(error)
            }
        }.run()
        #expect(try office.file() == reference.file)
        #expect(copies.count > 5)
        var resumed = 0
        for copy in copies {
            try FileManager.default.removeItem(atPath: folder)
            try FileManager.default.moveItem(atPath: copy, toPath: folder)
            request.options.batchRows = 5
            request.options.jobs = 3
            let outcome = try Migration(request).run()
            if outcome.resumed != nil { resumed += 1 }
            #expect(outcome.quarantinedRows == BadOffice.badRows, "\(copy)")
            #expect(try office.file() == reference.file, "\(copy)")
            #expect(try Database.dump(office.scenario.store) == reference.store, "\(copy)")
        }
        #expect(resumed > copies.count / 2, "\(resumed) of \(copies.count)")
    }

    @Test("a run that only has to swap checks the file of the run before it", arguments: [true, false])
    func changedFile(isGone: Bool) throws {
        let office = try BadOffice()
        let rejects = URL(filePath: office.rejects)
        try office.scenario.interrupt(office.request()) { if case .phaseBegan("swap") = $0 { true } else { false } }
        let file = try office.file()
        try FileManager.default.removeItem(at: rejects)
        if !isGone { try Data("mine".utf8).write(to: rejects) }
        let before = try office.scenario.bytes(office.scenario.store)
        let error = try failure { _ = try Migration(office.request()).run() }
        #expect(error.kind == .undecided && error.work == .kept)
        #expect(error.message.hasPrefix(office.rejects) && error.message.contains("\(file.utf8.count) bytes"))
        #expect(error.message.contains("is missing") == isGone)
        #expect(FileManager.default.fileExists(atPath: office.rejects) != isGone)
        #expect(try office.scenario.bytes(office.scenario.store) == before)
        if !isGone { #expect(try office.file() == "mine") }
        try Data(file.utf8).write(to: rejects)
        #expect(try Migration(office.request()).run().quarantinedRows == BadOffice.badRows)
        #expect(try office.file() == file)
    }

    private static func run(_ tool: String, _ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(filePath: tool)
        process.arguments = arguments
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }
}
