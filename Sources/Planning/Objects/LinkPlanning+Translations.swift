import CausewayEvaluation
import CausewayMapping
import CausewayModel
import CausewayStoreFormat

/// Many-to-manys whose links follow from those of the source, though rows at their ends get new keys.
extension LinkPlanning {
    /// A mapping that sets one end of a join table to links of the source's.
    private struct JoinSetter {
        let mapping: Int
        /// The source's many-to-many that it reads.
        let link: JoinStorage
        /// Mappings that make the rows at the other end.
        let targets: Set<Int>
    }

    /// The ends of a join table: the entity, and its relationship.
    private typealias End = (entity: String, relationship: String)

    /// How the links of a join table are made from those of the source, all at once; nil if stage 2 must link row by
    /// row.
    ///
    /// One end may be set alone, or both by mappings that read the same links: then either says everything.
    func translation(of table: JoinTable) -> ObjectStep.JoinTranslation? {
        if let known = planner.memory.translations[table.name] { return known.value }
        let translation = findTranslation(of: table)
        planner.memory.translations[table.name] = LinkMemory.Known(value: translation)
        return translation
    }

    private func findTranslation(of table: JoinTable) -> ObjectStep.JoinTranslation? {
        guard planner.hasNoPolicy, !planner.readsSubentities, !table.isReflexive, !table.isPairInOneEntity,
            table.ownerOrderColumn == nil, table.destinationOrderColumn == nil, !isCopied(table)
        else { return nil }
        let ends: [End] = [(table.owner, table.relationship), (table.inverseOwner, table.inverse)]
        let all = ends.map { setters(of: $0.relationship, of: $0.entity) }
        let first = all[0].isEmpty ? 1 : 0
        guard let own = known(all[first], at: ends[first]), !own.isEmpty,
            case .join(let link)? = place(ends[first].relationship, of: ends[first].entity, in: destination),
            let parts = parts(own)
        else { return nil }
        let others = first == 0 ? all[1] : []
        if !others.isEmpty {
            guard let mirrored = known(others, at: ends[1]), mirror(mirrored, own) else { return nil }
        }
        return ObjectStep.JoinTranslation(link: link, parts: parts, relationships: [])
    }

    /// Whether the links of a property are made with those of its whole table.
    func isTranslated(_ property: PropertyMappingDescription, of index: Int) -> Bool {
        guard let entity = planner.entities[index].mapping.mapping.destinationEntity,
            let owner = destination.schema.model.relationship(property.name, of: entity)?.owner,
            let found = destination.layout.joinTable(of: property.name, declaredBy: owner)
        else { return false }
        return translation(of: found.table) != nil
    }

    /// What they read; nil if one of them reads anything else than a many-to-many whose ends are known.
    private func known(_ setters: [Setter], at end: End) -> [JoinSetter]? {
        guard
            let kind = destination.schema.model.relationship(end.relationship, of: end.entity)?
                .relationship.destination
        else { return nil }
        var result: [JoinSetter] = []
        for setter in setters {
            let (index, property) = (setter.mapping, setter.property)
            let mapping = planner.entities[index].mapping.mapping
            guard planner.followsSource(index), let reading = Self.reading(property.expression),
                isUnique(reading.mapping, for: index),
                case .join(let link)? = place(reading.relationship, of: mapping.sourceEntity, in: source),
                !link.isReflexive
            else { return nil }
            guard let made = candidates(reading, of: link.relationship.destination, leadingTo: kind, from: index),
                !made.isEmpty,
                made.values.allSatisfy({ $0.count == 1 && $0.allSatisfy { planner.followsSource($0) } })
            else { return nil }
            let targets = Set(made.values.joined())
            guard hasAllKept(targets, of: link.relationship.destination, kind: kind) else { return nil }
            result.append(JoinSetter(mapping: index, link: link, targets: targets))
        }
        return result
    }

    /// Whether no other mapping makes rows that have the keys of an entity's rows, or may have them: a link to one of
    /// those would seem to lead to a row of `mappings`.
    private func hasAllKept(_ mappings: Set<Int>, of declared: String, kind: String) -> Bool {
        guard mappings.contains(where: { planner.keeping[$0] == .always }) else { return true }
        let table = destination.number(of: kind).flatMap { destination.table(of: $0) }
        return planner.entities.indices.allSatisfy { index in
            let mapping = planner.entities[index].mapping.mapping
            guard planner.keeping[index] != .never, mapping.kind != .remove, let from = mapping.sourceEntity,
                source.schema.model.isKind(from, of: declared),
                destination.number(of: mapping.destinationEntity).flatMap({ destination.table(of: $0) }) == table
            else { return true }
            return mappings.contains(index)
        }
    }

    /// One part for each mapping with new keys, and one for those of a source's join table that keep theirs.
    private func parts(_ setters: [JoinSetter]) -> [ObjectStep.JoinTranslation.Part]? {
        var result: [ObjectStep.JoinTranslation.Part] = []
        var kept: [String: Int] = [:]
        for setter in setters {
            let part = ObjectStep.JoinTranslation.Part(
                link: setter.link, owners: [setter.mapping], targets: setter.targets.sorted())
            guard planner.keeping[setter.mapping] == .always else {
                result.append(part)
                continue
            }
            let key = "\(setter.link.table).\(setter.link.mine)"
            if let place = kept[key] {
                guard result[place].targets == part.targets else { return nil }
                result[place].owners.append(setter.mapping)
            } else {
                kept[key] = result.count
                result.append(part)
            }
        }
        for part in result {
            // The relationship may be declared by an ancestor, whose other entities have links in the same table.
            let mapping = planner.entities[part.owners[0]].mapping.mapping
            guard let from = mapping.sourceEntity,
                let declarer = source.schema.model.relationship(part.link.relationship.name, of: from)?.owner,
                let kind = mapping.destinationEntity, hasAllKept(Set(part.owners), of: declarer, kind: kind)
            else { return nil }
        }
        return result
    }

    /// Whether the setters of the other end link the same rows.
    private func mirror(_ others: [JoinSetter], _ own: [JoinSetter]) -> Bool {
        guard let link = own.first?.link, own.allSatisfy({ $0.link.table == link.table && $0.link.mine == link.mine })
        else { return false }
        let owners = Set(own.map(\.mapping))
        return others.allSatisfy { other in
            other.link.table == link.table && other.link.mine == link.theirs && other.targets == owners
                && own.allSatisfy { $0.targets.contains(other.mapping) }
        }
    }
}

extension ObjectStepPlanner {
    /// The join tables whose links follow from the source's.
    func translations() -> [ObjectStep.JoinTranslation] {
        let links = LinkPlanning(planner: self)
        return destination.layout.joinTables.compactMap { table in
            guard var translation = links.translation(of: table) else { return nil }
            translation.relationships = fills(translated, of: table)
            return translation
        }
    }
}
