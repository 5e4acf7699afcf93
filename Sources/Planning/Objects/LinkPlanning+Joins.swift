import CausewayEvaluation
import CausewayExpressions
import CausewayMapping
import CausewayModel
import CausewayStoreFormat

/// Join tables that are copied whole: both ends keep their keys.
extension LinkPlanning {
    /// Whether a many-to-many's table is copied with its links.
    func isCopied(_ property: PropertyMappingDescription, of index: Int) -> Bool {
        guard let entity = planner.entities[index].mapping.mapping.destinationEntity,
            let owner = destination.schema.model.relationship(property.name, of: entity)?.owner,
            let found = destination.layout.joinTable(of: property.name, declaredBy: owner)
        else { return false }
        return copied(found.table)?.contains(index) ?? false
    }

    /// Whether a join table takes the source's links as they are.
    func isCopied(_ table: JoinTable) -> Bool { copied(table) != nil }

    /// What a property mapping carries completely: its mapping keeps keys, and every row at the other end has one
    /// result, with its key.
    private struct PlainReading {
        /// Of the source, with the entity that declares it.
        let relationship: String
        let owner: String
        /// The mappings of the rows at the other end.
        let targets: Set<Int>
    }

    private func plainReading(_ setter: Setter) -> PlainReading? {
        let (property, index) = (setter.property, setter.mapping)
        let mapping = planner.entities[index].mapping.mapping
        guard mapping.policyClassName == nil, planner.keeping[index] == .always,
            let reading = Self.reading(property.expression), let entity = mapping.destinationEntity,
            let origin = mapping.sourceEntity,
            let owner = source.schema.model.relationship(reading.relationship, of: origin)?.owner,
            case .join(let from)? = place(reading.relationship, of: origin, in: source),
            case .join(let to)? = place(property.name, of: entity, in: destination),
            from.isReflexive == to.isReflexive,
            let all = targets(
                Reading(relationship: reading.relationship, mapping: nil), of: from.relationship.destination,
                leadingTo: to.relationship.destination, from: index),
            // A look-up through one mapping that leaves out other mappings' rows isn't the whole table.
            all
                == targets(
                    reading, of: from.relationship.destination, leadingTo: to.relationship.destination, from: index)
        else { return nil }
        return PlainReading(relationship: reading.relationship, owner: owner, targets: Set(all.values))
    }

    /// The mappings whose links come with a copy of the source's join table; nil where it isn't copied.
    private func copied(_ table: JoinTable) -> Set<Int>? {
        if let known = planner.memory.copied[table.name] { return known.value }
        let result = findCopied(table)
        planner.memory.copied[table.name] = LinkMemory.Known(value: result)
        return result
    }

    /// Every mapping that sets the naming side must read the same many-to-many, and both ends keep their keys. Mappings
    /// that set the other end must read the same links, and all of them: the result has the links of both.
    private func findCopied(_ table: JoinTable) -> Set<Int>? {
        let own = setters(of: table.relationship, of: table.owner)
        let read = own.compactMap { plainReading($0) }
        guard let first = read.first, read.count == own.count,
            read.allSatisfy({ $0.relationship == first.relationship })
        else { return nil }
        let owners = Set(own.map(\.mapping))
        // A row of it says the same of both its ends.
        if table.isReflexive { return read.allSatisfy { $0.targets.isSubset(of: owners) } ? owners : nil }
        let others = setters(of: table.inverse, of: table.inverseOwner)
        let ends = Set(others.map(\.mapping))
        if destination.schema.model.relationship(table.inverse, of: table.inverseOwner)?.relationship.isOrdered == true,
            // Rows are put into its order one by one where nobody sets it.
            !read.allSatisfy({ $0.targets.isSubset(of: ends) })
        {
            return nil
        }
        guard !others.isEmpty else { return owners }
        guard read.allSatisfy({ $0.owner == first.owner }) else { return nil }
        let agree = others.allSatisfy { other in
            guard let back = plainReading(other),
                let link = source.schema.model.relationship(back.relationship, of: back.owner)?.relationship,
                let inverse = source.schema.model.inverse(of: link)
            else { return false }
            return inverse.owner == first.owner && inverse.relationship.name == first.relationship
                && back.targets.isSubset(of: owners)
        }
        return agree ? owners.union(ends) : nil
    }
}

