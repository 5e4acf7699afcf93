package import CausewayPreparation

/// What a run reports, in order, on the thread that runs it.
package enum EngineEvent: Sendable {
    case prepared(PreparedMigration)
    case stepBegan(versions: [String], index: Int, count: Int, rows: Int)
    case passBegan(title: String)
    case progress(rows: Int, bytes: Int, totalRows: Int)
    /// The part of the current phase that is done, from 0 to 1, where it isn't counted in rows.
    case advanced(share: Double)
    case passEnded(title: String, rows: Int, dropped: Int, seconds: Double)
    case phaseBegan(String)
    /// Work of an earlier run is resumed: the step, counted from 0, and the rows that it has.
    case resumed(step: Int, rows: Int)
    /// A checkpoint file was written.
    case checkpoint(sequence: UInt64, rows: Int)
    case warning(String)
    case statement(String)
}
