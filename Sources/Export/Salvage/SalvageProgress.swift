import CausewaySQLiteFile
import CausewayStores

/// How far a salvage is, and whether it goes on: asked wherever pages are read.
final class SalvageProgress {
    private let file: SalvageFile
    private var now: ExportProgress

    /// - Parameters:
    ///   - file: asked for its pages.
    ///   - report: called now and then with pages instead of rows; false stops.
    init(_ file: SalvageFile, _ report: @escaping (ExportProgress) -> Bool) {
        self.file = file
        now = ExportProgress(entity: "the schema", rows: 0, total: 0)
        file.goesOn = { [unowned self] in report(now) }
    }

    deinit { file.goesOn = { true } }

    /// Counts a page.
    ///
    /// - Parameter what: what its rows belong to.
    /// - Throws: as `check()`.
    func add(_ what: String) throws(EngineError) {
        now = ExportProgress(entity: what, rows: now.rows + 1, total: file.pageCount)
        try check()
    }

    /// - Throws: `.interrupted` once the salvage was asked to stop: what was read since isn't all there is.
    func check() throws(EngineError) {
        guard !file.isStopped else { throw Self.stopped }
    }

    /// What a stop is, wherever it was seen.
    static var stopped: EngineError { EngineError(.interrupted, "the salvage was stopped") }
}
