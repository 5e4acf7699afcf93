import CausewaySQLiteFile

/// What a worker makes of a batch's source rows.
struct MappedRows: Sendable {
    /// The records of rows that get other keys; those of the others are packed, or go into the next step.
    let records = RowBatch()
    /// Of the source rows, in their order.
    var keys: [Int64] = []
    /// Of the new rows, and of cells that they carry.
    var findings = RecordInspection.Findings()
    var carriedFindings = RecordInspection.Findings()
    var outcome = RowHook.Outcome()

    /// Keeps the memory for the next batch.
    mutating func removeAll(keepingCapacity limit: Int) {
        records.removeAll(keepingCapacity: limit)
        keys.removeAll(keepingCapacity: true)
        findings.removeAll()
        carriedFindings.removeAll()
        outcome = RowHook.Outcome()
    }
}
