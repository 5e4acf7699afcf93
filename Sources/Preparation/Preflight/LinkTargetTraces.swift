import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewayStoreFormat

/// What becomes of the rows to which links lead that end for some entities in a later step: in the step that makes
/// these entities.
struct LinkTargetTraces {
    private let links: LinkSource
    private let traces: StepTraces
    /// The mappings to whose objects the links can lead; nil where any may be.
    private let makers: Set<String>?
    private let model: ManagedObjectModel
    /// The entity of the objects at the other end.
    private let target: String?

    /// - Parameters:
    ///   - links: the links, of the version that the step makes.
    ///   - trace: of the rows that have them.
    ///   - traces: of all rows in the step.
    init(_ links: LinkSource, _ trace: RowTrace, _ traces: StepTraces) {
        (self.links, self.traces) = (links, traces)
        model = traces.step.layout.model
        let found = model.relationship(links.relationship, of: links.entity)
        target = links.isInverted ? found?.owner ?? links.entity : found?.relationship.destination
        makers = links.isInverted ? nil : trace.linkMakers[links.relationship]
    }

    /// Whether the links can lead to what a trace tells of.
    private func mayLead(to trace: RowTrace) -> Bool {
        guard let makers, let mapping = trace.mapping else { return true }
        return makers.contains(mapping)
    }

    /// The step's source entities whose rows certainly become others whose links end.
    var ended: Set<String> { found.subtracting(undecided.values.joined()) }

    /// The step's source entities whose rows may become others whose links end, and something else that may be linked
    /// instead: code makes what it wants, and several mappings make several objects of a row. By the mapping that makes
    /// something else.
    var undecided: [String: Set<String>] {
        var result: [String: Set<String>] = [:]
        for trace in found.flatMap(traces.from).filter(mayLead) {
            guard let mapping = trace.mapping, trace.isMadeByCode || staysLinked(trace.destination) else { continue }
            result[mapping, default: []].insert(trace.source)
        }
        return result
    }

    private var found: Set<String> {
        Set(links.ended.flatMap(traces.leading(to:)).filter(mayLead).map(\.source))
    }

    private func staysLinked(_ entity: String) -> Bool {
        !links.ended.contains(entity) && (target.map { model.isKind(entity, of: $0) } ?? true)
    }
}
