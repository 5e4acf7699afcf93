import CausewayExpressions
package import CausewayModel

extension MappingModel {
    /// The demands on a store's rows for this inferred mapping: one sentence each that begins with “if”, in the order
    /// of the destination's entities.
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

/// A condition that several entities may share: subentities inherit it.
private struct Condition: Hashable {
    enum Demand: Hashable {
        case noRows, noNulls, fits
        /// A link, none to objects of these entities, and none to another row's object.
        case links([String], isAlone: Bool)
        /// No link to objects of these entities; `canEnd` with an option.
        case noLinks([String], canEnd: Bool)
        case unique(String)
    }

    var demand: Demand
    /// The destination's reason: `Post.title is new, mandatory and has no default`.
    var reason: String

    func text(_ entities: [String]) -> String {
        let entities = entities.joined(separator: ", ")
        return switch demand {
        case .noRows: "if there are no rows of \(entities): \(reason)"
        case .noNulls: "if it is NULL in no row of \(entities): \(reason)"
        case .fits: "if every value in the rows of \(entities) fits: \(reason)"
        case .links(let targets, let isAlone):
            """
            if every row of \(entities) has such a link\(targets.isEmpty ? "" : ", and not" + Self.objects(targets))\
            \(isAlone ? ", no two to one object" : ""): \(reason)
            """
        case .noLinks(let targets, let canEnd):
            """
            if no row of \(entities) has such a link\(Self.objects(targets))\
            \(canEnd ? ", or with --end-links, which ends them" : ""): \(reason)
            """
        case .unique(let properties): "if no two rows of \(entities) have the same \(properties): \(reason)"
        }
    }

    private static func objects(_ entities: [String]) -> String { " to \(entities.joined(separator: ", ")) objects" }
}

extension EntityMapping {
    fileprivate func conditions(_ source: ManagedObjectModel, _ destination: ManagedObjectModel) -> [Condition] {
        guard let name = destination.entities[self.destination ?? ""]?.name else { return [] }
        if destination.entities[name]?.isAbstract == true {
            return [Condition(demand: .noRows, reason: "\(name) is abstract now")]
        }
        var result: [Condition] = []
        for obligation in obligations {
            let property = obligation.property ?? ""
            let place = "\(owner(of: property, name, destination)).\(property) \(obligation.change.rawValue)"
            let condition =
                switch obligation.demand {
                case .noRows: Condition(demand: .noRows, reason: place)
                case .noNulls: Condition(demand: .noNulls, reason: place)
                case .noMissing(let links):
                    Condition(demand: .links(links.ended.sorted(), isAlone: links.keepsFirst), reason: place)
                case .noEnding(let links):
                    Condition(
                        demand: .noLinks(links.ended.sorted(), canEnd: false),
                        reason: "\(place), and such links can't stay")
                }
            result.append(condition)
        }
        for change in conversions where !change.conversion.holdsAll {
            let place = "\(owner(of: change.attribute, name, destination)).\(change.attribute)"
            result.append(Condition(demand: .fits, reason: "\(place) is converted, \(change.conversion)"))
        }
        for ending in endings {
            let place = "\(ending.entity).\(ending.relationship)"
            result.append(
                Condition(
                    demand: .noLinks(ending.targets.sorted(), canEnd: true),
                    reason: "\(place) leads to \(ending.leadsTo) now"))
        }
        return result + uniqueness(of: name, source, destination)
    }

    /// The entity that declares a property of the destination's entity.
    private func owner(of path: String, _ entity: String, _ destination: ManagedObjectModel) -> String {
        let property = path.split(separator: ".").first.map(String.init) ?? ""
        return destination.attribute(property, of: entity)?.owner
            ?? destination.relationship(property, of: entity)?.owner ?? entity
    }

    /// Constraints that the source doesn't have yet.
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
