public import CausewayExamination
import CausewayPreparation
import CausewayStores

extension StoreVerification {
    /// Examines a store. Every row and page is read, so a large store takes several times as long as reading it once.
    ///
    /// - Parameters:
    ///   - store: path of the store's main file.
    ///   - models: path of a model bundle, to name the store's version; nil uses the store's own cache alone.
    ///   - isQuick: leaves out the comparison of indexes with their tables' rows.
    ///   - progress: told what is examined, in order, on this thread; it should return quickly.
    /// - Throws: `MigrationError` where the file is no Core Data store, is damaged beyond reading, or can't be read.
    ///   Damage in a store that can be read is a finding, not an error.
    public init(
        store: String, models: String? = nil, isQuick: Bool = false,
        progress: @escaping (ExaminationProgress) -> Void = { _ in }
    ) throws(MigrationError) {
        try self.init(store: store, models: models.map { [$0] } ?? [], isQuick: isQuick, progress: progress)
    }

    /// Examines a store with a model in several files.
    ///
    /// - Parameters:
    ///   - store: path of the store's main file.
    ///   - models: paths of model bundles or stores, to name the store's version; none uses the store's own cache
    ///     alone.
    ///   - isQuick: leaves out the comparison of indexes with their tables' rows.
    ///   - progress: told what is examined, in order, on this thread; it should return quickly.
    /// - Throws: `MigrationError` where the file is no Core Data store, is damaged beyond reading, or can't be read.
    public init(
        store: String, models: [String], isQuick: Bool = false,
        progress: @escaping (ExaminationProgress) -> Void = { _ in }
    ) throws(MigrationError) {
        self = try MigrationError.wrapping { () throws(EngineError) in
            let history = try ModelHistory.given(models)
            return try SourceStore.reading(StoreLocation(existing: store)) { opened throws(EngineError) in
                let report = try StoreExamination(opened, history: history, isQuick: isQuick, progress: progress).run()
                return StoreVerification(report, of: opened, models: history?.path)
            }
        }
    }

    private init(_ report: StoreExamination.Report, of opened: SourceStore, models: String?) {
        store = opened.location.path
        self.models = models
        versions = report.versions
        modelOrigin = report.origin
        comparedIndexes = report.comparedIndexes
        rowCount = report.rows
        walBreak = opened.walBreak
        findings = report.findings
        notes = report.notes
        verdict =
            if findings.contains(where: { $0.severity == .damage }) {
                .damaged
            } else if modelOrigin == .unknown {
                .notExamined
            } else {
                findings.isEmpty ? .sound : .inconsistent
            }
    }
}
