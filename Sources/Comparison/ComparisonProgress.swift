import CausewaySQLite
import CausewayStores

/// How far a comparison of two stores is.
public struct ComparisonProgress: Hashable, Sendable {
    /// What is compared now, for people.
    public var activity: String
    /// The part of the work that is done, from 0 to 1, by the numbers of rows; nil while links are followed, which
    /// nobody knows how often.
    public var fraction: Double?

    package init(_ activity: String, _ fraction: Double?) {
        (self.activity, self.fraction) = (activity, fraction)
    }
}

/// The rows of both stores that a comparison has read, told now and then.
final class RowCount {
    /// Rows between two calls: they cost nothing then.
    private static let interval = 4_096

    private let report: (ComparisonProgress) -> Void
    /// Rows of both stores, about.
    private let total: Double
    private let part: Double
    private var rows = 0
    private var activity = ""

    /// Keys are given in order: the largest one of a table is cheap, and says about how many rows there are.
    ///
    /// `part` is what reading the rows is of the whole work.
    init(
        _ a: ComparedStore, _ b: ComparedStore, part: Double, _ report: @escaping (ComparisonProgress) -> Void
    ) {
        (self.part, self.report) = (part, report)
        total = [a, b].reduce(0) { total, store in
            let names = store.tables.map(\.name) + store.joins.map(\.table) + store.others.map(\.name)
            return total
                + names.reduce(0) { total, name in
                    total + max(1, Double((try? store.store.connection.largestRowid(of: name)) ?? 0))
                }
        }
    }

    /// Something else is compared from here on; `isCounted` is false where it isn't known how long it takes.
    func begin(_ activity: String, isCounted: Bool = true) {
        self.activity = activity
        report(ComparisonProgress(activity, isCounted ? fraction : nil))
    }

    /// Counts rows that were read.
    func add(_ count: Int) {
        let before = rows / Self.interval
        rows += count
        if rows / Self.interval != before { report(ComparisonProgress(activity, fraction)) }
    }

    private var fraction: Double { part * min(1, Double(rows) / total) }
}

extension Connection {
    /// - Throws: also for a table without a rowid.
    fileprivate func largestRowid(of table: String) throws(SQLiteError) -> Int64 {
        var statement = try prepare("SELECT max(rowid) FROM \(try SQLIdentifier(table))")
        return try statement.step() ? statement.int64(at: 0) : 0
    }
}
