import CausewayEngine
import CausewayStores
import Foundation
import Testing

/// The folder beside the store: where it may be, and the tests in it before the work starts.
@Suite("Work directory", .timeLimit(.minutes(60)))
struct WorkDirectoryTests {
    @Test("unfinished work in a folder in which everyone may rename files isn't resumed")
    func openParent() throws {
        let scenario = try Scenario.chain()
        try scenario.interrupt(afterBatches: 3)
        let before = try scenario.everything()
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: scenario.folder)
        let error = try failure { _ = try scenario.rerun() }
        #expect(error.kind == .cannotCreate)
        #expect(error.remedy.contains("sticky"))
        #expect(try scenario.everything() == before)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: scenario.folder)
        #expect(try scenario.rerun().outcome.resumed != nil)
        try scenario.expectChainDone()
    }

    @Test("a test link that a killed run left doesn't prevent the next run")
    func leftTestLink() throws {
        let scenario = try Scenario.chain()
        try FileManager.default.createDirectory(
            atPath: scenario.workDirectory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try Data().write(to: URL(filePath: scenario.workFile("lock")))
        try FileManager.default.linkItem(atPath: scenario.workFile("lock"), toPath: scenario.workFile("link-test"))
        try scenario.interrupt(afterBatches: 3)
        #expect(!scenario.work.contains("link-test"))
        try Data().write(to: URL(filePath: scenario.workFile("link-test")))
        _ = try scenario.rerun()
        try scenario.expectChainDone()
    }

    @Test("where no link can be made no work starts, and nothing is left")
    func noLinks() throws {
        let scenario = try Scenario.chain()
        try FileManager.default.createDirectory(
            atPath: scenario.workDirectory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        // A folder of this name prevents the link, like a file system without links.
        try FileManager.default.createDirectory(
            atPath: scenario.workFile("link-test"), withIntermediateDirectories: false)
        let error = try failure { _ = try scenario.rerun() }
        #expect(error.kind == .cannotCreate)
        #expect(error.message.contains("hard link"))
        #expect(error.remedy.contains("ext4"))
        try FileManager.default.removeItem(atPath: scenario.workFile("link-test"))
        _ = try scenario.rerun()
        try scenario.expectChainDone()
    }

    @Test("a temporary file of SQLite that a killed run left doesn't prevent the next run", arguments: [true, false])
    func sortingFile(hasWork: Bool) throws {
        let scenario = try Scenario.chain()
        if hasWork {
            try scenario.interrupt(afterBatches: 3)
        } else {
            try FileManager.default.createDirectory(
                atPath: scenario.workDirectory, withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700])
        }
        try Data(count: 5_000).write(to: URL(filePath: scenario.workFile("etilqs_0a1b2c3d4e5f6a7b")))
        #expect(try (scenario.rerun().outcome.resumed != nil) == hasWork)
        try scenario.expectChainDone()
    }
}