extension ObjectStepPlanner {
    /// The join tables that are copied.
    func joinCopies() throws(PlanError) -> [ObjectStep.JoinCopy] {
        let links = LinkPlanning(planner: self)
        let planner = TransferPlanner(
            mapping: skeleton(onlyKept: true), source: source.layout, destination: destination.layout)
        var result: [ObjectStep.JoinCopy] = []
        for table in destination.layout.joinTables where links.isCopied(table) {
            let sides = [(table.owner, table.relationship), (table.inverseOwner, table.inverse)]
            result.append(
                ObjectStep.JoinCopy(
                    work: TableWork(
                        table: table.name, method: .statements,
                        passes: try planner.linkPasses(for: table).named { "join \(result.count).\($0)" }, indexes: []),
                    ends: entities.indices.filter { index in
                        guard let entity = entities[index].mapping.mapping.destinationEntity else { return false }
                        return sides.contains { destination.schema.model.isKind(entity, of: $0.0) }
                    },
                    relationships: fills(copied, of: table)))
        }
        return result
    }

    /// Those that set one of the ends of a join table.
    func fills(
        _ all: [(mapping: Int, fill: EntityMappingPlan.RelationshipFill)], of table: JoinTable
    ) -> [(mapping: Int, fill: EntityMappingPlan.RelationshipFill)] {
        let sides = [(table.owner, table.relationship), (table.inverseOwner, table.inverse)]
        return all.filter { relationship in
            guard let entity = entities[relationship.mapping].mapping.mapping.destinationEntity else { return false }
            return sides.contains {
                $0.1 == relationship.fill.name && destination.schema.model.isKind(entity, of: $0.0)
            }
        }
    }

    /// The mapping models as an inferred mapping, as far as possible: used to plan history, names of join tables and
    /// copied links.
    func skeleton(onlyKept: Bool) -> MappingModel {
        var mapped: Set<String> = []
        var result: [EntityMapping] = []
        for index in entities.indices {
            let mapping = entities[index].mapping.mapping
            guard mapping.kind != .remove, let from = mapping.sourceEntity, let to = mapping.destinationEntity,
                !onlyKept || keeping[index] == .always
            else { continue }
            mapped.insert(from)
            result.append(
                EntityMapping(
                    name: mapping.name, kind: .transform, source: from, destination: to,
                    attributes: skeletonAttributes(mapping, to: to),
                    relationships: mapping.relationshipMappings.map { property in
                        let reading = LinkPlanning.reading(property.expression)
                        return RelationshipMapping(
                            destination: property.name,
                            links: reading.map {
                                LinkSource(
                                    entity: from, relationship: $0.relationship, isInverted: false, changesForm: false)
                            })
                    }))
        }
        let removed = source.schema.entities.filter { !mapped.contains($0) }.map {
            EntityMapping(name: "Remove_\($0)", kind: .remove, source: $0, destination: nil)
        }
        return MappingModel(entityMappings: result + removed)
    }

    private func skeletonAttributes(_ mapping: EntityMappingDescription, to entity: String) -> [AttributeMapping] {
        var result: [AttributeMapping] = []
        for property in mapping.attributeMappings {
            guard case .keyPath(operand: .variable("source"), path: let path)? = property.expression,
                let number = source.number(of: mapping.sourceEntity), let handle = source.schema.handle(of: path),
                case .attribute? = source.place(of: handle, entity: number)
            else { continue }
            result.append(
                AttributeMapping(destination: property.name, value: .carried(from: path, nilReplacement: nil)))
        }
        for ancestor in destination.schema.model.lineage(of: entity) {
            for attribute in ancestor.attributes where attribute.derivation != nil {
                result.removeAll { $0.destination == attribute.name }
                result.append(AttributeMapping(destination: attribute.name, value: .derived))
            }
        }
        return result
    }

    /// Persistent history refers to rows by key: entries of rows with new keys can't be kept.
    func historyLosses(_ hasHistory: Bool) -> [String] {
        guard hasHistory else { return [] }
        return entities.indices.compactMap { index in
            let mapping = entities[index].mapping.mapping
            guard keeping[index] != .always, mapping.kind != .remove, let entity = mapping.sourceEntity
            else { return nil }
            return "the persistent history of \(entity): its rows get new keys"
        }
    }
}
