package import CausewayEvaluation
import CausewayPlanning
package import CausewaySQLiteFile

/// What a batch made: rows, links and associations, ready to be written in the source's order.
///
/// Sendable although it refers to a batch: it is handed from a worker to the writer, and the worker doesn't touch it
/// again.
package struct PendingRows: @unchecked Sendable {
    var tables: [RowTable]
    var linkChanges: [LinkChange]
    /// Where carried cells lie.
    package var batch: RowBatch?
    package var associations: [PendingAssociation]

    /// Rows that will be written.
    package var rowCount: Int {
        tables.reduce(0) { total, table in
            total + (0..<table.count).count { table.isNew($0) }
        }
    }

    /// The key that a row has been given, once the rows are written.
    package func key(of object: ObjectID, in map: StorageMap) -> Int64 {
        guard object.key < 0, let table = map.table(of: object.entity) else { return object.key }
        return tables[table].keys[Int(-(object.key + 1))]
    }
}

/// That a destination row was made from a source row under an entity mapping.
package struct PendingAssociation: Sendable {
    /// Place of the entity mapping in its step.
    package var mapping: Int
    package var source: ObjectID
    /// nil: the source row has explicitly none, though a row has its key.
    package var destination: ObjectID?

    package init(mapping: Int, source: ObjectID, destination: ObjectID?) {
        self.mapping = mapping
        self.source = source
        self.destination = destination
    }
}

extension ObjectContext {
    var hasUnwritten: Bool { !linkChanges.isEmpty || tables.contains { $0.hasChanges } }

    /// Hands over what the batch made and starts afresh.
    package func takePending(_ associations: [PendingAssociation]) -> PendingRows {
        let rows = PendingRows(
            tables: tables, linkChanges: linkChanges, batch: sourceBatch, associations: associations)
        tables = map.tables.map { RowTable(columnCount: $0.columns.count) }
        linkChanges = []
        linkedOwners.removeAll(keepingCapacity: true)
        hasNewJoins = false
        ownLinkChanges = 0
        sourceBatch = nil
        return rows
    }

    /// Writes everything that is new or changed. Afterwards objects are read from the store again.
    ///
    /// Hooks and handlers rarely need it: the migration writes after every batch.
    ///
    /// - Throws: `ObjectError` with `.store` where the store refuses a row.
    public func flush() throws(ObjectError) {
        guard let writer else { return }
        guard !linkChanges.isEmpty || tables.contains(where: \.hasChanges) else { return forget() }
        var rows = PendingRows(tables: tables, linkChanges: linkChanges, batch: sourceBatch, associations: [])
        // One owner of the arrays, else every change would copy them.
        tables = []
        linkChanges = []
        defer {
            tables = rows.tables
            forget()
        }
        try writer.write(&rows)
    }

    /// Writes what a worker made.
    package func write(_ rows: inout PendingRows) throws(ObjectError) {
        guard let writer else { throw ObjectError(.store, "the context can't be written to") }
        try writer.write(&rows)
    }
}
