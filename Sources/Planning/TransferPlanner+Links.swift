import CausewayMapping
import CausewayModel
import CausewaySQLite
import CausewayStoreFormat

extension TransferPlanner {
    /// The key of the row at the other end.
    func key(_ links: ResolvedLinks, select: inout RowSelect) throws(PlanError) -> CellRecipe {
        switch links.access {
        case .ownColumn(let own):
            let key = select.index(of: .column(own.column))
            guard let entity = own.entity, !goneTargets(links).isEmpty else { return .carry(key) }
            return .key(key, entity: select.index(of: .column(entity)), dropped: goneTargets(links))
        case .otherColumn, .join:
            return .carry(select.index(of: .related(try related(links))))
        }
    }

    /// The Z_ENT of the row at the other end.
    func keyEntity(_ links: ResolvedLinks, select: inout RowSelect) throws(PlanError) -> CellRecipe {
        switch links.access {
        case .ownColumn(let own):
            if let entity = own.entity {
                return .entityNumber(select.index(of: .column(entity)), numbers: numbers)
            }
            // Without subentities in the source, every target is of the declared entity.
            guard let from = source.layout.entityNumbers[links.otherEntity], let to = numbers[from] else {
                return .literal(.null)
            }
            return .literalIfPresent(select.index(of: .column(own.column)), .integer(Int64(to)))
        case .otherColumn, .join:
            let table = try identifier(source.table(of: links.otherEntity) ?? "")
            return .entityNumber(
                select.index(of: .relatedEntity(try related(links), table: table)), numbers: numbers)
        }
    }

    /// The row's place in the other end's ordered relationship; new lists are numbered by key.
    func place(_ links: ResolvedLinks, select: inout RowSelect) throws(PlanError) -> CellRecipe {
        let key: RowSelect.Cell
        switch links.access {
        case .ownColumn(let own):
            if let place = own.place { return .carry(select.index(of: .column(place))) }
            key = .column(own.column)
        case .join(let join):
            if let place = join.placeOfMine {
                var order = try related(links)
                order.value = place
                order.order = join.placeOfTheirs ?? join.theirs
                return .carry(select.index(of: .related(order)))
            }
            key = .related(try related(links))
        case .otherColumn:
            key = .related(try related(links))
        }
        return .carry(select.index(of: .position(owner: key, by: try identifier("Z_PK"))))
    }

    private func related(_ links: ResolvedLinks) throws(PlanError) -> RowSelect.RelatedKey {
        switch links.access {
        case .ownColumn(let own):
            preconditionFailure("a link in the row's own column (\(own.column)) needs no look-up")
        case .otherColumn(let table, let column, let place):
            return .init(table: table, key: column, value: try identifier("Z_PK"), order: place)
        case .join(let join):
            return .init(table: join.table, key: join.mine, value: join.theirs, order: join.placeOfTheirs)
        }
    }

    /// Source Z_ENTs at the other end whose rows are dropped.
    private func goneTargets(_ links: ResolvedLinks) -> Set<Int> {
        gone(kindOf: links.otherEntity)
    }

    private func gone(kindOf entity: String) -> Set<Int> {
        dropped.filter { source.model.isKind(source.layout.entities[$0 - 1], of: entity) }
    }

    /// The passes that fill a join table: one for each set of source links that ends in it.
    func linkPasses(for table: JoinTable) throws(PlanError) -> [RowPass] {
        var passes: [RowPass] = []
        var seen: Set<[String]> = []
        for entity in mapping.entityMappings {
            guard let name = entity.destination, let origin = entity.source,
                destination.model.isKind(name, of: table.owner),
                let links = entity.relationship(table.relationship)?.links
            else { continue }
            let resolved = try source.resolve(links)
            guard seen.insert(resolved.identity).inserted else { continue }
            passes.append(try linkPass(for: table, resolved, owner: origin))
        }
        return passes
    }

    private func linkPass(for table: JoinTable, _ links: ResolvedLinks, owner: String) throws(PlanError) -> RowPass {
        let primaryKey = try identifier("Z_PK")
        var select: RowSelect
        var owner: RowSelect.Cell
        var other: RowSelect.Cell
        var places: (owner: RowSelect.Cell?, other: RowSelect.Cell?) = (nil, nil)
        switch links.access {
        case .ownColumn(let own):
            select = RowSelect(table: try identifier(source.table(of: links.thisEntity) ?? ""))
            (owner, other) = (.column(primaryKey), .column(own.column))
            places.owner = own.place.map { .column($0) }
            select.conditions = [.notNull(other)]
        case .otherColumn(let otherTable, let column, let place):
            select = RowSelect(table: otherTable)
            (owner, other) = (.column(column), .column(primaryKey))
            places.other = place.map { .column($0) }
            select.conditions = [.notNull(owner)]
        case .join(let join):
            select = RowSelect(table: join.table)
            (owner, other) = (.column(join.mine), .column(join.theirs))
            places = (join.placeOfMine.map { .column($0) }, join.placeOfTheirs.map { .column($0) })
        }
        try excludeGone(links, owner: owner, other: other, from: &select)
        var columns = [table.ownerColumn, table.destinationColumn]
        var cells = [owner, other]
        if let column = table.ownerOrderColumn {
            columns.append(column)
            cells.append(places.owner ?? .position(owner: other, by: try name(of: owner)))
        }
        if let column = table.destinationOrderColumn {
            columns.append(column)
            cells.append(places.other ?? .position(owner: owner, by: try name(of: other)))
        }
        select.cells = cells
        // In key order, so that the table and its automatic index both grow at their end.
        select.order = [1, 2]
        return RowPass(
            kind: .links, title: "\(table.owner).\(table.relationship)", select: select,
            sourceTable: select.table.name, destinationTable: table.name, destinationColumns: columns, key: nil,
            discriminator: nil,
            projections: [
                0: RowProjection(
                    entity: "\(table.owner).\(table.relationship)", cells: cells.indices.map { .carry($0) })
            ])
    }

    private func name(of cell: RowSelect.Cell) throws(PlanError) -> SQLIdentifier {
        guard case .column(let name) = cell else { return try identifier("Z_PK") }
        return name
    }

    /// Links of dropped rows end with them.
    private func excludeGone(
        _ links: ResolvedLinks, owner: RowSelect.Cell, other: RowSelect.Cell, from select: inout RowSelect
    ) throws(PlanError) {
        for (cell, entity) in [(owner, links.thisEntity), (other, links.otherEntity)] {
            let numbers = gone(kindOf: entity).sorted()
            guard !numbers.isEmpty, case .column(let column) = cell, let table = source.table(of: entity) else {
                continue
            }
            select.conditions.append(
                .targetIsNot(column, table: try identifier(table), entities: numbers))
        }
    }
}
