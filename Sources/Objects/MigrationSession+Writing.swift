import CausewayEvaluation

/// Hands over the hooks' results: rows and associations.
extension MigrationSession {
    /// Whether a hook has made or changed something that isn't written yet.
    package var hasUnwritten: Bool { destination.hasUnwritten || !pending.isEmpty }

    /// Hands over a worker's results for a batch.
    package func handOver(to rows: inout PendingRows) {
        destination.handOver(to: &rows)
        swap(&pending, &rows.associations)
        source.forget()
    }

    /// Writes a worker's results.
    package func write(_ rows: inout PendingRows) throws(ObjectError) {
        try destination.write(&rows)
        if rows.deletions > 0 {
            destination.deletions += rows.deletions
            let made = rows
            rows.associations.removeAll { entry in
                entry.destination.map { made.isRemoved($0, in: destination.map) } ?? false
            }
        }
        try associations?.record(rows.associations) { rows.key(of: $0, in: destination.map) }
    }

    /// Writes the objects that the hooks made.
    package func settle() throws(ObjectError) {
        try destination.flush()
        try recordPending()
        source.forget()
    }

    /// Makes the associations of the rows so far findable.
    func recordPending() throws(ObjectError) {
        try associations?.record(pending) { $0.key }
        pending.removeAll(keepingCapacity: true)
    }
}
