import ArgumentParser
import Causeway

/// How a failure is shown and what the process exits with.
struct FailureReport: Encodable {
    let event = "error"
    let code: String
    let exitCode: Int32
    let message: String
    let details: [String]
    let remedy: String
    let outcome: String
    let storeIsNew: Bool
    let isResumable: Bool

    /// `code` is what the process exits with, where the error itself can't know: a SIGTERM reaches the migration as a
    /// cancelled task.
    init(_ error: MigrationError, code: MigrationError.Code? = nil) {
        let code = code ?? error.code
        self.code = code.name
        exitCode = code.exitCode
        message = error.message
        details = error.details
        remedy = error.remedy
        outcome = error.outcome
        storeIsNew = error.storeIsNew
        isResumable = error.isResumable
    }

    private enum CodingKeys: String, CodingKey {
        case event, code, exitCode, message, details, remedy, outcome, storeIsNew, isResumable
    }

    /// The lines for a person; `aboutStore` where a store was at stake, so that its state matters.
    func lines(aboutStore: Bool) -> [String] {
        var lines = ["error: \(message)"] + details.map { "  - \($0)" }
        if aboutStore {
            lines.append(outcome)
        } else if !remedy.isEmpty {
            lines.append(remedy)
        }
        return lines
    }

    /// Prints to standard error, as JSON to standard output too, and gives what to throw.
    func print(asJSON: Bool, aboutStore: Bool) -> ExitCode {
        StandardStream.error.writeLine(lines(aboutStore: aboutStore).joined(separator: "\n"))
        if asJSON {
            do {
                StandardStream.output.writeLine(try JSONText.line(self))
            } catch {
                StandardStream.error.writeLine("error: the error can't be written as JSON: \(error)")
            }
        }
        return ExitCode(exitCode)
    }
}

extension ParsableCommand {
    /// Runs `body`; its failure is printed and becomes the process's exit code.
    func reportingFailure<Value>(
        asJSON: Bool = false, aboutStore: Bool = false, _ body: () throws(MigrationError) -> Value
    ) throws -> Value {
        do throws(MigrationError) {
            return try body()
        } catch {
            throw FailureReport(error).print(asJSON: asJSON, aboutStore: aboutStore)
        }
    }

    /// Prints a result. A reader that has seen enough (`head`) is no failure, a full disk is.
    func printResult(_ lines: [String]) throws {
        if case .failed(let number) = StandardStream.output.writeLine(lines.joined(separator: "\n")) {
            StandardStream.error.writeLine("error: the result can't be written (error \(number) of the system)")
            throw ExitCode(MigrationError.Code.inputOutput.exitCode)
        }
    }
}
