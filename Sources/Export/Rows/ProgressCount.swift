import CausewayStores

/// How many rows were read, told a few times a second's worth of rows, and between them while a statement takes long.
final class ProgressCount {
    /// Rows between two calls: they cost nothing then, and a signal is seen soon.
    private static let interval = 1_024

    /// Rows that there are to read; 0 where that isn't known.
    var total = 0
    private let report: (ExportProgress) -> Bool
    private var rows = 0
    private var entity = ""
    /// Whether the caller has asked to stop.
    private(set) var isStopped = false

    /// - Parameter report: called now and then; false stops.
    init(_ report: @escaping (ExportProgress) -> Bool) {
        self.report = report
    }

    /// From now on it is this entity's rows that are read.
    func begin(_ entity: String) { self.entity = entity }

    /// Counts a row that was read, whether it is exported or not.
    /// - Throws: `.interrupted` where the caller asks to stop.
    func add() throws(EngineError) {
        rows += 1
        if rows.isMultiple(of: Self.interval), asksToStop() { throw Self.stopped }
    }

    /// Tells how many rows were read, and whether the caller asks to stop.
    func asksToStop() -> Bool {
        if !report(ExportProgress(entity: entity, rows: rows, total: total)) { isStopped = true }
        return isStopped
    }

    /// What a stop is, wherever it was seen.
    static var stopped: EngineError { EngineError(.interrupted, "the export was stopped") }
}
