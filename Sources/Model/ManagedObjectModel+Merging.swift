extension ManagedObjectModel {
    /// The union of several models, as `NSManagedObjectModel.mergedModel(from:)` makes it: every entity of each, the
    /// members of configurations of the same name together, the version identifiers of all.
    ///
    /// - Parameter parts: the models, each with its name for messages.
    /// - Returns: the union; an entity that several have is in it once.
    /// - Throws: `inconsistent` where an entity is in two with different hashes, for each such entity, or where the
    ///   union is beyond `ModelLimits`.
    package static func merged(
        _ parts: [(title: String, model: ManagedObjectModel)]
    ) throws(ModelError) -> ManagedObjectModel {
        var entities: [String: Entity] = [:]
        var owners: [String: (title: String, hash: [UInt8]?)] = [:]
        var configurations: [String: [String]] = [:]
        var identifiers: [String] = []
        var problems: [ModelError.Problem] = []
        for part in parts {
            let hashes = VersionHashes(part.model).entities
            for (name, entity) in part.model.entities.sorted(by: { $0.key < $1.key }) {
                guard let owner = owners[name] else {
                    entities[name] = entity
                    owners[name] = (part.title, hashes[name])
                    continue
                }
                if owner.hash != hashes[name] {
                    problems.append(
                        .init("it is in \(owner.title) and in \(part.title), with different hashes", entity: name))
                }
            }
            for (name, members) in part.model.configurations {
                let known = configurations[name] ?? []
                configurations[name] = known + members.filter { !known.contains($0) }
            }
            identifiers += part.model.versionIdentifiers.filter { !identifiers.contains($0) }
        }
        // What only the merged model may have: the parts were checked when they were read.
        if entities.count > ModelLimits.entities {
            problems.append(
                .init("The models have \(entities.count) entities; at most \(ModelLimits.entities) are read."))
        }
        guard problems.isEmpty else {
            throw ModelError(.inconsistent, "The models can't be merged into one.", problems: problems)
        }
        return ManagedObjectModel(
            entities: Array(entities.values), configurations: configurations, versionIdentifiers: identifiers)
    }
}
