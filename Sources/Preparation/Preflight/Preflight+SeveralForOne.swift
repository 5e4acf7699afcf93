import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

extension Preflight {
    /// Objects with several links of a to-many that a mapping without code reads into a to-one: nothing says which of
    /// them it should get, and the second stage would end at the first such object.
    func severalForOne() throws(SQLiteError) -> Findings {
        var findings = Findings()
        guard let objects = step.objects, !objects.hasOwnManager else { return findings }
        let trace = ContentTrace(store: step.sourceModel, source: step.sourceModel, before: nil)
        for plan in objects.mappings where readsAll(plan) {
            let mapping = plan.description
            for property in mapping.relationshipMappings {
                guard let reading = LinkPlanning.reading(property.expression),
                    let owner = severalSource(reading.relationship, property.name, of: mapping),
                    objects.mappings.contains(where: { $0.description.name == reading.mapping && readsAll($0) })
                else { continue }
                let content = trace.furtherLinks(of: reading.relationship, declaredBy: owner, isFar: false)
                guard case .furtherLinks(let ends) = content else { continue }
                let crowded = try crowded(ends, &findings).objects
                guard crowded.count > 0 else { continue }
                findings.refuse(
                    """
                    \(step.versions.joined(separator: " → ")): the mapping “\(mapping.name)” gives \
                    \(mapping.destinationEntity ?? "").\(property.name), a to-one, the objects of \
                    \(owner).\(reading.relationship): several in \(crowded.described)
                    """,
                    remedy: "choose one with a policy, or make the relationship a to-many in the model")
            }
        }
        return findings
    }

    /// Whether a mapping makes one object of each row of its entity and of its subentities.
    private func readsAll(_ plan: EntityMappingPlan) -> Bool {
        let mapping = plan.description
        guard mapping.policyClassName == nil, mapping.kind != .remove, plan.filter == nil,
            let entity = mapping.sourceEntity
        else { return false }
        let model = step.sourceModel
        return model.entityAndSubentities(of: entity).filter { model.entities[$0]?.isAbstract == false }
            .allSatisfy(step.entities(readBy: plan).contains)
    }

    /// The entity that declares a to-many whose objects a mapping gives a to-one; nil where it doesn't, or where not
    /// all of the relationship's rows are the mapping's.
    private func severalSource(
        _ relationship: String, _ property: String, of mapping: EntityMappingDescription
    ) -> String? {
        guard let from = mapping.sourceEntity, let to = mapping.destinationEntity,
            let read = step.sourceModel.relationship(relationship, of: from), read.relationship.isToMany,
            read.owner == from, step.layout.model.relationship(property, of: to)?.relationship.isToMany == false
        else { return nil }
        return from
    }
}
