import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewayStoreFormat

/// Paths that skip versions in between, for demands that the target doesn't make. Clauses that follow other advice;
/// empty if there is no such path.
extension Preflight {
    /// Skips the version that a step of the path makes; `isAsked` says whether the target has the same demand. Only
    /// that path's own check can tell whether it demands less.
    func detour(over position: Int, unless isAsked: (ManagedObjectModel) -> Bool) -> String {
        guard let target = steps.last?.layout.model, !isAsked(target) else { return "" }
        let place = position - step.firstStep + 1
        guard let way = option(from: place - 1, to: place + 1) else { return "" }
        return ", skip \(path[place]) with \(way), which may need less"
    }

    /// From one version to a later one.
    func direct(from: String, to: String) -> String {
        guard let start = path.firstIndex(of: from), let end = path.firstIndex(of: to),
            let way = option(from: start, to: end)
        else { return "" }
        return ", go from \(from) to \(to) directly with \(way)"
    }

    /// `--next "V1=V3"`; nil if the user gives the path, or a mapping model does one of its steps.
    private func option(from start: Int, to end: Int) -> String? {
        guard mayDetour, start >= 0, start + 1 < end, path.indices.contains(end) else { return nil }
        let mapped = steps.filter { $0.objects != nil }.map { $0.firstStep - step.firstStep }
        guard !mapped.contains(where: { (start..<end).contains($0) }) else { return nil }
        return "--next \"\(path[start])=\(path[end])\""
    }

    private var path: [String] { step.versions + steps.dropFirst().flatMap { $0.versions.dropFirst() } }
}

extension ManagedObjectModel {
    /// Whether it has the same demand as an earlier version, judged by names.
    func obliges(_ obligation: Obligation) -> Bool {
        guard let entity = entities[obligation.entity] else { return false }
        guard let property = obligation.property else { return entity.isAbstract }
        if let attribute = storedAttributes(of: entity.name).first(where: { $0.path == property })?.attribute {
            return !attribute.isOptional && attribute.defaultValue == nil
        }
        let relationship = relationship(property, of: entity.name)?.relationship
        // One that leads to another entity demands other links.
        return relationship.map { !$0.isToMany && !$0.isOptional && $0.destination == obligation.leadsTo } ?? false
    }

    /// Whether an attribute's numbers must fit a type that doesn't hold all of those that an earlier version converts.
    func narrows(_ change: AttributeConversion) -> Bool {
        let attribute = storedAttributes(of: change.entity).first { $0.path == change.attribute }?.attribute
        guard let type = attribute.flatMap({ NumericType($0.type) }) else { return false }
        return !type.holdsAll(of: change.conversion.types[change.conversion.types.count - 2])
    }

    /// Whether a relationship leads where an earlier version lets it lead.
    func leads(_ ending: LinkEnding) -> Bool {
        relationship(ending.relationship, of: ending.entity)?.relationship.destination == ending.leadsTo
    }
}
