import CausewayEvaluation
import CausewayModel
import CausewayPlanning
import CausewayStoreFormat
import CausewayStores

/// The entities whose rows are exported.
struct EntityChoice {
    /// In Z_ENT order. Abstract ones are among them: a damaged or odd store may have rows of one.
    let names: [String]
    /// Those that were asked for; all roots where none was.
    let asked: [String]

    /// - Throws: `.usage` for a name that the model lacks.
    init(_ asked: [String], in map: StorageMap) throws(EngineError) {
        let model = map.layout.model
        for name in asked where model.entities[name] == nil {
            let near = Spelling.hint(name, among: map.layout.entities)
            throw EngineError(
                .usage, "--entity \(name): the model has no entity of that name\(near)",
                remedy: "see the names with: causeway inspect STORE")
        }
        self.asked = asked.isEmpty ? map.layout.tables.map(\.rootEntity) : asked
        names =
            asked.isEmpty
            ? map.layout.entities
            : map.layout.entities.filter { name in asked.contains { model.isKind(name, of: $0) } }
    }

    func covers(_ entity: String) -> Bool { names.contains(entity) }
}

/// How many rows have passed, told a few times a second's worth of rows.
final class ProgressCount {
    /// Rows between two calls: they cost nothing then, and a signal is seen soon.
    private static let interval = 1_024

    private let total: Int
    private let report: (ExportProgress) -> Bool
    private var rows = 0

    init(total: Int, _ report: @escaping (ExportProgress) -> Bool) {
        self.total = total
        self.report = report
    }

    /// Counts a row.
    /// - Throws: `.interrupted` where the caller asks to stop.
    func add(_ entity: String) throws(EngineError) {
        rows += 1
        if rows.isMultiple(of: Self.interval) { try tell(entity) }
    }

    /// Tells how many rows have passed.
    func tell(_ entity: String) throws(EngineError) {
        guard report(ExportProgress(entity: entity, rows: rows, total: total)) else {
            throw EngineError(.interrupted, "the export was stopped; nothing of it was kept")
        }
    }
}
