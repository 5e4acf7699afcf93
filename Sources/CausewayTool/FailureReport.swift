import ArgumentParser

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

    /// `code` is the exit status where the error itself can't know it: a SIGTERM reaches the migration as a cancelled
    /// task.
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

    /// The lines for a person; `aboutStore` if the failure is about a store, so that its state matters.
    func lines(aboutStore: Bool) -> [String] {
        var lines = [headline] + details.map { "  - \($0)" }
        if aboutStore {
            lines.append(outcome)
        } else if !remedy.isEmpty {
            lines.append(remedy)
        }
        return lines
    }

    private var headline: String {
        let rest = isResumable ? "; progress saved" : ": \(message)"
        switch exitCode {
        case MigrationError.Code.interrupted.exitCode: return "Interrupted" + rest
        case MigrationError.Code.terminated.exitCode: return "Terminated" + rest
        default: return "error: \(message)"
        }
    }

    /// Prints to standard error, and as JSON to standard output too. Returns the error to throw.
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

    /// Prints a result. A reader that closes the pipe (`head`) isn't a failure, a full disk is. `done` says what the
    /// command changed, if it did more than print.
    func printResult(_ lines: [String], done: String? = nil) throws {
        try requireWritten(StandardStream.output.writeLine(lines.joined(separator: "\n")), done: done)
    }

    /// Fails where a result couldn't be written.
    func requireWritten(_ outcome: WriteOutcome, done: String? = nil) throws {
        guard case .failed(let number) = outcome else { return }
        let text = "error: the result can't be written to standard output: \(systemMessage(number))"
        StandardStream.error.writeLine(([text] + [done].compactMap(\.self)).joined(separator: "\n"))
        throw ExitCode(MigrationError.Code.inputOutput.exitCode)
    }
}
