package import CausewayMapping
import CausewayModel
import CausewaySQLite
package import CausewayStoreFormat

/// A row's link as cells of a statement over the rows that have it.
package struct LinkCells: Sendable {
    /// NULL if the row has no such link; the first of several links.
    package var key: RowShape.Cell
    /// The Z_ENT of the row at the other end; nil if there is only one.
    package var entity: RowShape.Cell?
    /// Z_ENTs at the other end to which such links end; if there is only one, all of them end.
    package var ended: Set<Int>
    /// The rows with a link to the same row, of which only the first keeps it; nil where each does.
    package var rivals: RowShape.RelatedKey?
}

extension StepPlan {
    /// The cells of a link of the source's.
    package func linkCells(_ links: LinkSource) throws(PlanError) -> LinkCells {
        let tables = SourceTables(layout: source)
        let resolved = try tables.resolve(links)
        // The names may include entities to which such a link can't lead.
        let ended = links.ended.filter { source.model.isKind($0, of: resolved.otherEntity) }
        var rivals: RowShape.RelatedKey?
        if links.keepsFirst, case .ownColumn(let own) = resolved.access {
            let key: SQLIdentifier = try identifier("Z_PK")
            let table: SQLIdentifier = try identifier(tables.table(of: resolved.thisEntity) ?? "")
            let without = tables.numbers(kindOf: resolved.thisEntity, without: links, in: mapping)
            rivals = .init(table: table, key: own.column, value: key, order: own.place)
            if !without.isEmpty {
                rivals?.besides = .init(column: key, table: table, entities: without.sorted())
            }
        }
        return LinkCells(
            key: try tables.keyCell(resolved), entity: try tables.entityCell(resolved),
            ended: Set(ended.compactMap { source.entityNumbers[$0] }), rivals: rivals)
    }
}

extension LinkCells {
    /// The row's place among its rivals.
    package var place: RowShape.Cell? {
        rivals.map { .position(owner: .column($0.key), by: $0.order ?? $0.value, besides: $0.besides?.entities ?? []) }
    }
}

extension SourceTables {
    /// Z_ENTs of the entity's kind whose rows don't bring such links along.
    func numbers(kindOf entity: String, without links: LinkSource, in mapping: MappingModel) -> Set<Int> {
        let names = model.entityAndSubentities(of: entity).filter { name in
            !(mapping.mapping(from: name)?.relationships ?? []).contains {
                $0.links?.relationship == links.relationship && $0.links?.isInverted == links.isInverted
            }
        }
        return Set(names.compactMap { layout.entityNumbers[$0] })
    }

    func keyCell(_ links: ResolvedLinks) throws(PlanError) -> RowShape.Cell {
        switch links.access {
        case .ownColumn(let own): .column(own.column)
        case .otherColumn, .join: .related(try related(links))
        }
    }

    /// The Z_ENT of the row at the other end as the source has it; nil where it can only be `links.otherEntity`'s.
    func entityCell(_ links: ResolvedLinks) throws(PlanError) -> RowShape.Cell? {
        let table = try identifier(table(of: links.otherEntity) ?? "")
        switch links.access {
        case .ownColumn(let own):
            if let entity = own.entity { return .column(entity) }
            guard model.entityAndSubentities(of: links.otherEntity).count > 1 else { return nil }
            // A virtual to-one has no column for the Z_ENT, though its owner may have subentities.
            let mine = RowShape.RelatedKey(
                table: try identifier(self.table(of: links.thisEntity) ?? ""), key: try identifier("Z_PK"),
                value: own.column)
            return .relatedEntity(mine, table: table)
        case .otherColumn, .join:
            return .relatedEntity(try related(links), table: table)
        }
    }

    /// The other end of a link that is stored in another table.
    func related(_ links: ResolvedLinks) throws(PlanError) -> RowShape.RelatedKey {
        switch links.access {
        case .ownColumn(let own):
            preconditionFailure("a link in the row's own column (\(own.column)) needs no look-up")
        case .otherColumn(let table, let column, let place):
            let key: SQLIdentifier = try identifier("Z_PK")
            var related = RowShape.RelatedKey(table: table, key: column, value: key, order: place)
            related.besides = try lost(of: links, keyedBy: key)
            return related
        case .join(let join):
            var related = RowShape.RelatedKey(
                table: join.table, key: join.mine, value: join.theirs, order: join.placeOfTheirs)
            related.besides = try lost(of: links, keyedBy: join.theirs)
            return related
        }
    }

    /// Of several links the first that stays counts: rows at the other end that go are no candidates.
    private func lost(
        of links: ResolvedLinks, keyedBy column: SQLIdentifier
    ) throws(PlanError) -> RowShape.RelatedKey.Besides? {
        guard let possible = layout.numbers(ofTree: links.otherEntity) else { return nil }
        let entities = links.lost.filter(possible.contains).sorted()
        guard !entities.isEmpty else { return nil }
        return .init(column: column, table: try identifier(table(of: links.otherEntity) ?? ""), entities: entities)
    }
}
