package import CausewayPreparation
import CausewaySQLite
import CausewayStoreFormat
package import CausewayStores

/// Compares two open stores, entity by entity. No byte of either changes.
package struct Comparison {
    private let a: ComparedStore
    private let b: ComparedStore
    private let isModuloKeys: Bool
    private let progress: (ComparisonProgress) -> Void

    /// - Parameters:
    ///   - a: the first store.
    ///   - b: the second store.
    ///   - history: the versions to read them with; nil uses each store's own cache.
    ///   - isModuloKeys: matches rows by what they hold instead of by their keys.
    ///   - progress: told what is compared, in order, on the thread that runs.
    /// - Throws: `.missing` where rows are to be matched by content and a store's model is unknown.
    package init(
        _ a: SourceStore, _ b: SourceStore, history: ModelHistory?, isModuloKeys: Bool,
        progress: @escaping (ComparisonProgress) -> Void = { _ in }
    ) throws(EngineError) {
        let first = try EngineError.at(a.location.path) { try ComparedStore(a, history: history) }
        let second = try EngineError.at(b.location.path) { try ComparedStore(b, history: history) }
        (self.isModuloKeys, self.progress) = (isModuloKeys, progress)
        if first.binding != nil, second.binding != nil {
            (self.a, self.b) = (first, second)
            return
        }
        if isModuloKeys {
            let unknown = first.binding == nil ? a : b
            throw EngineError(
                .missing,
                "\(unknown.location.path): its model is unknown, and without it links can't be told from attributes",
                remedy: "give the model's versions with --models")
        }
        (self.a, self.b) = (ComparedStore(withoutModelOf: first), ComparedStore(withoutModelOf: second))
    }

    /// Reads both stores once; with `isModuloKeys` links are sorted and followed in a temporary database.
    package func run() throws(EngineError) -> StoreComparison {
        try EngineError.at("\(a.store.location.path) against \(b.store.location.path)") {
            var report = StoreComparison(
                a: side(a), b: side(b), isModuloKeys: isModuloKeys, modelDifferences: modelDifferences, entities: [],
                relationships: [], tables: [], notes: notes)
            let count = RowCount(a, b, part: isModuloKeys ? 0.5 : 1, progress)
            if isModuloKeys {
                var content = try ContentComparison(a, b, count)
                try content.run(&report)
                note(unreadable: content.unreadable, &report)
                if !(a.others + b.others).isEmpty {
                    report.notes.append(
                        "persistent history and the app's own tables hold keys, and weren't compared with --modulo-keys"
                    )
                }
            } else {
                var rows = RowComparison(a, b, count)
                try rows.run()
                report.entities = rows.tallies.values.sorted { $0.name < $1.name }
                report.relationships = try LinkRows(a: a, b: b, count: count).run()
                report.tables = try OtherTables(a: a, b: b, count: count).run()
                note(unreadable: rows.external.unreadable, &report)
            }
            report.a.rows = report.entities.reduce(0) { $0 + $1.rowsInA }
            report.b.rows = report.entities.reduce(0) { $0 + $1.rowsInB }
            report.isEqual = !report.hasDifferences
            return report
        }
    }

    private func note(unreadable count: Int, _ report: inout StoreComparison) {
        guard count > 0 else { return }
        let values = count == 1 ? "1 value refers to a file" : "\(count) values refer to files"
        report.notes.append(
            "\(values) of external storage that can't be read; two such values count as equal if both name the same file"
        )
    }

    private func side(_ store: ComparedStore) -> StoreComparison.Side {
        StoreComparison.Side(
            store: store.store.location.path, versions: store.versions, modelOrigin: store.origin, rows: 0)
    }

    /// A version hash covers what decides an entity's rows: properties, types, and what they are for.
    private var modelDifferences: [String] {
        let (mine, theirs) = (a.store.metadata.entityHashes, b.store.metadata.entityHashes)
        return Set(mine.keys).union(theirs.keys).filter { mine[$0] != theirs[$0] }.sorted()
    }

    private var notes: [String] {
        var notes: [String] = []
        if a.binding == nil {
            notes.append(
                "a store's model is unknown: tables and columns were compared under their own names; give it with --models"
            )
        }
        let (mine, theirs) = (a.store.metadata, b.store.metadata)
        if mine.uuid != theirs.uuid {
            notes.append("the stores have different UUIDs: object URIs of one don't fit the other")
        }
        let keys = Set(mine.other.keys).union(theirs.other.keys).filter { mine.other[$0] != theirs.other[$0] }.sorted()
        if !keys.isEmpty { notes.append("the app's metadata differ under \(keys.joined(separator: ", "))") }
        for (store, name) in [(a, "the first store"), (b, "the second store")] {
            let problems = store.binding?.problems.count ?? 0
            guard problems > 0 else { continue }
            notes.append(
                "\(name) doesn't fit its model in \(problems == 1 ? "1 place" : "\(problems) places"); verify says where"
            )
        }
        for store in [a.store, b.store] {
            if let broken = store.walBreak { notes.append(broken.sentence(store.location.wal)) }
        }
        return notes
    }
}
