package import CausewayModel

// What a resolved mapping model leaves out. Apple doesn't warn about it (openradar 19079060: the editor's wizard leaves
// out attributes that a parent declares).

extension MappingNotice {
    /// Destination properties that an entity mapping doesn't mention though the source has one of the same name.
    ///
    /// A relationship whose inverse is mapped counts as mentioned: setting one side sets the other.
    package static func propertiesLeftOut(
        of mapping: ResolvedMapping, from source: ManagedObjectModel, to destination: ManagedObjectModel
    ) -> [MappingNotice] {
        let mapped = mapping.entityMappings.map(\.mapping)
        return mapped.flatMap { entity in
            propertiesLeftOut(of: entity, from: source, to: destination) { relationship in
                guard let inverse = relationship.inverse else { return false }
                return mapped.contains { other in
                    guard let target = other.destinationEntity else { return false }
                    return destination.isKind(target, of: relationship.destination)
                        && other.relationshipMappings.contains { $0.name == inverse && $0.expression != nil }
                }
            }
        }
    }

    private static func propertiesLeftOut(
        of mapping: EntityMappingDescription, from source: ManagedObjectModel, to destination: ManagedObjectModel,
        isMappedByInverse: (Relationship) -> Bool
    ) -> [MappingNotice] {
        guard let origin = mapping.sourceEntity, let target = mapping.destinationEntity else { return [] }
        let mentioned = Set((mapping.attributeMappings + mapping.relationshipMappings).map(\.name))
        let sourceAttributes = Set(source.migratableAttributes(of: origin).map(\.name))
        var names: [String] = []
        for attribute in destination.migratableAttributes(of: target) where sourceAttributes.contains(attribute.name) {
            if mentioned.contains(attribute.name) { continue }
            names += attribute.leafPaths.map { attribute.name + $0 }.filter { !mentioned.contains($0) }
        }
        for relationship in destination.storedRelationships(of: target) where !mentioned.contains(relationship.name) {
            guard source.relationship(relationship.name, of: origin) != nil, !isMappedByInverse(relationship)
            else { continue }
            names.append(relationship.name)
        }
        return names.map { name in
            MappingNotice(
                subject: .propertyLeftOut(name), mapping: mapping.name, entity: target,
                message: """
                    \(mapping.name) doesn't mention \(target).\(name), which “\(origin)” has too: its values won't be \
                    carried over\(mapping.policyClassName == nil ? "" : " unless the policy does it"). Add a property \
                    mapping for it.
                    """)
        }
    }

    /// Source entities whose rows none of the step's mapping models reads. Abstract entities have no rows.
    package static func losses(of mappings: [ResolvedMapping], from source: ManagedObjectModel) -> [MappingNotice] {
        var readers: [String: String] = [:]
        for entity in mappings.flatMap(\.entityMappings) where entity.mapping.kind != .remove {
            guard let origin = entity.mapping.sourceEntity else { continue }
            readers[origin] = readers[origin] ?? entity.mapping.name
            guard entity.rows.includesSubentities else { continue }
            for name in source.entities.keys where source.isKind(name, of: origin) {
                readers[name] = readers[name] ?? entity.mapping.name
            }
        }
        return source.entitiesInStoreOrder().compactMap { name in
            guard readers[name] == nil, source.entities[name]?.isAbstract == false else { return nil }
            let ancestor = source.lineage(of: name).dropFirst().first { readers[$0.name] != nil }
            if let ancestor, let mapping = readers[ancestor.name] {
                return MappingNotice(
                    subject: .subentityNotMigrated(of: ancestor.name), mapping: mapping, entity: name,
                    message: """
                        Objects of “\(name)” are not migrated: \(mapping) reads those of its parent “\(ancestor.name)” \
                        only, and no entity mapping reads “\(name)”.
                        """)
            }
            return MappingNotice(
                subject: .entityNotMigrated, entity: name,
                message: "Objects of “\(name)” are not migrated: no entity mapping reads them.")
        }
    }
}
