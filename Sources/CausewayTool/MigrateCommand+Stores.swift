import ArgumentParser
import Causeway
import CausewayPlatform

/// `migrate` with several stores.
extension MigrateCommand {
    /// Migrates every store, whatever happens to the others, and prints what became of each.
    ///
    /// - Throws: the exit status of the first failure in the order given.
    func runStores(_ log: LogFile?) async throws {
        let start = MonotonicClock.seconds()
        let stores = try StoreShares(arguments, output: running.output, parallel: running.parallel)
        keepTemporaryFiles(inFolderOf: stores.shares[0].output ?? stores.shares[0].store)
        let whole = try arguments.migrator(running.options)
        let first = try readingModels(whole, for: stores.shares, log, since: start)
        let migrators = stores.shares.map { first.migrating($0.store, stores.options($0, of: whole.options)) }
        let text = StoresReporter(stores.shares, verbosity)
        let lines = stores.shares.map { share in
            json ? JSONReporter(showsEvents: !quiet, showsStatements: verbose > 1, store: share.store) : nil
        }
        let isQuiet = quiet
        let signals = ReceivedSignal()
        let task = Task {
            await outcomes(ofStores: migrators.count, parallel: stores.parallel) { place in
                let store = stores.shares[place].store
                text.begin(place)
                log?.begin(store)
                let outcome: StoreOutcome
                do throws(MigrationError) {
                    outcome = .done(
                        try await migrators[place].migrate(tickingEvery: Self.tick) { event in
                            text.receive(event, of: place)
                            lines[place]?.receive(event)
                            log?.receive(event, of: store)
                        })
                } catch {
                    outcome = .failed(error)
                }
                text.end(place, outcome, signals)
                log?.end(store, outcome, signals)
                if !isQuiet { lines[place]?.write(outcome, signals) }
                return outcome
            }
        }
        let watch = SignalWatch(signals) {
            task.cancel()
            text.say("stopping: saving progress; a second signal ends the process at once")
        } status: {
            text.say(text.status())
        }
        let ended = await task.value
        watch.end()
        text.finish()
        let summary = StoresSummary(
            stores.shares, ended, seconds: MonotonicClock.seconds() - start, signals)
        try report(summary)
        guard summary.exitCode != 0 else {
            try log?.requireWritten(done: done(summary), json: json, storeIsNew: newStores(summary) > 0)
            return
        }
        try? log?.requireWritten()
        throw ExitCode(summary.exitCode)
    }

    /// The models are read once. If they can't be, no store's migration begins, and each has failed.
    private func readingModels(
        _ migrator: Migrator, for shares: [StoreShares.Share], _ log: LogFile?, since start: Double
    ) throws -> Migrator {
        do throws(MigrationError) {
            return try migrator.readingModels()
        } catch {
            let signals = ReceivedSignal()
            let outcome = StoreOutcome.failed(error)
            for share in shares {
                log?.begin(share.store)
                log?.end(share.store, outcome, signals)
            }
            try? log?.requireWritten()
            let status = FailureReport(error).withoutStore().print(asJSON: json, aboutStore: false)
            try report(
                StoresSummary(
                    shares, shares.map { _ in outcome }, seconds: MonotonicClock.seconds() - start, signals))
            throw status
        }
    }

    private func done(_ summary: StoresSummary) -> String {
        "\(Figures.count(newStores(summary), "store is", "stores are")) migrated"
    }

    /// Stores that are new now, those among them that an earlier run has swapped.
    private func newStores(_ summary: StoresSummary) -> Int {
        summary.stores.compactMap(\.summary).count { !$0.wasCurrent || $0.wasSwappedBefore }
    }

    private func report(_ summary: StoresSummary) throws {
        let done = done(summary)
        if json {
            try requireWritten(
                StandardStream.output.writeLine(
                    try JSONText.line(StampedLine(header: EventHeader(store: nil), body: summary))), done: done)
        } else if !quiet {
            try printResult(summary.lines, done: done)
        }
    }
}
