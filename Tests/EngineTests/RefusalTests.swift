import CausewayEngine
import CausewayPlatform
import CausewayPreparation
import CausewaySQLite
import CausewayStores
import Foundation
import Testing

/// Folders, names and other processes that prevent a run from starting or finishing.
@Suite("Refusals: each has its rule and its exit code", .timeLimit(.minutes(60)))
struct RefusalTests {
    @Test("a work directory that is a symbolic link isn't followed")
    func symbolicLink() throws {
        let scenario = try Scenario.chain()
        let elsewhere = scenario.folder + "/elsewhere"
        try FileManager.default.createDirectory(
            atPath: elsewhere, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try FileManager.default.createSymbolicLink(
            atPath: scenario.workDirectory, withDestinationPath: elsewhere)
        #expect(try failure { _ = try scenario.rerun() }.kind == .cannotCreate)
        #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere).isEmpty)
    }

    @Test("a work directory that others may write to isn't trusted", arguments: [0o755, 0o770, 0o777])
    func openDirectory(mode: Int) throws {
        let scenario = try Scenario.chain()
        try scenario.interrupt(afterBatches: 3)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: scenario.workDirectory)
        #expect(try failure { _ = try scenario.rerun() }.kind == .cannotCreate)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: scenario.workDirectory)
        _ = try scenario.rerun()
        try scenario.expectChainDone()
    }

    @Test("a folder in which everyone may rename files is refused; the sticky bit makes it safe")
    func openParent() throws {
        let scenario = try Scenario.chain()
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: scenario.folder)
        let error = try failure { _ = try scenario.rerun() }
        #expect(error.kind == .cannotCreate)
        #expect(error.remedy.contains("sticky"))
        #expect(scenario.work.isEmpty)
        try FileManager.default.setAttributes([.posixPermissions: 0o1777], ofItemAtPath: scenario.folder)
        _ = try scenario.rerun()
        try scenario.expectChainDone()
    }

    @Test("a second migrator is busy, and leaves the first one's work alone")
    func twoMigrators() throws {
        let scenario = try Scenario.chain()
        var errors: [EngineError] = []
        var request = scenario.careful()
        let others = [UnfinishedWorkPolicy.resume, .refuse, .restart].map { resume in
            var request = scenario.request(to: "V4")
            request.resume = resume
            return request
        }
        request.swapTimeout = 0
        _ = try Migration(request) { event in
            guard case .phaseBegan("indexes") = event else { return }
            for other in others {
                if let error = try? failure({ _ = try scenario.rerun(other) }) { errors.append(error) }
            }
        }.run()
        #expect(errors.map(\.kind) == [EngineError.Kind](repeating: .busy, count: 6))
        try scenario.expectChainDone()
    }

    @Test("a store with two names is migrated where the caller says that the other name isn't in use")
    func allowedHardLink() throws {
        let scenario = try Scenario.chain()
        let other = scenario.folder + "/Other.sqlite"
        try FileManager.default.linkItem(atPath: scenario.store, toPath: other)
        var request = scenario.request(to: "V4")
        #expect(try failure { _ = try scenario.rerun(request) }.kind == .sourceData)
        request.allowsHardLinks = true
        _ = try scenario.rerun(request)
        #expect(try scenario.inode(other) == scenario.inode(scenario.backup))
        #expect(try scenario.inode(other) != scenario.inode(scenario.store))
    }

    @Test("a reader that stays makes the swap busy; all work is kept, and the next run swaps")
    func busyAtTheSwap() throws {
        let scenario = try Scenario.chain()
        let reader = try Connection(path: scenario.store, mode: .readOnly, hardening: .own)
        var request = scenario.request(to: "V4")
        request.swapTimeout = 0
        let run = Migration(request) { event in
            guard case .phaseBegan("swap") = event else { return }
            #expect(throws: Never.self) { try Self.read(reader) }
        }
        let error = try failure { _ = try run.run() }
        #expect(error.kind == .busy)
        #expect(error.isResumable)
        try reader.rollback()
        #expect(try scenario.rerun(request).steps.isEmpty)
        try scenario.expectChainDone()
    }

    private static func read(_ reader: borrowing Connection) throws {
        try reader.begin(.deferred)
        var statement = try reader.prepare("SELECT count(*) FROM ZBOOK")
        _ = try statement.step()
    }

    @Test("a store that is busy when work is resumed keeps it", arguments: ["IMMEDIATE", "EXCLUSIVE"])
    func busyAtTheResume(_ kind: String) throws {
        let scenario = try Scenario.chain()
        try scenario.interrupt(afterBatches: 8)
        let other = try Connection(path: scenario.store, mode: .readWrite, hardening: .own)
        try other.execute("BEGIN \(kind)")
        let before = try scenario.everything()
        #expect(try failure { _ = try scenario.rerun() }.kind == .busy)
        #expect(try scenario.everything() == before)
        try other.rollback()
        #expect(try scenario.rerun().outcome.resumed?.rows == 56)
        try scenario.expectChainDone()
    }

    @Test("a header with a format that SQLite doesn't write is damage, not a lack of permission", arguments: [18, 19])
    func unknownFormat(offset: Int) throws {
        let scenario = try Scenario.chain()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: scenario.store))
        bytes[offset] = 3
        try bytes.write(to: URL(fileURLWithPath: scenario.store))
        let error = try failure { _ = try scenario.rerun() }
        #expect(error.kind == .sourceData)
        #expect(error.message.contains("damaged"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: scenario.store)) == bytes)
        #expect(scenario.work.isEmpty)
    }

    @Test("backups can't be put back or removed while work is unfinished")
    func backups() throws {
        let scenario = try Scenario.chain()
        _ = try Migration(scenario.request(to: "V2")).run()
        try scenario.interrupt(afterBatches: 3)
        #expect(try failure { _ = try BackupRollback(store: scenario.store).run() }.kind == .undecided)
        #expect(try failure { _ = try BackupPurge(store: scenario.store).run() }.kind == .undecided)
        #expect(scenario.backups.count == 1)
        #expect(try scenario.rerun().outcome.resumed != nil)
    }
}
