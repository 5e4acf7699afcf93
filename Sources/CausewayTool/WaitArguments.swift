import ArgumentParser
import Causeway

/// `--wait` of the commands that need a store for themselves for a moment.
struct WaitArguments: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Seconds to wait for a store that another program uses.", valueName: "seconds"))
    var wait = 0.0

    /// Refuses values that make no sense.
    func validate() throws {
        guard MigrationOptions.intervals.contains(wait) else {
            throw ValidationError("--wait must be 0 to 86,400 seconds.")
        }
    }

    /// Runs `body`, again while the store is in use and there is time.
    func whileBusy<Value>(
        _ store: String, _ body: () throws(MigrationError) -> Value
    ) throws(MigrationError) -> Value {
        try BusyStore(store, seconds: wait).run {
            StandardStream.error.writeLine(waitingText($0, $1))
        } _: { () throws(MigrationError) in
            try body()
        }
    }
}
