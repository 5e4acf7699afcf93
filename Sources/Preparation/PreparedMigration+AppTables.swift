package import CausewayPlanning
import CausewaySQLite
package import CausewayStoreFormat
package import CausewayStores

/// Objects that aren't carried, with their rows.
extension PreparedMigration {
    /// A sentence for each object of the app's own that a step doesn't carry. A table that an earlier step carried has
    /// the rows that it has in the store.
    ///
    /// - Parameters:
    ///   - step: whose objects they are.
    ///   - stale: the store, to name what earlier versions left in it too; nil for later steps.
    ///   - store: where rows are counted.
    /// - Returns: the sentences.
    /// - Throws: why the store can't be read.
    package static func losses(
        of step: StepPlan, stale: StoreBinding?, in store: SourceStore
    ) throws(EngineError) -> [String] {
        var sentences: [String] = []
        for lost in step.lostObjects {
            let isTable = lost.object.kind == .table && !lost.object.isVirtualTable
            sentences.append(lost.sentence(rows: isTable ? try rows(of: lost.object.name, in: store) : nil))
        }
        if let stale { sentences += try losses(ofStale: stale, in: store) }
        return sentences
    }

    /// Join tables of earlier versions, which Core Data leaves in place, and a cache that the version doesn't have.
    /// Then indexes and triggers with Core Data's kind of names: one of them may still be the app's.
    private static func losses(ofStale binding: StoreBinding, in store: SourceStore) throws(EngineError) -> [String] {
        var sentences: [String] = []
        for object in binding.objects(.staleCoreData) where object.kind == .table && !object.isVirtualTable {
            guard let rows = try rows(of: object.name, in: store), rows > 0 else { continue }
            sentences.append(
                "table \(object.name) (\(rows) rows) is not carried: an earlier version of the model left it")
        }
        for (kind, kinds) in [(StoreSchema.Object.Kind.index, "indexes"), (.trigger, "triggers")] {
            let names = binding.objects(.staleCoreData).filter { $0.kind == kind }.map(\.name).sorted()
            guard let first = names.first else { continue }
            sentences.append(
                names.count == 1
                    ? "\(kind.rawValue) \(first) is not carried: its name is one that Core Data would use, and "
                        + "this version has none of that name"
                    : "\(names.count) \(kinds) are not carried: their names are ones that Core Data would use, "
                        + "and this version has none of them: \(names.joined(separator: ", "))")
        }
        return try sentences + [changesOfStrangers(binding, in: store)].compactMap(\.self)
    }

    /// Changes of persistent history about entities that the model doesn't have: their rows can't be renumbered.
    private static func changesOfStrangers(
        _ binding: StoreBinding, in store: SourceStore
    ) throws(EngineError) -> String? {
        guard store.schema.history != nil else { return nil }
        let known = binding.layout.entityNumbers.values.sorted().map(String.init).joined(separator: ", ")
        let table = HistoryLayout.Entity.change.table
        let changes = try EngineError.reading(store.location.path) {
            try store.connection.integer(
                "SELECT count(*) FROM \(try SQLIdentifier(table)) WHERE (ZENTITY IN (\(known))) IS NOT TRUE")
        }
        guard let changes, changes > 0 else { return nil }
        return """
            \(changes == 1 ? "1 change" : "\(changes) changes") of persistent history (\(table)) will be dropped: about entities \
            that the model doesn't have
            """
    }

    private static func rows(of table: String, in store: SourceStore) throws(EngineError) -> Int? {
        guard store.schema.table(table) != nil else { return nil }
        do throws(SQLiteError) {
            return try store.connection.integer("SELECT count(*) FROM \(try SQLIdentifier(table))").map { Int($0) }
        } catch {
            // A table that SQLite can't read has no row count.
            if error.code == .error { return nil }
            throw EngineError(reading: error, during: store.location.path)
        }
    }
}
