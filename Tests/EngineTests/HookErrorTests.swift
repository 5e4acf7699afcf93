import CausewayEngine
import CausewayEvaluation
import CausewayObjects
import CausewaySQLite
import CausewayStores
import Testing

/// Whether an error of a hook, an expression or a function is a bad row or a failure of the system.
@Suite("Errors of hooks, expressions and functions", .timeLimit(.minutes(60)))
struct HookErrorTests {
    private struct Own: Error, CustomStringConvertible {
        let description = "no such number"
    }

    /// An error of the object layer, as `depth` functions and expressions around it pass it on.
    private static func wrapped(_ code: ResultCode?, depth: Int) -> any Error {
        let cause = code.map { SQLiteError(code: $0, message: "from below") }
        var error: any Error = ObjectError(.store, "the row can't be read", cause: cause)
        for level in 0..<depth {
            error = EvaluationError(.function, "function \(level) failed", cause: error)
        }
        return error
    }

    private static func error(_ error: any Error) -> EngineError {
        EngineError(hook: error, step: ["v1", "v2"], mapping: "PersonToContact", row: "x-coredata://S/Person/p7")
    }

    @Test(
        "lack of memory, a failing disk and a full disk are the system's, however deeply they are wrapped",
        arguments: [ResultCode.outOfMemory, .ioErrorRead, .full, .cannotOpen], [0, 1, 2, 5])
    func system(_ code: ResultCode, depth: Int) {
        let error = Self.error(Self.wrapped(code, depth: depth))
        #expect(error.kind == .inputOutput, "\(error)")
        #expect(error.isPassing)
        #expect("\(error)".hasPrefix("v1 → v2, PersonToContact, x-coredata://S/Person/p7"), "\(error)")
    }

    @Test(
        "SQLite's errors about data are the row's", arguments: [ResultCode.corrupt, .constraintUnique, nil], [0, 2])
    func row(_ code: ResultCode?, depth: Int) {
        let error = Self.error(Self.wrapped(code, depth: depth))
        #expect(error.kind == .sourceData, "\(error)")
        #expect(!error.remedy.isEmpty)
    }

    @Test("a policy's own error is the row's, and shown with its place")
    func policy() {
        for thrown in [Own(), EvaluationError(.function, "f failed: no such number", cause: Own())] as [any Error] {
            let error = Self.error(thrown)
            #expect(error.kind == .sourceData)
            #expect("\(error)".contains("PersonToContact, x-coredata://S/Person/p7: "))
            #expect("\(error)".contains("no such number"))
        }
    }

    @Test("an error that has a kind keeps it")
    func engine() {
        #expect(Self.error(EngineError(.interrupted, "stopped")).kind == .interrupted)
    }
}
