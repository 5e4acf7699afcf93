import CausewayExpressions
package import CausewayModel

extension MappingModelDescription {
    /// Fills in the description's defaults, as Xcode's compiler does, and checks it against both models.
    ///
    /// Throws `MappingResolutionError` with every mistake: unknown entities, properties and mappings, hashes of other
    /// versions, kinds that contradict their entities, texts that aren't an expression or a predicate.
    package func resolved(
        from source: ManagedObjectModel, to destination: ManagedObjectModel
    ) throws(MappingResolutionError) -> ResolvedMapping {
        try resolved(from: VersionedModel(model: source), to: VersionedModel(model: destination))
    }

    /// The same with known hashes.
    package func resolved(
        from source: VersionedModel, to destination: VersionedModel, beside others: [MappingModelDescription] = []
    ) throws(MappingResolutionError) -> ResolvedMapping {
        var resolver = MappingResolver(
            description: self, source: source, destination: destination,
            others: others.filter { $0 != self }.flatMap(\.entityMappings))
        let mapping = resolver.resolve()
        guard resolver.problems.isEmpty else {
            throw MappingResolutionError(name: name, path: path, problems: resolver.problems)
        }
        return mapping
    }
}

/// Resolves one mapping model. All problems are collected, so that the user can fix them at once.
struct MappingResolver {
    typealias Problem = MappingResolutionError.Problem

    let description: MappingModelDescription
    let source: VersionedModel
    let destination: VersionedModel
    var problems: [Problem] = []
    /// The entity mapping being resolved, for messages.
    var mappingName = ""
    /// Entity mappings that carry objects over: their objects can be on the far side of a relationship.
    private(set) var carriers: [Carrier] = []
    private(set) var mappingNames: Set<String> = []
    /// Entity mappings of the step's other mapping models: look-ups may name them, and relationships lead to their
    /// rows.
    let others: [EntityMappingDescription]
    var otherNames: Set<String> { Set(others.map(\.name)) }

    struct Carrier {
        var name: String
        var source: String
        var destination: String
        /// Whether its name means it in a look-up: a name that several mapping models of the step have means their
        /// own entity mapping in each, and the first of all in the others.
        var isNamed: Bool
    }

    /// The result is valid only if `problems` stays empty.
    mutating func resolve() -> ResolvedMapping {
        if description.entityMappings.isEmpty {
            mappingName = description.name
            report(.contradiction, "It holds no entity mapping, so nothing would be migrated.")
        }
        var mappings: [EntityMappingDescription] = []
        for mapping in description.entityMappings {
            mappingName = mapping.name
            if !mappingNames.insert(mapping.name).inserted {
                report(.contradiction, "There are two entity mappings of this name; rename one.")
            }
            mappings.append(framed(mapping))
        }
        let counts = others.reduce(into: [String: Int]()) { $0[$1.name, default: 0] += 1 }
        carriers = (mappings + others).enumerated().compactMap { place, mapping in
            guard mapping.kind != .remove, let source = mapping.sourceEntity, let target = mapping.destinationEntity
            else { return nil }
            let isNamed = place < mappings.count || !mappingNames.contains(mapping.name) && counts[mapping.name] == 1
            return Carrier(name: mapping.name, source: source, destination: target, isNamed: isNamed)
        }
        var entityMappings: [ResolvedEntityMapping] = []
        for var mapping in mappings {
            mappingName = mapping.name
            let rows = resolveRows(&mapping)
            resolveProperties(&mapping)
            checkCalls(of: mapping)
            entityMappings.append(ResolvedEntityMapping(mapping: mapping, rows: rows))
        }
        var resolved = ResolvedMapping(
            name: description.name, path: description.path, entityMappings: entityMappings)
        guard problems.isEmpty else { return resolved }
        resolved.warnings = MappingNotice.propertiesLeftOut(
            of: resolved, from: source.model, to: destination.model)
        resolved.losses = MappingNotice.losses(of: [resolved], from: source.model)
        return resolved
    }

    mutating func report(_ code: MappingResolutionError.Code, _ message: String, property: String? = nil) {
        problems.append(Problem(code: code, mapping: mappingName, property: property, message: message))
    }

    // MARK: - Entities and kinds

    /// Core Data's own policy, which every mapping without one has.
    private static let defaultPolicy = "NSEntityMigrationPolicy"

    /// The mapping with its entities checked, its hashes and its kind.
    private mutating func framed(_ mapping: EntityMappingDescription) -> EntityMappingDescription {
        var result = mapping
        if let policy = mapping.policyClassName, policy.isEmpty || policy == Self.defaultPolicy {
            result.policyClassName = nil
        }
        result.sourceHash = hash(mapping.sourceEntity, mapping.sourceHash, in: source, "source")
        result.destinationHash = hash(
            mapping.destinationEntity, mapping.destinationHash, in: destination, "destination")
        result.kind = kind(of: result)
        return result
    }

    private mutating func hash(
        _ entity: String?, _ recorded: [UInt8]?, in version: VersionedModel, _ side: String
    ) -> [UInt8]? {
        guard let entity else { return nil }
        guard let actual = version.hashes.entities[entity] else {
            report(.unknownEntity, "The \(side) model\(Self.named(version)) has no entity “\(entity)”.")
            return nil
        }
        if let recorded, recorded != actual {
            report(
                .differentHash,
                """
                It was compiled for another version of the \(side) entity “\(entity)”: its hash is \
                \(Self.short(recorded)), the model's\(Self.named(version)) is \(Self.short(actual)). Compile the \
                mapping model again from its .xcmappingmodel, or use that.
                """)
        }
        return actual
    }

    /// Xcode's rule for a missing kind; a given kind must fit the entities.
    ///
    /// Copy and transform differ only in what they say about the hashes, and Xcode isn't consistent (`PersonToPerson`
    /// of V2toV3.cdm is a copy of unequal hashes), so both are decided here by the hashes.
    private mutating func kind(of mapping: EntityMappingDescription) -> EntityMappingKind {
        let ends = (mapping.sourceEntity != nil, mapping.destinationEntity != nil)
        if ends == (false, false) {
            report(.contradiction, "It names neither a source nor a destination entity; name at least one.")
            return mapping.kind
        }
        let byHash: EntityMappingKind = mapping.sourceHash == mapping.destinationHash ? .copy : .transform
        switch mapping.kind {
        // Without a policy's class, a custom mapping has the default policy, which does what the entities say.
        case .undefined, .custom:
            if mapping.policyClassName != nil { return .custom }
            return ends == (true, true) ? byHash : ends.0 ? .remove : .add
        case .add:
            if ends != (false, true) {
                report(.contradiction, "It adds an entity, so it has a destination entity and no source entity.")
            }
            return .add
        case .remove:
            if ends != (true, false) {
                report(.contradiction, "It removes an entity, so it has a source entity and no destination entity.")
            }
            return .remove
        case .copy, .transform:
            if ends != (true, true) {
                report(.contradiction, "It copies or transforms, so it needs a source and a destination entity.")
            }
            return byHash
        }
    }

    private static func named(_ version: VersionedModel) -> String { version.name.map { " “\($0)”" } ?? "" }

    /// The first bytes of a hash; enough to tell two apart for people.
    private static func short(_ hash: [UInt8]) -> String {
        hash.prefix(6).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "…"
    }
}
