/// Hands over new and changed rows.
extension ObjectContext {
    var hasUnwritten: Bool { !linkChanges.isEmpty || tables.contains { $0.hasChanges } }

    /// Swaps the batch's rows for empty ones, for the next batch.
    package func handOver(to rows: inout PendingRows) {
        swap(&tables, &rows.tables)
        swap(&linkChanges, &rows.linkChanges)
        rows.batch = sourceBatch
        (rows.deletions, deletions) = (deletions, 0)
        sourceBatch = nil
        forget()
    }

    /// Writes everything that is new or changed. Afterwards objects are read from the store again.
    ///
    /// Hooks and handlers rarely need it: the migration writes after every batch.
    ///
    /// - Throws: `ObjectError` with `.store` where the store refuses a row.
    public func flush() throws(ObjectError) {
        guard isWritable else { return }
        guard hasUnwritten else { return forget() }
        // Swapped, not copied: with two owners of the arrays every change would copy them.
        var rows = PendingRows()
        swap(&tables, &rows.tables)
        swap(&linkChanges, &rows.linkChanges)
        rows.batch = sourceBatch
        defer {
            swap(&tables, &rows.tables)
            swap(&linkChanges, &rows.linkChanges)
            forget()
        }
        try write(&rows)
    }

    /// Writes a worker's results.
    package func write(_ rows: inout PendingRows) throws(ObjectError) {
        guard case .writable(_, let output) = mode, let settlement else {
            throw ObjectError(.store, "the context can't be written to")
        }
        try settlement.settle(&rows)
        try output.write(rows)
        for change in rows.linkChanges {
            if let link = try settlement.settle(change, of: rows) { try output.write(link) }
        }
    }
}
