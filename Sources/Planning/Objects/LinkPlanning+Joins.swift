import CausewayEvaluation
import CausewayExpressions
import CausewayMapping
import CausewayModel
import CausewayStoreFormat

/// Join tables that are copied whole: both ends keep their keys.
extension LinkPlanning {
    /// Whether a many-to-many's table is copied with its links.
    func isCopied(_ property: PropertyMappingDescription, of index: Int) -> Bool {
        let mapping = planner.entities[index].mapping.mapping
        guard let entity = mapping.destinationEntity,
            let owner = planner.destination.schema.model.relationship(property.name, of: entity)?.owner,
            let found = planner.destination.layout.joinTable(of: property.name, declaredBy: owner),
            let origin = copied(found.table), let read = plainReading(property, of: index),
            let from = mapping.sourceEntity,
            let relationship = planner.source.schema.model.relationship(read, of: from)?.relationship
        else { return false }
        return found.isNaming ? relationship.name == origin : relationship.inverse == origin
    }

    /// The source many-to-many that a property carries completely: its mapping keeps keys, and every row at the other
    /// end has one result, with its key. nil otherwise.
    private func plainReading(_ property: PropertyMappingDescription, of index: Int) -> String? {
        let mapping = planner.entities[index].mapping.mapping
        guard mapping.policyClassName == nil, planner.keeping[index] == .always,
            let reading = Self.reading(property.expression), let entity = mapping.destinationEntity,
            case .join(let from)? = place(reading.relationship, of: mapping.sourceEntity, in: planner.source),
            case .join(let to)? = place(property.name, of: entity, in: planner.destination),
            from.isReflexive == to.isReflexive,
            let all = targets(
                Reading(relationship: reading.relationship, mapping: nil), of: from.relationship.destination,
                leadingTo: to.relationship.destination, from: index),
            // A look-up through one mapping that leaves out other mappings' rows isn't the whole table.
            all
                == targets(
                    reading, of: from.relationship.destination, leadingTo: to.relationship.destination, from: index)
        else { return nil }
        return reading.relationship
    }

    /// The source relationship whose links a join table carries as they are; nil if stage 2 links row by row.
    ///
    /// Every mapping of the naming side must read the same many-to-many, and both ends keep their keys. What sets the other
    /// end must read the same links: whichever is set later would win.
    func copied(_ table: JoinTable) -> String? {
        var origin: String?
        for index in planner.entities.indices {
            let mapping = planner.entities[index].mapping.mapping
            guard let entity = mapping.destinationEntity, mapping.kind != .remove, mapping.sourceEntity != nil,
                planner.destination.schema.model.isKind(entity, of: table.owner),
                let property = mapping.relationshipMappings.first(where: { $0.name == table.relationship }),
                property.expression != nil
            else { continue }
            guard let read = plainReading(property, of: index), origin == nil || origin == read else { return nil }
            origin = read
        }
        let others = table.isReflexive ? [] : setters(of: table.inverse, of: table.inverseOwner)
        let agree = others.allSatisfy { other in
            guard let read = plainReading(other.property, of: other.mapping),
                let from = planner.entities[other.mapping].mapping.mapping.sourceEntity
            else { return false }
            return planner.source.schema.model.relationship(read, of: from)?.relationship.inverse == origin
        }
        return agree ? origin : nil
    }
}

extension ObjectStepPlanner {
    /// The join tables that are copied.
    func joinCopies() throws(PlanError) -> [ObjectStep.JoinCopy] {
        let links = LinkPlanning(planner: self)
        let planner = TransferPlanner(
            mapping: skeleton(onlyKept: true), source: source.layout, destination: destination.layout)
        var result: [ObjectStep.JoinCopy] = []
        for table in destination.layout.joinTables where links.copied(table) != nil {
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
