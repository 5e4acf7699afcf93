package import CausewayModel

/// Infers the mapping between two versions, as Core Data's lightweight migration does (InsideCoreDataMigration §4).
///
/// Properties are matched entity by entity over everything an entity sees, inherited properties included: an attribute
/// that moves up or down the hierarchy is found where the row's entity has it, whichever ancestor declares it.
package struct MappingInference {
    package let source: ManagedObjectModel
    package let destination: ManagedObjectModel
    /// The step's position on the path, for the obligations that it leaves.
    package let step: Int

    /// What elements of the destination continue, where the models leave it open, by `Entity` or `Entity.property`: the
    /// source's name, or an empty one for nothing.
    let origins: [String: String]
    private var settledOrigins: Set<String> = []
    let entityMatch: RenamingMatch
    /// Source entities that a destination entity continues.
    private let continued: Set<String>
    /// By destination entity; an absorbed subentity is matched again.
    var relationshipMatches: [String: RelationshipMatch] = [:]
    /// Entities that may have rows, with their destination, by their name in the source.
    private var migrated: [String: [(origin: String, target: String)]] = [:]
    /// Entities that may have rows and are dropped.
    private var dropped: Set<String> = []
    private var droppedKinds: [String: Set<String>] = [:]
    /// Destination relationships by the name of the source relationship that they continue; made on first use.
    var claimants: [String: Set<Claimant>]?
    var fates: [LinkFate.Place: LinkFate] = [:]
    var refusals: [InferenceError.Refusal] = []
    /// For the current entity mapping: its source, and what only rows can decide.
    private(set) var origin = ""
    var obligations: [Obligation] = []
    var conversions: [AttributeConversion] = []
    var endings: [LinkEnding] = []

    /// Infers the mapping, or throws every reason against it.
    ///
    /// - Parameters:
    ///   - source: the older version.
    ///   - destination: the newer one.
    ///   - step: the step's position on the path; obligations carry it.
    ///   - hashes: of both models, if known; else they are computed.
    ///   - origins: what elements of the destination continue, where the models leave it open (`origins`).
    /// - Returns: a mapping for every entity of both versions.
    /// - Throws: every change that can't be inferred.
    package static func infer(
        from source: ManagedObjectModel, to destination: ManagedObjectModel, step: Int = 0,
        hashes: (source: VersionHashes, destination: VersionHashes)? = nil, origins: [String: String] = [:]
    ) throws(InferenceError) -> MappingModel {
        var inference = MappingInference(source: source, destination: destination, step: step, origins: origins)
        let mapping = inference.run(hashes ?? (VersionHashes(source), VersionHashes(destination)))
        let refusals = inference.refusals
        guard refusals.isEmpty else {
            throw InferenceError(refusals: refusals.uniqued().sorted { $0.description < $1.description })
        }
        return mapping
    }

    /// What continues what in two versions, even where rows can't be carried over: an attribute keeps its origin
    /// whatever its type is now. For showing what the versions differ in, never for moving rows.
    ///
    /// - Parameters:
    ///   - source: the older version.
    ///   - destination: the newer one.
    /// - Returns: a mapping for every entity of both versions; the inferred one if there is any.
    package static func closest(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> MappingModel {
        var inference = MappingInference(source: source, destination: destination, step: 0)
        return inference.run((VersionHashes(source), VersionHashes(destination)))
    }

    init(source: ManagedObjectModel, destination: ManagedObjectModel, step: Int, origins: [String: String] = [:]) {
        self.origins = origins
        self.source = source
        self.destination = destination
        self.step = step
        let match = RenamingMatch(
            source: source.entities.values.map { .init($0) },
            destination: destination.entities.values.map { .init($0) }, origin: { origins[$0] })
        entityMatch = match
        settledOrigins.formUnion(match.settled)
        continued = Set(match.sources.values)
    }

    private mutating func run(_ hashes: (source: VersionHashes, destination: VersionHashes)) -> MappingModel {
        for conflict in entityMatch.conflicts {
            for name in conflict.destinations {
                refuse(.ambiguousRenaming(source: conflict.source, claimants: conflict.destinations), name)
            }
        }
        refuseMergedHierarchies()
        for (target, origin) in entityMatch.sources {
            for origin in [origin, absorbed(by: target)].compactMap(\.self)
            where source.entities[origin]?.isAbstract == false {
                migrated[origin, default: []].append((origin, target))
            }
        }
        for entity in source.entities.values where !entity.isAbstract && migrated[entity.name] == nil {
            dropped.insert(entity.name)
        }
        var mappings: [EntityMapping] = []
        for name in destination.entitiesInStoreOrder() {
            guard let origin = entityMatch.sources[name] else {
                mappings.append(added(name))
                continue
            }
            mappings.append(mapped(name, from: origin, hashes))
            if let absorbed = absorbed(by: name) {
                claimants = nil
                mappings.append(mapped(name, from: absorbed, hashes))
                (relationshipMatches[name], claimants) = (nil, nil)
            }
        }
        markTableFills(&mappings)
        markInherited(&mappings)
        let used = Set(mappings.compactMap(\.source))
        for name in source.entitiesInStoreOrder() where !used.contains(name) {
            mappings.append(EntityMapping(name: "IEM_Remove_\(name)", kind: .remove, source: name, destination: nil))
        }
        var result = MappingModel(entityMappings: mappings)
        result.settledOrigins = settledOrigins
        for name in source.entities.keys { result.sourceRoots[name] = source.root(of: name) }
        result.leavesLinks = leavesLinks(mappings)
        return result
    }

    /// Whether rows of some entities lose a relationship that others of its kind keep.
    private func leavesLinks(_ mappings: [EntityMapping]) -> Bool {
        var carriers: [[String]: Set<String>] = [:]
        var rows: [String: [String]] = [:]
        for mapping in mappings where mapping.destination != nil {
            guard let from = mapping.source, source.entities[from]?.isAbstract == false else { continue }
            for ancestor in source.kinds(of: from) { rows[ancestor, default: []].append(from) }
            for relationship in mapping.relationships {
                guard let links = relationship.links, !links.isInverted,
                    let owner = source.relationship(links.relationship, of: links.entity)?.owner
                else { continue }
                carriers[[owner, links.relationship], default: []].insert(from)
            }
        }
        return carriers.contains { place, entities in (rows[place[0]] ?? []).contains { !entities.contains($0) } }
    }

    /// What a property of an entity continues, if that was settled; under the entity's name or that of the one that
    /// declares it.
    func settledOrigin(of property: String, in entity: String) -> String? {
        settledKey(of: property, in: entity).flatMap { origins[$0] }
    }

    private func settledKey(of property: String, in entity: String) -> String? {
        guard !origins.isEmpty else { return nil }
        return destination.lineage(of: entity).map { "\($0.name).\(property)" }.first { origins[$0] != nil }
    }

    /// Notes that what was settled about a property has decided something.
    mutating func noteSettled(_ property: String, in entity: String) {
        if let key = settledKey(of: property, in: entity) { settledOrigins.insert(key) }
    }

    private mutating func mapped(
        _ name: String, from origin: String, _ hashes: (source: VersionHashes, destination: VersionHashes)
    ) -> EntityMapping {
        self.origin = origin
        (obligations, conversions, endings) = ([], [], [])
        if destination.entities[name]?.isAbstract == true, source.entities[origin]?.isAbstract == false {
            obligations.append(
                Obligation(step: step, entity: name, property: nil, .abstractEntity, demand: .noRows))
        }
        relationshipMatches[name] = relationshipMatch(of: name, from: origin)
        let attributes = attributes(of: name, from: origin)
        let same = origin == name && hashes.source.entities[origin] == hashes.destination.entities[name]
        let relationships = relationships(of: name, from: origin)
        var mapping = EntityMapping(
            name: "IEM_\(same ? "Copy" : "Transform")_\(origin)", kind: same ? .copy : .transform, source: origin,
            destination: name, attributes: attributes, relationships: relationships)
        (mapping.obligations, mapping.conversions, mapping.endings) = (obligations, conversions, endings)
        return mapping
    }

    /// The subentity that a destination entity absorbs besides its source: it has the destination's own name, while the
    /// renaming identifier names its ancestor. Core Data keeps such rows (Photos 10.15 → 10.16: `GenericAsset` with the
    /// subentity `Asset` becomes `Asset`); they share a table and its keys, so nothing collides.
    private func absorbed(by name: String) -> String? {
        guard let origin = entityMatch.sources[name], origin != name, source.entities[name] != nil,
            !continued.contains(name), source.isKind(name, of: origin)
        else { return nil }
        return name
    }

    /// Marks additions to tables that only gain columns.
    private func markTableFills(_ mappings: inout [EntityMapping]) {
        let before = Dictionary(grouping: source.entities.keys, by: source.root)
        let growing = Dictionary(grouping: mappings.filter { $0.source != nil }) {
            destination.root(of: $0.destination ?? "")
        }
        .filter { onlyGrows(before[$0.key] ?? [], $0.value) }
        for index in mappings.indices {
            guard let name = mappings[index].destination, growing[destination.root(of: name)] != nil else { continue }
            mappings[index].attributes = mappings[index].attributes.map { attribute in
                var attribute = attribute
                if case .constant = attribute.value { attribute.fillsTable = true }
                return attribute
            }
        }
    }

    /// Whether a table keeps its entities and every column's name, and only gains columns.
    private func onlyGrows(_ before: [String], _ members: [EntityMapping]) -> Bool {
        guard Set(before) == Set(members.compactMap(\.source)) else { return false }
        for member in members {
            guard let name = member.destination, member.source == name,
                source.entities[name]?.parent == destination.entities[name]?.parent
            else { return false }
            let kept = Set(
                member.attributes.filter { $0.value == .carried(from: $0.destination, nilReplacement: nil) }
                    .map(\.destination))
            guard source.storedAttributes(of: name).allSatisfy({ kept.contains($0.path) }) else { return false }
            let links = Set(
                member.relationships.filter {
                    $0.links?.relationship == $0.destination && $0.links?.changesForm == false
                }.map(\.destination))
            guard source.storedRelationships(of: name).allSatisfy({ links.contains($0.name) }) else { return false }
        }
        return true
    }

    /// The entities whose rows a source relationship may hold, with their destination; without dropped ones.
    func targets(of relationship: Relationship) -> [(origin: String, target: String)] {
        source.entityAndSubentities(of: relationship.destination).flatMap { migrated[$0] ?? [] }
    }

    /// Those whose rows become nothing of the new kind, and so don't have its relationships.
    func left(kindOf entity: String, by kind: String) -> Set<String> {
        let names = source.entityAndSubentities(of: entity).filter { name in
            guard let targets = migrated[name] else { return false }
            return !targets.contains { destination.isKind($0.target, of: kind) }
        }
        return Set(names)
    }

    /// Those that are dropped with their entity.
    mutating func dropped(kindOf entity: String) -> Set<String> {
        guard !dropped.isEmpty else { return [] }
        if let known = droppedKinds[entity] { return known }
        let result = dropped.intersection(source.entityAndSubentities(of: entity))
        droppedKinds[entity] = result
        return result
    }

    private func added(_ name: String) -> EntityMapping {
        EntityMapping(
            name: "IEM_Add_\(name)", kind: .add, source: nil, destination: name,
            attributes: destination.storedAttributes(of: name).map {
                AttributeMapping(destination: $0.path, value: .constant($0.attribute.defaultValue))
            },
            relationships: destination.storedRelationships(of: name).map {
                RelationshipMapping(destination: $0.name, links: nil)
            })
    }

    /// Entity and property are the destination's; `old` is the source's property that this one continues.
    mutating func refuse(
        _ reason: InferenceError.Reason, _ entity: String, _ property: String? = nil, from old: String? = nil
    ) {
        let place = origin == entity ? old : old.map { "\(origin).\($0)" }
        refusals.append(.init(reason, entity: entity, property: property, origin: place == property ? nil : place))
    }

    /// Two existing entities without a common root in the source can't have one in the destination: their rows would
    /// share one table and one sequence of keys.
    private mutating func refuseMergedHierarchies() {
        var roots: [String: Set<String>] = [:]
        for (name, origin) in entityMatch.sources {
            roots[destination.root(of: name), default: []].insert(source.root(of: origin))
        }
        for (root, origins) in roots.sorted(by: { $0.key < $1.key }) where origins.count > 1 {
            refuse(.hierarchiesMerged(roots: origins.sorted()), root)
        }
    }
}

extension Array where Element: Hashable {
    /// The elements without repetitions, in the order of their first appearance.
    func uniqued() -> [Element] {
        var seen = Set<Element>()
        return filter { seen.insert($0).inserted }
    }
}
