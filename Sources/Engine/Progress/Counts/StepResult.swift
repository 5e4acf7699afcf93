import CausewayPlanning

/// What a step has done in total, over all runs.
struct StepResult {
    /// Rows, and the bytes read for them.
    var rows = 0
    var bytes = 0
    var dropped = 0
    /// Rows made by entity mappings, and what the validation did to them.
    var made = 0
    var validation = ValidationOutcome()
    /// Links that ended because their rows weren't made.
    var endedLinks = 0
    /// Rows that were left out, the links to them, and rows that therefore lack a mandatory object.
    var quarantined = 0
    var quarantinedLinks = 0
    var bereftRows = 0
    /// What the verification found wrong in source and new store alike.
    var notices: [String] = []
    let written: WrittenRows
    /// Of a copy of the source.
    var kept: KeptTrees?
    /// Bytes of pages, shared with the source, that nothing has read.
    var unreadBytes = 0
    /// Rows that an earlier run had read when this one resumed; nil if this one began.
    let resumedRows: Int?

    init(_ state: StepState, _ step: StepPlan, resumedRows: Int?) {
        self.resumedRows = resumedRows
        written = state.written
        kept = state.kept
        validation = state.objects.validation
        endedLinks = state.objects.endedLinks
        made = state.objects.made.values.reduce(0, +)
        let passes = state.passes
        quarantined = state.quarantine.keys.count
        (quarantinedLinks, bereftRows) = (state.quarantine.endedLinks, state.quarantine.bereftRows)
        rows = passes.reduce(0) { $0 + $1.remaining } + made - validation.rejected
        bytes = passes.reduce(0) { $0 + $1.bytes } + state.objects.bytes
        // Rows of join tables that aren't copied are in other passes.
        let own =
            step.objects == nil ? passes : passes.filter { count in step.passes.contains { $0.id == count.pass.id } }
        dropped = own.reduce(0) { $0 + $1.dropped } + state.objects.dropped
    }
}
