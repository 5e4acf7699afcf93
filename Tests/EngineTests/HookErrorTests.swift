import CausewayEngine
import CausewayEvaluation
import CausewayObjects
import CausewaySQLite
import CausewayStores
import Testing

/// Whose failure it is when a hook, an expression or a function throws: the row's, or the system's below it.
@Suite("Errors out of hooks, expressions and functions", .timeLimit(.minutes(60)))
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
        "a lack of memory, a failing disk, a full one are the system's, however deep below",
        arguments: [ResultCode.outOfMemory, .ioErrorRead, .full, .cannotOpen], [0, 1, 2, 5])
    func system(_ code: ResultCode, depth: Int) {
        let error = Self.error(Self.wrapped(code, depth: depth))
        #expect(error.kind == .inputOutput, "\(error)")
        #expect(error.isPassing)
        #expect("\(error)".hasPrefix("v1 → v2, PersonToContact, x-coredata://S/Person/p7"), "\(error)")
    }

    @Test(
        "what SQLite says of the data is the row's", arguments: [ResultCode.corrupt, .constraintUnique, nil], [0, 2])
    func row(_ code: ResultCode?, depth: Int) {
        let error = Self.error(Self.wrapped(code, depth: depth))
        #expect(error.kind == .sourceData, "\(error)")
        #expect(!error.remedy.isEmpty)
    }

    @Test("an error of a policy's own is the row's, and shown with its place")
    func policy() {
        for thrown in [Own(), EvaluationError(.function, "f failed: no such number", cause: Own())] as [any Error] {
            let error = Self.error(thrown)
            #expect(error.kind == .sourceData)
            #expect("\(error)".contains("PersonToContact, x-coredata://S/Person/p7: "))
            #expect("\(error)".contains("no such number"))
        }
    }

    @Test("an error that has its kind keeps it")
    func engine() {
        #expect(Self.error(EngineError(.interrupted, "stopped")).kind == .interrupted)
    }
}
