import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat
package import CausewayStores

/// How much of the store the steps drop.
extension PreparedMigration {
    /// Bytes of a store up to which a migration counts what it drops before it says what it will do: that takes less
    /// than a second. In a larger store it counts in its check of the rows. A plan counts in any store.
    package static let quicklyCounted = 256_000_000

    /// Numbers of one statement; SQLite allows 2,000 columns of a result.
    private static let termsAtOnce = 1_000

    /// Counts what the steps drop, in the store as it is: what a later step drops is what the store has of it. Each
    /// table that holds any of it is read once.
    ///
    /// The numbers are for people: where a table can't be read they stay unknown, and the check of the rows says why.
    ///
    /// - Parameters:
    ///   - store: the source.
    ///   - limit: bytes of a store up to which it is counted.
    ///   - counted: the same plan with its numbers, if there is one.
    package mutating func countLosses(
        in store: SourceStore, upTo limit: Int = .max, as counted: PreparedMigration? = nil
    ) {
        if let counted, counted.path == path, counted.steps.map(\.contents) == steps.map(\.contents) {
            for (index, step) in counted.steps.enumerated() {
                (steps[index].lost, steps[index].changes) = (step.lost, step.changes)
            }
            return
        }
        guard storeBytes <= limit, let layout = steps.first?.source else { return }
        let contents = Set(steps.flatMap(\.contents).compactMap(\.self))
        let counts = Self.counts(contents, layout, store)
        for index in steps.indices {
            for place in steps[index].lost.indices {
                steps[index].lost[place].count = steps[index].lost[place].content.flatMap { counts[$0] }
            }
            for place in steps[index].changes.indices {
                steps[index].changes[place].count = steps[index].changes[place].content.flatMap { counts[$0] }
            }
        }
    }

    /// The numbers, step by step: those of the losses, then those of the changes.
    package var lossCounts: [[Int?]] {
        get { steps.map { $0.lost.map(\.count) + $0.changes.map(\.count) } }
        set {
            for (index, counts) in newValue.enumerated() where steps.indices.contains(index) {
                let losses = steps[index].lost.count
                guard counts.count == losses + steps[index].changes.count else { continue }
                for place in 0..<losses { steps[index].lost[place].count = counts[place] }
                for place in losses..<counts.count { steps[index].changes[place - losses].count = counts[place] }
            }
        }
    }

    /// Whether something that can be counted isn't.
    package var lacksCounts: Bool {
        zip(steps.flatMap(\.contents), lossCounts.joined()).contains { $0 != nil && $1 == nil }
    }

    private static func counts(
        _ contents: Set<StoreContent>, _ layout: StoreLayout, _ store: SourceStore
    ) -> [StoreContent: Int] {
        var terms: [StoreContent: [CountTerm]] = [:]
        for content in contents { terms[content] = try? content.terms(in: layout) }
        var numbers: [CountTerm: Int] = [:]
        let tables = Dictionary(grouping: Set(terms.values.flatMap(\.self)), by: \.table)
        for (table, terms) in tables.sorted(by: { $0.key.name < $1.key.name }) {
            let terms = terms.sorted { $0.sql < $1.sql }
            for start in stride(from: 0, to: terms.count, by: termsAtOnce) {
                let part = terms[start..<min(start + termsAtOnce, terms.count)]
                guard let found = try? read(part.map(\.sql), of: table, in: store) else { continue }
                for (term, number) in zip(part, found) { numbers[term] = number }
            }
        }
        return terms.compactMapValues { terms in
            let found = terms.compactMap { numbers[$0] }
            return found.count == terms.count ? found.reduce(0, +) : nil
        }
    }

    /// One pass over the table's rows: no index would help, since all of them are read.
    private static func read(
        _ terms: [String], of table: SQLIdentifier, in store: SourceStore
    ) throws(SQLiteError) -> [Int] {
        var statement = try store.connection.prepare(
            "SELECT \(terms.joined(separator: ", ")) FROM \(table) AS t NOT INDEXED")
        guard try statement.step() else { return [] }
        return terms.indices.map { Int(clamping: statement.int64(at: $0)) }
    }
}

extension StepPlan {
    /// What its losses and changes count, in their order.
    fileprivate var contents: [StoreContent?] { lost.map(\.content) + changes.map(\.content) }
}
