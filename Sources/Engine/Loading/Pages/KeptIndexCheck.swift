import CausewayPlanning
import CausewayPreparation
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// Compares indexes that a copy of the source has kept with the rows of their tables, in the pages of the copy: an index
/// of the source may be stale, and a store that is made anew gets fresh ones.
///
/// Indexes on plain columns are compared by count, order, uniqueness and digest; all others by SQLite. The answer follows
/// from the source and the plan alone, so a run that copies again finds the same.
struct KeptIndexCheck {
    let step: StepPlan
    /// The copy, with the new store's schema; no connection is open on it.
    let file: StagingFile
    let options: EngineOptions
    let cancellation: Cancellation

    /// An index whose entries aren't those of the rows.
    struct Stale: Hashable, Sendable {
        var index: TableIndex
        /// How it gets its entries.
        var method: IndexWork.Method
        /// What is wrong with those that it has.
        var reason: String
    }

    /// What came of it.
    struct Outcome: Sendable {
        var stale: [Stale] = []
        /// Bytes of the trees that were read.
        var bytes = 0
    }

    /// - Parameter includingKept: also the indexes of tables of which no byte was changed.
    /// - Returns: the stale indexes, in the order of the plan, those that pages make first.
    /// - Throws: `.sourceData` for a damaged table; with `isMisfit` where an index can only be made with its table.
    func compare(includingKept: Bool) throws(EngineError) -> Outcome {
        var plain: [KeptIndexReading.Index] = []
        var others: [(table: String, indexes: [TableIndex])] = []
        let schema = try file.schema(hasHouse: false)
        for work in step.works where work.method == .patch || includingKept && work.method == .keep {
            let kept = work.indexes.filter { $0.method == .keep || $0.method == .patch }.map(\.index)
            guard !kept.isEmpty else { continue }
            guard let table = schema.table(work.table) else { throw EngineError(missing: work.table, in: file.path) }
            var rest: [TableIndex] = []
            for index in kept {
                guard let root = schema.objects.first(where: { $0.kind == .index && $0.name == index.name })?.rootPage
                else {
                    // The key of a WITHOUT ROWID table is the table.
                    if table.isWithoutRowID { continue }
                    throw EngineError(missing: index.name, in: file.path)
                }
                if let key = Self.key(of: index, table) {
                    plain.append(KeptIndexReading.Index(index: index, key: key, table: table, root: Int(root)))
                } else {
                    rest.append(index)
                }
            }
            // SQLite would miss the entries of indexes that are empty until pages fill them; in the copy that this one
            // replaces it has compared the others.
            if !rest.isEmpty, !work.indexes.contains(where: { step.methods.empties(index: $0.index.name) }) {
                others.append((work.table, rest))
            }
        }
        var outcome = try byPages(plain)
        outcome.stale += try bySQLite(others)
        if let constraint = outcome.stale.first(where: { $0.method != .sort && $0.index.origin == .constraint }) {
            var error = EngineError(.sourceData, "\(constraint.index.title): \(constraint.reason)")
            error.isMisfit = true
            throw error
        }
        return outcome
    }

    /// nil where only SQLite knows the entries.
    private static func key(of index: TableIndex, _ table: StoreSchema.Table) -> IndexKey? {
        guard !table.isWithoutRowID, !table.columns.contains(where: { $0.isGenerated || $0.hasDefault }) else {
            return nil
        }
        return IndexKey(index, of: table)
    }

    private func byPages(_ indexes: [KeptIndexReading.Index]) throws(EngineError) -> Outcome {
        guard !indexes.isEmpty else { return Outcome() }
        let pages = try file.pages()
        let found = try KeptIndexReading(
            file: pages, path: file.path, indexes: indexes, options: options, cancellation: cancellation
        ).compare()
        let stale = zip(indexes, found.disagreements).compactMap { index, reason in
            reason.map { Stale(index: index.index, method: .sort, reason: $0) }
        }
        return Outcome(stale: stale, bytes: found.pages * pages.layout.pageSize)
    }

    /// SQLite's findings are about all indexes of the table: each names one at its end, or is about the table.
    private static func stale(_ indexes: [TableIndex], _ findings: [String]) -> [Stale] {
        // There may be more of them.
        let areAll = findings.count < StructureCheck.namedFindings
        return indexes.compactMap { index in
            let reason = findings.first { !areAll || $0.hasSuffix("index \(index.name)") || !$0.contains(" index ") }
            return reason.map { Stale(index: index, method: .statements, reason: $0) }
        }
    }

    /// SQLite looks up every row in every index of its table.
    private func bySQLite(_ tables: [(table: String, indexes: [TableIndex])]) throws(EngineError) -> [Stale] {
        guard !tables.isEmpty else { return [] }
        return try EngineError.reading(file.path) { () throws -> [Stale] in
            let connection = try Connection(path: file.path, mode: .readOnly, hardening: .untrusted)
            return try cancellation.interrupting(connection.interruptHandle) { () throws -> [Stale] in
                var stale: [Stale] = []
                for (table, indexes) in tables {
                    try cancellation.check()
                    // Nobody but the app can compare what its own collating sequences order.
                    guard indexes.allSatisfy(\.hasKnownOrder) else { continue }
                    let findings = try StructureCheck.findings(connection, withIndexes: true, of: table)
                    stale += Self.stale(indexes, findings)
                }
                return stale
            }
        }
    }
}

extension TableIndex {
    /// For messages.
    var title: String { "\(table), index \(name)" }

    /// Whether SQLite has the collating sequences of its columns.
    fileprivate var hasKnownOrder: Bool {
        columns.allSatisfy { ["BINARY", "NOCASE", "RTRIM"].contains($0.collation.uppercased()) }
    }
}

extension EngineError {
    fileprivate init(missing name: String, in path: String) {
        self.init(.verification, "\(path): the copy hasn't got \(name)", remedy: "please report this")
    }
}
