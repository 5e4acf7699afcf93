import CausewayEngine
import CausewayPlatform
import CausewayPreparation
import Foundation
import Testing

/// A program that has the old file open at the swap could use the new store's journals for the old file.
@Suite("The handover to the new store", .timeLimit(.minutes(60)))
struct StoreHandoverTests {
    /// A program that has a file open for some seconds.
    private static func holder(of path: String, seconds: Double) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sleep")
        process.arguments = ["\(seconds)"]
        process.standardInput = FileHandle(forReadingAtPath: path)
        try process.run()
        return process
    }

    @Test("the swap ends when no process has the old file open any more")
    func waits() throws {
        let scenario = try Scenario.chain()
        let holder = try Self.holder(of: scenario.store, seconds: 0.7)
        let old = try Files.status(of: scenario.store)
        let users = Files.otherUsers(of: old)
        guard !users.known.isEmpty || users.isComplete else {
            // This system doesn't list a file's users: the swap waits for a fixed time.
            holder.waitUntilExit()
            return
        }
        #expect(users.known.map(\.processID) == [holder.processIdentifier])
        let outcome = try Migration(scenario.request(to: "V4")).run()
        #expect(Files.otherUsers(of: old).known == [])
        #expect(outcome.warnings == outcome.prepared.warnings)
        holder.waitUntilExit()
        try scenario.expectChainDone()
    }

    @Test("a process that keeps it open is named in a warning, and the store is migrated")
    func warns() throws {
        let scenario = try Scenario.chain()
        let holder = try Self.holder(of: scenario.store, seconds: 60)
        defer {
            // SIGTERM may be blocked where tests run, and the child inherits that.
            kill(holder.processIdentifier, SIGKILL)
            holder.waitUntilExit()
        }
        let isTold = !Files.otherUsers(of: try Files.status(of: scenario.store)).known.isEmpty
        let outcome = try Migration(scenario.request(to: "V4")).run()
        #if os(Linux)
            #expect(isTold)
        #endif
        if isTold {
            let warning = try #require(outcome.warnings.last)
            #expect(warning.contains("sleep (process \(holder.processIdentifier))"))
            #expect(warning.contains("end it before any program writes"))
        }
        try scenario.expectChainDone()
    }
}
