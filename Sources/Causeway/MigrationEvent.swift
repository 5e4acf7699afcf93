public import CausewayEngine

/// What a running migration reports. Events come in order, one at a time, on threads of the migration's own.
public enum MigrationEvent: Hashable, Sendable {
    /// The plan is made and the checks before it have passed.
    case planned(MigrationPlan)
    /// A run of steps begins, the `index`-th of `count`, counted from 0; `rows` will be read in it, 0 where that isn't
    /// known.
    case stepBegan(versions: [String], index: Int, count: Int, rows: Int)
    /// A pass begins.
    case passBegan(title: String)
    /// How far the whole run is: rows have moved, a phase has come further, or time has passed.
    case progress(MigrationProgress)
    /// A pass has moved its rows.
    case passEnded(title: String, rows: Int, dropped: Int, seconds: Double)
    /// Something other than moving rows begins: `indexes`, `verification`, `swap`, …
    case phaseBegan(String)
    /// Work of an earlier run is resumed: the run of steps, counted from 0, and the rows that its store holds already.
    case resumed(step: Int, rows: Int)
    /// A checkpoint was saved, after this many rows of the current run of steps.
    case checkpoint(sequence: Int, rows: Int)
    /// A warning for the user; the migration continues.
    case warning(String)
    /// Another program uses the store: it is waited for, these seconds at most.
    case waiting(reason: String, seconds: Double)
    /// The text of a statement that is about to run.
    case statement(String)
    /// The migration is done: the last event.
    case finished(MigrationSummary)
}
