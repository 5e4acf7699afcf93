import CausewayMapping
import CausewayModel

/// Which rows a step leaves their links of a relationship: through the relationship itself, or through its other end.
struct LinkCarriers {
    /// `[owner, name]` of a source relationship, by the source entity whose rows bring its links along, or are checked
    /// for links that end.
    private var own: [String: Set<[String]>] = [:]
    /// By the relationship: the entities of the new version to whose rows the other end leads, and the source entities
    /// to whose rows its links end, which the check of the rows counts.
    private var far: [[String]: (targets: Set<String>, ended: Set<String>)] = [:]
    private let mapping: MappingModel
    private let source: ManagedObjectModel
    private let destination: ManagedObjectModel

    init(_ mapping: MappingModel, _ source: ManagedObjectModel, _ destination: ManagedObjectModel) {
        (self.mapping, self.source, self.destination) = (mapping, source, destination)
        for entity in mapping.entityMappings {
            guard let from = entity.source, let to = entity.destination else { continue }
            for relationship in entity.relationships {
                for links in [relationship.links, relationship.outvoted].compactMap(\.self) {
                    note(links, from, leadingTo: destination.relationship(relationship.destination, of: to))
                }
            }
            for ending in entity.endings { note(ending.links, from, ended: ending.targets) }
            for obligation in entity.obligations {
                switch obligation.demand {
                case .noMissing(let links), .noEnding(let links): note(links, from, ended: links.ended)
                case .noRows, .noNulls: break
                }
            }
        }
    }

    private mutating func note(
        _ links: LinkSource, _ entity: String, leadingTo new: (owner: String, relationship: Relationship)? = nil,
        ended: Set<String> = []
    ) {
        guard let found = source.relationship(links.relationship, of: links.entity) else { return }
        let this = [found.owner, found.relationship.name]
        let other = source.inverse(of: found.relationship).map { [$0.owner, $0.relationship.name] }
        let (mine, theirs) = links.isInverted ? (other, this) : (this, other)
        if let mine { own[entity, default: []].insert(mine) }
        guard let theirs else { return }
        far[theirs, default: ([], [])].ended.formUnion(ended)
        if let new { far[theirs]?.targets.insert(new.relationship.destination) }
    }

    enum Fate { case kept, ended, lost }

    /// What becomes of a relationship's links that rows of a source entity have: `ended` where the check of the rows
    /// counts them at the other end.
    func fate(of relationship: Relationship, declaredBy owner: String, in entity: String) -> Fate {
        let place = [owner, relationship.name]
        if own[entity]?.contains(place) == true { return .kept }
        guard let far = far[place], let to = mapping.mapping(from: entity)?.destination else { return .lost }
        if far.ended.contains(entity) { return .ended }
        return far.targets.contains { destination.isKind(to, of: $0) } ? .kept : .lost
    }
}
