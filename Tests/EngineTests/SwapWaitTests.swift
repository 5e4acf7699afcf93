import CausewayEngine
import CausewayPreparation
import CausewaySQLite
import CausewayStores
import Foundation
import Testing

/// The swap waits for readers; a request to stop ends the wait.
@Suite("The wait for the swap", .timeLimit(.minutes(60)))
struct SwapWaitTests {
    private static func read(_ reader: borrowing Connection) throws {
        try reader.begin(.deferred)
        var statement = try reader.prepare("SELECT count(*) FROM ZBOOK")
        _ = try statement.step()
    }

    /// Requests a stop as soon as the swap waits, which is when new readers get SQLITE_BUSY.
    private static func stopWhenWaiting(_ store: String, _ cancellation: Cancellation, _ kind: EngineError.Kind) {
        Thread.detachNewThread {
            while true {
                do throws(SQLiteError) {
                    let newcomer = try Connection(path: store, mode: .readOnly, hardening: .own)
                    try newcomer.setBusyTimeout(milliseconds: 0)
                    _ = try newcomer.pragmaInteger("schema_version")
                } catch {
                    return cancellation.cancel(kind)
                }
                Thread.sleep(forTimeInterval: 0.001)
            }
        }
    }

    @Test(
        "a request to stop ends it; the store is as it was, all work is kept, and the next run swaps",
        arguments: [EngineError.Kind.interrupted, .terminated])
    func stop(_ kind: EngineError.Kind) throws {
        let scenario = try Scenario.chain()
        let reader = try Connection(path: scenario.store, mode: .readOnly, hardening: .own)
        var request = scenario.request(to: "V4")
        request.swapTimeout = 60
        let (store, cancellation) = (scenario.store, Cancellation())
        let run = Migration(request, cancellation: cancellation) { event in
            guard case .phaseBegan("swap") = event else { return }
            #expect(throws: Never.self) { try Self.read(reader) }
            Self.stopWhenWaiting(store, cancellation, kind)
        }
        let error = try failure { _ = try run.run() }
        #expect(error.kind == kind, "\(error)")
        #expect(error.isResumable)
        #expect(scenario.backups.isEmpty)
        try reader.rollback()
        #expect(try scenario.rerun(request).steps.isEmpty)
        try scenario.expectChainDone()
    }

    @Test("when the reader ends, the swap continues")
    func goesOn() throws {
        let scenario = try Scenario.chain()
        let store = scenario.store
        let run = Migration(scenario.request(to: "V4")) { event in
            guard case .phaseBegan("swap") = event else { return }
            let isReading = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                #expect(throws: Never.self) {
                    let reader = try Connection(path: store, mode: .readOnly, hardening: .own)
                    try Self.read(reader)
                    isReading.signal()
                    Thread.sleep(forTimeInterval: 0.1)
                    try reader.rollback()
                }
            }
            isReading.wait()
        }
        _ = try run.run()
        try scenario.expectChainDone()
    }
}
