import ArgumentParser
import CausewayPlatform

/// How a failure is shown and what the process exits with.
struct FailureReport: Encodable {
    let event = "error"
    /// Which of several; nil where there is one.
    let store: String?
    let code: String
    let exitCode: Int32
    let message: String
    let details: [String]
    let remedy: String
    private(set) var outcome: String
    let storeIsNew: Bool
    let isResumable: Bool

    /// `code` is the exit status where the error itself can't know it: a SIGTERM reaches the migration as a cancelled
    /// task. `store` is which of several it is about.
    init(_ error: MigrationError, code: MigrationError.Code? = nil, of store: String? = nil) {
        self.store = store
        let code = code ?? error.code
        self.code = code.name
        exitCode = code.exitCode
        message = store.map { error.message.names($0) ? error.message : "\($0): \(error.message)" } ?? error.message
        details = error.details
        remedy = error.remedy
        outcome = error.outcome
        storeIsNew = error.storeIsNew
        isResumable = error.isResumable
    }

    /// A failure of the command itself.
    init(
        _ code: MigrationError.Code, _ message: String, remedy: String, outcome: String, storeIsNew: Bool = false
    ) {
        (self.code, exitCode) = (code.name, code.exitCode)
        (self.message, self.remedy, self.outcome) = (message, remedy, outcome)
        (store, details, self.storeIsNew, isResumable) = (nil, [], storeIsNew, false)
    }

    /// The lines for a person; `aboutStore` if the failure is about a store, so that its state matters.
    func lines(aboutStore: Bool) -> [String] {
        // A line feed in a store's path would make two messages of one.
        let head = store.map { headline.replacing($0, with: $0.onOneLine) } ?? headline
        var lines = [head] + details.map { "  - \($0.onOneLine)" }
        if aboutStore {
            lines.append(outcome)
        } else if !remedy.isEmpty {
            lines.append(remedy)
        }
        return lines
    }

    private var headline: String {
        let rest = (store.map { ": \($0)" } ?? "") + (isResumable ? "; progress saved" : ": \(message)")
        switch exitCode {
        case MigrationError.Code.interrupted.exitCode: return "Interrupted" + rest
        case MigrationError.Code.terminated.exitCode: return "Terminated" + rest
        default: return "error: \(message)"
        }
    }

    /// Whether a signal stopped the run.
    var isOfSignal: Bool {
        [MigrationError.Code.interrupted, .terminated].contains { $0.exitCode == exitCode }
    }

    /// Where no store is concerned: of what the error says of one, only what to do is left.
    func withoutStore() -> FailureReport {
        var report = self
        report.outcome = remedy
        return report
    }

    /// Prints to standard error, and as JSON to standard output too.
    ///
    /// - Parameters:
    ///   - asJSON: whether standard output gets it too.
    ///   - aboutStore: whether the failure is about a store, so that its state matters.
    ///   - header: when and where it happened; nil for now, and no store.
    /// - Returns: the error to throw.
    func print(asJSON: Bool, aboutStore: Bool, header: EventHeader? = nil) -> ExitCode {
        StandardStream.error.writeLine(lines(aboutStore: aboutStore).joined(separator: "\n"))
        if asJSON { printJSON(header) }
        return ExitCode(exitCode)
    }

    /// Prints to standard error, and as JSON to standard output, each only where nobody has to be waited for: the
    /// reader of a result that is being printed may have stopped reading.
    ///
    /// - Parameter store: which one it is about.
    func printIfReady(about store: String?) {
        StandardStream.error.writeLineIfReady(lines(aboutStore: true).joined(separator: "\n"))
        guard let line = try? JSONText.line(StampedLine(header: EventHeader(store: store), body: self)) else { return }
        StandardStream.output.writeLineIfReady(line)
    }

    /// Prints a line of JSON to standard output.
    ///
    /// - Parameter header: when and where it happened; nil for now.
    func printJSON(_ header: EventHeader? = nil) {
        do {
            StandardStream.output.writeLine(
                try JSONText.line(StampedLine(header: header ?? EventHeader(store: store), body: self)))
        } catch {
            StandardStream.error.writeLine("error: the error can't be written as JSON: \(error)")
        }
    }
}

extension ParsableCommand {
    /// Runs `body`; its failure is printed and becomes the process's exit code.
    func reportingFailure<Value>(
        asJSON: Bool = false, aboutStore: Bool = false, store: String? = nil, _ body: () throws(MigrationError) -> Value
    ) throws -> Value {
        do throws(MigrationError) {
            return try body()
        } catch {
            let report = aboutStore ? FailureReport(error) : FailureReport(error).withoutStore()
            throw report.print(asJSON: asJSON, aboutStore: aboutStore, header: EventHeader(store: store))
        }
    }

    /// Prints a result. A reader that closes the pipe (`head`) isn't a failure, a full disk is. `done` says what the
    /// command changed, if it did more than print.
    func printResult(_ lines: [String], done: String? = nil) throws {
        try requireWritten(StandardStream.output.writeLine(lines.joined(separator: "\n")), done: done)
    }
}

/// Fails where a result couldn't be written. `done` says what the command changed, if it did more than print.
func requireWritten(_ outcome: WriteOutcome, done: String? = nil) throws {
    guard case .failed(let number) = outcome else { return }
    let text = "error: the result can't be written to standard output: \(systemMessage(number))"
    StandardStream.error.writeLine(([text] + [done].compactMap(\.self)).joined(separator: "\n"))
    throw ExitCode(MigrationError.Code.inputOutput.exitCode)
}
