import CausewayMapping
import CausewayModel
import CausewayStoreFormat

/// What happens to a relationship's links when a mapping model carries them: they end if their target row has no
/// result.
struct LinkFates {
    /// The source's.
    let relationship: String
    /// Source entities at the other end whose rows certainly have no result to which the link can lead.
    private(set) var ended: Set<String> = []
    /// The names of the mappings whose objects the link can lead to.
    private(set) var makers: Set<String> = []
    /// Entities about whose rows a filter or a policy decides, by the mapping's name.
    private(set) var decided: [String: Set<String>] = [:]

    /// nil if the mapping model doesn't simply carry links, or a manager of the app's own decides about them.
    /// `property` maps the relationship and belongs to `plan`, which reads `source`; `readers` are the mappings that
    /// read an entity's rows.
    init?(
        _ property: PropertyMappingDescription, of plan: EntityMappingPlan, source: String,
        _ readers: [String: [EntityMappingPlan]], in step: StepPlan
    ) {
        guard step.objects?.hasOwnManager != true, let reading = LinkPlanning.reading(property.expression),
            let from = step.sourceModel.relationship(reading.relationship, of: source)?.relationship,
            let entity = plan.description.destinationEntity,
            let to = step.layout.model.relationship(property.name, of: entity)?.relationship
        else { return nil }
        relationship = reading.relationship
        let mappings = step.objects?.mappings ?? []
        guard let mirrors = Self.mirrors(of: plan, to, from, among: mappings, in: step) else { return nil }
        // A name means the mapping of that name in the same mapping model, if there is one.
        let isNamedHere = mappings.contains {
            $0.modelIndex == plan.modelIndex && $0.description.name == reading.mapping
        }
        let makers = mappings.filter { other in
            guard other.description.kind != .remove else { return false }
            // A policy may make an object of any entity, and of any row.
            let isFitting = other.description.destinationEntity.map {
                step.layout.model.isKind($0, of: to.destination)
            }
            guard isFitting == true || other.description.policyClassName != nil else { return false }
            guard let wanted = reading.mapping, !mirrors.contains(other.index) else { return true }
            return other.description.name == wanted && (!isNamedHere || other.modelIndex == plan.modelIndex)
        }
        self.makers = Set(makers.map(\.description.name))
        let places = Set(makers.map(\.index))
        let policies = makers.filter { $0.description.policyClassName != nil }
        for target in step.sourceModel.entityAndSubentities(of: from.destination)
        where step.sourceModel.entities[target]?.isAbstract == false {
            let able = (readers[target] ?? []).filter { places.contains($0.index) } + policies
            if able.isEmpty { ended.insert(target) }
            guard let first = able.first,
                able.allSatisfy({ $0.filter != nil || $0.description.policyClassName != nil })
            else { continue }
            decided[first.description.name, default: []].insert(target)
        }
    }

    /// The places of the mappings that set the same links from the other end; nil where one gives the inverse others.
    private static func mirrors(
        of plan: EntityMappingPlan, _ to: Relationship, _ from: Relationship, among mappings: [EntityMappingPlan],
        in step: StepPlan
    ) -> Set<Int>? {
        var result: Set<Int> = []
        guard let inverse = step.layout.model.inverse(of: to) else { return result }
        let back = step.sourceModel.inverse(of: from)
        for mapping in mappings {
            guard let entity = mapping.description.destinationEntity,
                step.layout.model.isKind(entity, of: inverse.owner)
            else { continue }
            guard mapping.description.policyClassName == nil else { return nil }
            let property = mapping.description.relationshipMappings.first { $0.name == inverse.relationship.name }
            guard let expression = property?.expression else { continue }
            guard let back, let source = mapping.description.sourceEntity,
                let reading = LinkPlanning.reading(expression), reading.relationship == back.relationship.name,
                step.sourceModel.relationship(reading.relationship, of: source)?.owner == back.owner
            else { return nil }
            if reading.mapping.map({ $0 == plan.description.name }) ?? true { result.insert(mapping.index) }
        }
        return result
    }
}
