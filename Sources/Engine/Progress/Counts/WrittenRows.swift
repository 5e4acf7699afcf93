import CausewayPlanning

/// What a step has written, for the verification.
struct WrittenRows {
    var passes: [PassCount] = []
    /// Rows made by entity mappings, by entity; counted where they were written.
    var entities: [String: Int] = [:]
    var hasObjects = false
    /// Statements of indexes that exist already.
    var indexes: Set<String> = []
    /// Tables whose records were read again, all of them, and are as they were packed.
    var reread: Set<String> = []
    /// What handlers have done.
    var stage: StageOutcome?
    /// Rows of the source that were left out.
    var quarantined = QuarantinedKeys()
}

/// What a pass has moved, for the verification.
struct PassCount {
    let pass: RowPass
    var written = 0
    var bytes = 0
    var dropped = 0
    var quarantined = 0
    var digest: PassDigest
    /// What was removed because it led to quarantined rows.
    var ended = EndedCells()

    /// Rows that remain when the step is done.
    var remaining: Int { written - ended.rows }
}
