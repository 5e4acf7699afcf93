import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewayStoreFormat

/// The traces of one step, indexed by entity. A search of all traces for each demand would take time quadratic in the
/// model's size.
struct StepTraces {
    let step: StepPlan
    let all: [RowTrace]
    /// Code may make rows of an entity that no mapping names.
    let areMadeByCode: Bool
    /// Places in `all`, in its order.
    private let byDestination: [String: [Int]]
    private let bySource: [String: [Int]]

    init(_ step: StepPlan) {
        self.step = step
        let traces = step.traces
        all = traces
        areMadeByCode = traces.contains(where: \.isMadeByCode)
        byDestination = Dictionary(grouping: traces.indices) { traces[$0].destination }
        bySource = Dictionary(grouping: traces.indices) { traces[$0].source }
    }

    func leading(to entity: String) -> [RowTrace] { (byDestination[entity] ?? []).map { all[$0] } }

    /// To the entity and its subentities.
    func leading(toKind entity: String) -> [RowTrace] {
        step.layout.model.entityAndSubentities(of: entity).flatMap { byDestination[$0] ?? [] }.sorted().map { all[$0] }
    }

    func from(_ entity: String) -> [RowTrace] { (bySource[entity] ?? []).map { all[$0] } }

    /// The source entities whose rows the step drops, and to which these links of its source can lead.
    func dropped(endsOf links: LinkSource) -> Set<String> {
        let model = step.sourceModel
        let found = model.relationship(links.relationship, of: links.entity)
        guard let end = links.isInverted ? found?.owner : found?.relationship.destination else {
            return Set(leading(to: "").map(\.source))
        }
        return Set(
            model.entityAndSubentities(of: end).filter { from($0).contains { $0.destination.isEmpty } })
    }
}
