/// How far a migration is over all of its phases: check, rows, indexes, handlers, validation, verification, swap.
///
/// The plan says how much work each phase is, the run measures how fast it goes, and both together say how long the
/// rest takes. ``fraction`` never falls. ``remainingSeconds`` may rise where the work turns out to be slower than it
/// began.
public struct MigrationProgress: Hashable, Sendable, Codable {
    /// The part of the whole work that is done, from 0 to 1. It never falls.
    public var fraction = 0.0
    /// Seconds until the end at the measured rates; nil as long as too little is measured.
    public var remainingSeconds: Double?
    /// Seconds since this run began.
    public var elapsedSeconds = 0.0
    /// What the run is doing, as in ``MigrationStatus/phase``.
    public var phase = ""
    /// The current run of steps, counted from 1; nil before the first and after the last.
    public var step: Int?
    /// How many there are.
    public var stepCount = 0
    /// The pass whose rows are moving; nil in other phases.
    public var pass: String?
    /// Rows moved so far, over all steps.
    public var rows = 0
    /// Bytes of these rows.
    public var bytes = 0
    /// Rows to move in all, approximately.
    public var totalRows = 0

    /// Nothing is done yet.
    public init() {}
}
