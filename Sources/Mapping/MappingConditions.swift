import CausewayExpressions
package import CausewayModel

extension MappingModel {
    /// What the rows of a store must fulfil for this inferred mapping to be carried out: a sentence each that begins with
    /// “if”, in the order of the destination's entities.
    package func conditions(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> [String] {
        var texts: [Condition: [String]] = [:]
        var order: [Condition] = []
        for mapping in entityMappings {
            guard let origin = mapping.source, source.entities[origin]?.isAbstract == false else { continue }
            for condition in mapping.conditions(source, destination) {
                if texts[condition] == nil { order.append(condition) }
                texts[condition, default: []].append(origin)
            }
        }
        return order.map { $0.text(texts[$0] ?? []) }
    }
}

/// A condition that several entities may share: subentities inherit what makes it.
private struct Condition: Hashable {
    enum Demand: Hashable {
        case noRows, noNulls, links
        /// No link to objects of these entities.
        case noLinks([String])
        case unique(String)
    }

    var demand: Demand
    /// What the destination says: `Post.title is new, mandatory and has no default`.
    var reason: String

    func text(_ entities: [String]) -> String {
        let entities = entities.joined(separator: ", ")
        return switch demand {
        case .noRows: "if there are no rows of \(entities): \(reason)"
        case .noNulls: "if it is NULL in no row of \(entities): \(reason)"
        case .links: "if every row of \(entities) has such a link: \(reason)"
        case .noLinks(let targets):
            """
            if no row of \(entities) has such a link to \(targets.joined(separator: ", ")) objects, or with --end-links, \
            which ends them: \(reason)
            """
        case .unique(let properties): "if no two rows of \(entities) have the same \(properties): \(reason)"
        }
    }
}

extension EntityMapping {
    fileprivate func conditions(_ source: ManagedObjectModel, _ destination: ManagedObjectModel) -> [Condition] {
        guard let name = destination.entities[self.destination ?? ""]?.name else { return [] }
        if destination.entities[name]?.isAbstract == true {
            return [Condition(demand: .noRows, reason: "\(name) is abstract now")]
        }
        var result: [Condition] = []
        for obligation in obligations {
            let property = obligation.property.split(separator: ".").first.map(String.init) ?? ""
            let owner =
                destination.attribute(property, of: name)?.owner
                ?? destination.relationship(property, of: name)?.owner ?? name
            let demand: Condition.Demand =
                switch obligation.demand {
                case .noRows: .noRows
                case .noNulls: .noNulls
                case .noMissing: .links
                }
            result.append(
                Condition(demand: demand, reason: "\(owner).\(obligation.property) \(obligation.change.rawValue)"))
        }
        for ending in endings {
            let place = "\(ending.entity).\(ending.relationship)"
            result.append(
                Condition(demand: .noLinks(ending.targets.sorted()), reason: "\(place) leads to \(ending.leadsTo) now"))
        }
        return result + uniqueness(of: name, source, destination)
    }

    /// Constraints that the source's rows needn't fulfil yet.
    private func uniqueness(
        of name: String, _ source: ManagedObjectModel, _ destination: ManagedObjectModel
    ) -> [Condition] {
        let before = source.lineage(of: self.source ?? "").flatMap(\.uniquenessConstraints).map(Set.init)
        return destination.lineage(of: name).flatMap { owner in
            owner.uniquenessConstraints.compactMap { properties -> Condition? in
                var origins: Set<String> = []
                for property in properties {
                    switch attribute(property)?.value {
                    case .carried(let from, _, _): origins.insert(from)
                    // NULL clashes with nothing.
                    case .constant(nil), .constant(.null?): return nil
                    case .constant, .derived: continue
                    case nil:
                        guard let links = relationship(property)?.links else { return nil }
                        origins.insert(links.isInverted ? property : links.relationship)
                    }
                }
                guard !before.contains(where: { $0.isSubset(of: origins) }) else { return nil }
                let list = properties.joined(separator: " and ")
                return Condition(
                    demand: .unique(list), reason: "\(owner.name) has a uniqueness constraint on \(list) now")
            }
        }
    }
}
