import CausewayEngine
import CausewayExamination
import CausewayPreparation
import CausewayStores

extension StoreVerification {
    /// Examines a store. Every row and page is read, so a large store takes several times as long as reading it once.
    ///
    /// - Parameters:
    ///   - store: path of the store's main file.
    ///   - models: path of a model bundle, to name the store's version; nil uses the store's own cache alone.
    ///   - isQuick: leaves out the comparison of indexes with their tables' rows.
    /// - Throws: `MigrationError` where the file is no Core Data store, is damaged beyond reading, or can't be read.
    ///   Damage in a store that can be read is a finding, not an error.
    public init(store: String, models: String? = nil, isQuick: Bool = false) throws(MigrationError) {
        self = try MigrationError.wrapping { () throws(EngineError) in
            let history = try models.map { path throws(EngineError) in try ModelHistory(reading: path, edges: [:]) }
            return try SourceStore.reading(StoreLocation(existing: store)) { opened throws(EngineError) in
                let report = try StoreExamination(opened, history: history, isQuick: isQuick).run()
                return StoreVerification(
                    store: opened.location.path, models: history?.path, versions: report.versions,
                    modelOrigin: StoreInspection.ModelOrigin(report.origin), comparedIndexes: report.comparedIndexes,
                    rowCount: report.rows, walBreak: opened.walBreak.map { WALBreak($0) },
                    findings: report.findings.map(Finding.init),
                    notes: report.notes.map(Finding.init))
            }
        }
    }
}

extension StoreVerification.Finding {
    init(_ finding: StoreFinding) {
        self.init(
            kind: StoreVerification.Kind(rawValue: finding.kind.rawValue),
            severity: StoreVerification.Severity(rawValue: finding.severity.rawValue), entity: finding.entity,
            property: finding.property, message: finding.message, rowCount: finding.rows, keys: finding.keys)
    }
}

extension StoreInspection.ModelOrigin {
    fileprivate init(_ origin: StoreExamination.ModelOrigin) {
        self =
            switch origin {
            case .models: .models
            case .storeCache: .storeCache
            case .unknown: .unknown
            }
    }
}
