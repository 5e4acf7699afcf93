import ArgumentParser
import Causeway

/// How a call for several stores ended, as a program reads it: the last line of `migrate --json`.
struct StoresSummary: Encodable {
    /// One store.
    struct Entry: Encodable {
        enum Result: String, Encodable {
            case done, current, failed, notBegun
        }

        /// As it was given.
        let store: String
        let result: Result
        let exitCode: Int32
        var summary: MigrationSummary?
        var error: FailureReport?
    }

    let event = "stores"
    let stores: [Entry]
    let done: Int
    let current: Int
    let failed: Int
    let notBegun: Int
    let seconds: Double
    /// 0, or that of the first store in the order given that isn't done.
    let exitCode: Int32

    /// - Parameters:
    ///   - shares: the stores.
    ///   - outcomes: theirs, in the same order.
    ///   - seconds: from start to end.
    ///   - signals: the one that stopped the run, for the exit statuses.
    init(
        _ shares: [StoreShares.Share], _ outcomes: [StoreOutcome], seconds: Double, _ signals: ReceivedSignal
    ) {
        let stores = zip(shares, outcomes).map { share, outcome in
            switch outcome {
            case .done(let summary):
                Entry(
                    store: share.store, result: summary.wasCurrent ? .current : .done, exitCode: 0, summary: summary)
            case .failed(let error):
                Entry(
                    store: share.store, result: .failed, exitCode: signals.code(of: error).exitCode,
                    error: FailureReport(error, code: signals.code(of: error), of: share.store))
            case .notBegun: Entry(store: share.store, result: .notBegun, exitCode: signals.stopCode.exitCode)
            }
        }
        func count(_ result: Entry.Result) -> Int { stores.count { $0.result == result } }
        (done, current, failed, notBegun) = (count(.done), count(.current), count(.failed), count(.notBegun))
        exitCode = stores.first { $0.exitCode != 0 }?.exitCode ?? 0
        self.stores = stores
        self.seconds = seconds
    }

    /// The table that a person reads at the end.
    var lines: [String] {
        var table = TextTable([
            ("STORE", .leading), ("RESULT", .leading), ("VERSION", .leading), ("ROWS", .trailing), ("TIME", .trailing),
        ])
        for entry in stores {
            let summary = entry.summary
            table.add(
                entry.store, result(entry), summary?.targetVersion ?? "",
                summary.map { Figures.grouped($0.rows) } ?? "",
                summary.map { Figures.seconds($0.seconds) } ?? "")
        }
        let stopped = stores.count { $0.error?.isOfSignal == true }
        let counts = [
            (done, "migrated"), (current, "had the version already"), (stopped, "stopped"),
            (failed - stopped, "failed"), (notBegun, "not begun"),
        ].filter { $0.0 > 0 }.map { "\(Figures.grouped($0.0)) \($0.1)" }
        var lines =
            table.lines(width: TextLayout.output(showsAll: true).width)
            + ["", "\(counts.joined(separator: ", ")), \(Figures.seconds(seconds))"]
        if stores.contains(where: { $0.summary?.backup != nil }) {
            lines.append(
                "The originals are kept beside their stores: rollback STORE takes one back, purge-backup STORE removes it."
            )
        }
        return lines
    }

    private func result(_ entry: Entry) -> String {
        switch entry.result {
        case .done: "done"
        case .current: "current"
        case .failed where entry.error?.isOfSignal == true: "stopped (\(entry.exitCode))"
        case .failed: "failed (\(entry.exitCode))"
        case .notBegun: "not begun"
        }
    }
}
