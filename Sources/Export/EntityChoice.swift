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
    /// Whether nothing was asked for, and so all is exported.
    let isWhole: Bool

    /// - Throws: `.usage` for a name that the model lacks.
    init(_ asked: [String], in map: StorageMap) throws(EngineError) {
        let model = map.layout.model
        for name in asked where model.entities[name] == nil {
            let near = Spelling.hint(name, among: map.layout.entities)
            throw EngineError(
                .usage, "--entity \(name): the model has no entity of that name\(near)",
                remedy: "see the names with: causeway inspect STORE")
        }
        isWhole = asked.isEmpty
        self.asked = asked.isEmpty ? map.layout.tables.map(\.rootEntity) : asked
        names =
            asked.isEmpty
            ? map.layout.entities
            : map.layout.entities.filter { name in asked.contains { model.isKind(name, of: $0) } }
    }

    func covers(_ entity: String) -> Bool { names.contains(entity) }
}
