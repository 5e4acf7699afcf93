import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewayStoreFormat

/// What becomes of the rows to which links lead that end for some entities in a later step: in the step that makes
/// these entities.
struct LinkTargetTraces {
    private let links: LinkSource
    /// Of the rows to which the links can lead.
    private let traces: [RowTrace]
    /// Of all rows.
    private let all: [RowTrace]
    private let model: ManagedObjectModel
    /// The entity of the objects at the other end.
    private let target: String?

    /// - Parameters:
    ///   - links: the links, of the version that the step makes.
    ///   - trace: of the rows that have them.
    ///   - traces: of all rows.
    ///   - step: the step.
    init(_ links: LinkSource, _ trace: RowTrace, _ traces: [RowTrace], _ step: StepPlan) {
        self.links = links
        all = traces
        model = step.layout.model
        let found = model.relationship(links.relationship, of: links.entity)
        target = links.isInverted ? found?.owner ?? links.entity : found?.relationship.destination
        let makers = links.isInverted ? nil : trace.linkMakers[links.relationship]
        self.traces = traces.filter { trace in
            guard let makers, let mapping = trace.mapping else { return true }
            return makers.contains(mapping)
        }
    }

    /// The step's source entities whose rows certainly become others whose links end.
    var ended: Set<String> { found.subtracting(undecided.values.joined()) }

    /// The step's source entities whose rows become nothing.
    var dropped: Set<String> { Set(all.filter(\.destination.isEmpty).map(\.source)) }

    /// The step's source entities whose rows may become others whose links end, and something else that may be linked
    /// instead: code makes what it wants, and several mappings make several objects of a row. By the mapping that makes
    /// something else.
    var undecided: [String: Set<String>] {
        let found = found
        var result: [String: Set<String>] = [:]
        for trace in traces where found.contains(trace.source) {
            guard let mapping = trace.mapping, trace.isMadeByCode || staysLinked(trace.destination) else { continue }
            result[mapping, default: []].insert(trace.source)
        }
        return result
    }

    private var found: Set<String> {
        Set(traces.filter { links.ended.contains($0.destination) }.map(\.source))
    }

    private func staysLinked(_ entity: String) -> Bool {
        !links.ended.contains(entity) && (target.map { model.isKind(entity, of: $0) } ?? true)
    }
}
