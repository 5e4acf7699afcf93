import CausewayEngine
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

/// Files that an earlier run or another program has left, and wrong models.
@Suite("Leftovers and strangers", .timeLimit(.minutes(60)))
struct LeftoverTests {
    private func scenario(wal: Bool = false) throws -> Scenario {
        try Scenario(FailureTests.from, FailureTests.to, wal: wal, rows: FailureTests.rows)
    }

    @Test("a second name that isn't a backup's is refused")
    func hardLink() throws {
        let scenario = try scenario()
        try FileManager.default.linkItem(atPath: scenario.store, toPath: scenario.folder + "/Other.sqlite")
        let before = try snapshot(scenario.folder)
        #expect(try failure { try scenario.migrate() }.kind == .sourceData)
        #expect(try snapshot(scenario.folder) == before)
    }

    @Test("a folder that a run killed after the swap left is removed when nothing is left to do")
    func leftoverFolder() throws {
        let scenario = try scenario()
        try scenario.migrate()
        try FileManager.default.createDirectory(
            atPath: scenario.workDirectory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try Data("left".utf8).write(to: URL(filePath: scenario.workDirectory + "/step-1.sqlite"))
        #expect(try scenario.migrate().prepared.steps.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: scenario.workDirectory))
    }

    @Test("a folder with files that aren't a migration's is left alone")
    func foreignFolder() throws {
        let scenario = try scenario()
        try FileManager.default.createDirectory(
            atPath: scenario.workDirectory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try Data("mine".utf8).write(to: URL(filePath: scenario.workDirectory + "/notes.txt"))
        #expect(try failure { try scenario.migrate() }.kind == .undecided)
        #expect(FileManager.default.fileExists(atPath: scenario.workDirectory + "/notes.txt"))
        #expect(try scenario.rows("SELECT count(*) FROM ZTHING") == ["2"])
    }

    @Test("a file that appears at the path meanwhile isn't replaced")
    func replacedStore() throws {
        let scenario = try scenario()
        let run = Migration(scenario.request(to: "V2")) { event in
            guard case .phaseBegan("indexes") = event else { return }
            try? FileManager.default.copyItem(atPath: scenario.store, toPath: scenario.folder + "/New.sqlite")
            _ = unsafe rename(scenario.folder + "/New.sqlite", scenario.store)
        }
        #expect(try failure { _ = try run.run() }.kind == .undecided)
        #expect(scenario.backups.isEmpty)
        #expect(try scenario.rows("SELECT count(*) FROM ZTHING") == ["2"])
    }

    @Test("unrelated models are refused: no empty store is made")
    func foreignModels() throws {
        let scenario = try scenario()
        let other = try Scenario(FailureTests.from.replacing("Thing", with: "Stranger"))
        var request = scenario.request()
        request.models = [other.models]
        let before = try snapshot(scenario.folder)
        let error = try failure { _ = try Migration(request).run() }
        #expect(error.kind == .plan)
        #expect(error.details.contains { $0.contains("Thing") })
        #expect(try snapshot(scenario.folder) == before)
    }

    @Test("unfinished work of a changed store is removed where nothing is to be done, and the run says so")
    func uselessWork() throws {
        let office = try BadOffice()
        try office.scenario.interrupt(office.request(batchRows: 7, jobs: 1)) {
            if case .phaseBegan("indexes") = $0 { true } else { false }
        }
        #expect(FileManager.default.fileExists(atPath: office.rejects))
        try Scenario.execute("UPDATE ZSITE SET ZSTREET = 'new'", office.scenario.store)
        let before = try office.scenario.bytes(office.scenario.store)
        let outcome = try Migration(office.scenario.request(to: "V1")).run()
        #expect(outcome.prepared.steps.isEmpty)
        #expect(outcome.warnings.contains { $0.contains("(V1 → V2) was discarded: the store has changed since") })
        #expect(try office.scenario.bytes(office.scenario.store) == before)
        #expect(try office.scenario.names() == ["Model.xcdatamodeld", "Store.sqlite"])
        #expect(try Migration(office.request()).run().quarantinedRows == BadOffice.badRows)
    }

    @Test("an incomplete external file of a killed run is replaced by the whole file")
    func partialExternalFile() throws {
        let scenario = try scenario()
        let name = UUID().uuidString
        let from = scenario.folder + "/.Store_SUPPORT/_EXTERNAL_DATA"
        let to = scenario.folder + "/.Out_SUPPORT/_EXTERNAL_DATA"
        for folder in [from, to] {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
        let content = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
        try content.write(to: URL(filePath: "\(from)/\(name)"))
        try content.prefix(7).write(to: URL(filePath: "\(to)/\(name).part"))
        _ = try EngineRun.output(scenario.request(to: "V2"), as: "Out.sqlite")
        #expect(try Data(contentsOf: URL(filePath: "\(to)/\(name)")) == content)
        #expect(try FileManager.default.contentsOfDirectory(atPath: to) == [name])
    }
}
