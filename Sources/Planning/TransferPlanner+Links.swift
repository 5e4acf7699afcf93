import CausewayMapping
import CausewayModel
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat

extension TransferPlanner {
    /// The key of the row at the other end; NULL without links.
    func key(_ links: ResolvedLinks?, shape: inout RowShape) throws(PlanError) -> CellRecipe {
        guard let links else { return .literal(.null) }
        return try kept(shape.index(of: source.keyCell(links)), links, shape: &shape)
    }

    /// The cell of a link, or of its place, if the link still exists in the destination.
    private func kept(_ cell: Int, _ links: ResolvedLinks, shape: inout RowShape) throws(PlanError) -> CellRecipe {
        guard !links.lost.isEmpty else { return try first(.carry(cell), links, shape: &shape) }
        guard let entity = try source.entityCell(links) else {
            let isLost = source.layout.entityNumbers[links.otherEntity].map { links.lost.contains($0) } ?? true
            return isLost ? .literal(.null) : try first(.carry(cell), links, shape: &shape)
        }
        return try first(.key(cell, entity: shape.index(of: entity), dropped: links.lost), links, shape: &shape)
    }

    func first(_ recipe: CellRecipe, _ links: ResolvedLinks, shape: inout RowShape) throws(PlanError) -> CellRecipe {
        guard links.keepsFirst, case .ownColumn(let own) = links.access else { return recipe }
        let key: SQLIdentifier = try identifier("Z_PK")
        let position = RowShape.Cell.position(
            owner: .column(own.column), by: own.place ?? key, besides: links.without.sorted())
        return .first(recipe, position: shape.index(of: position))
    }

    /// The row's place in the other end's ordered relationship; new lists are numbered by key. NULL without links.
    func place(_ links: ResolvedLinks?, shape: inout RowShape) throws(PlanError) -> CellRecipe {
        guard let links else { return .literal(.null) }
        let key: RowShape.Cell
        switch links.access {
        case .ownColumn(let own):
            if let place = own.place { return try kept(shape.index(of: .column(place)), links, shape: &shape) }
            key = .column(own.column)
        case .join(let join):
            if let place = join.placeOfMine {
                var order = try source.related(links)
                order.value = place
                order.order = join.placeOfTheirs ?? join.theirs
                return try kept(shape.index(of: .related(order)), links, shape: &shape)
            }
            key = .related(try source.related(links))
        case .otherColumn:
            key = .related(try source.related(links))
        }
        return try kept(shape.index(of: .position(owner: key, by: try identifier("Z_PK"))), links, shape: &shape)
    }

    /// Source Z_ENTs of `entity` and its subentities whose rows don't become rows of `kind`.
    func lost(kindOf entity: String, notBecoming kind: String) -> Set<Int> {
        let pair = PlannedLinks.Pair(entity: entity, kind: kind)
        if let known = planned.lost[pair] { return known }
        let names = source.model.entityAndSubentities(of: entity).filter {
            !(becoming[$0] ?? []).contains { destination.model.isKind($0, of: kind) }
        }
        let result = Set(names.compactMap { source.layout.entityNumbers[$0] })
        planned.lost[pair] = result
        return result
    }

    func numbers(kindOf entity: String) -> Set<Int> {
        Set(source.model.entityAndSubentities(of: entity).compactMap { source.layout.entityNumbers[$0] })
    }

    /// The passes that fill a join table: one for each set of source links that ends in it.
    func linkPasses(for table: JoinTable) throws(PlanError) -> [RowPass] {
        let own = try joinedLinks(of: table.relationship, declaredBy: table.owner, isInverse: false)
        let others = try joinedLinks(of: table.inverse, declaredBy: table.inverseOwner, isInverse: true)
        // The other end may know of more: subentities' relationships became one of their parent, each with its links.
        let isOwn = !own.isPartial && others.sets.subtracting(own.sets).isEmpty
        return try (isOwn || others.isPartial ? own : others).found.map { links throws(PlanError) in
            try linkPass(for: table, links.links, lostOwners: links.lostOwners)
        }
    }

    /// The links that one end of a join table has, as the end that names the table sees them.
    private struct JoinedLinks {
        var found: [(links: ResolvedLinks, lostOwners: Set<Int>)] = []
        /// The names of the source's relationships, each with its inverse.
        var sets: Set<Set<[String]>> = []
        /// It names one of several relationships.
        var isPartial = false
    }

    private func joinedLinks(
        of relationship: String, declaredBy owner: String, isInverse: Bool
    ) throws(PlanError) -> JoinedLinks {
        var result = JoinedLinks()
        guard let target = destination.model.relationship(relationship, of: owner)?.relationship.destination else {
            return result
        }
        var found: [(links: ResolvedLinks, entities: Set<Int>)] = []
        for entity in mapping.entityMappings {
            guard let name = entity.destination, destination.model.isKind(name, of: owner),
                let number = entity.source.flatMap({ source.layout.entityNumbers[$0] }),
                var links = entity.relationship(relationship)?.links
            else { continue }
            if isInverse { links.isInverted.toggle() }
            let resolved = try source.resolve(links, readsFirstEnd: true)
            if links.isPartial { result.isPartial = true }
            if let ends = source.ends(of: links) { result.sets.insert(ends) }
            if let index = found.firstIndex(where: { $0.links.identity == resolved.identity }) {
                found[index].entities.insert(number)
            } else {
                found.append((resolved, [number]))
            }
        }
        result.found = found.map { links, entities in
            var links = links
            let (mine, theirs) =
                isInverse ? (links.otherEntity, links.thisEntity) : (links.thisEntity, links.otherEntity)
            // Rows at this end that don't have the relationship in the destination, and at the other those that can't
            // be its objects.
            let here = numbers(kindOf: mine).subtracting(entities)
            let there = links.lost.union(lost(kindOf: theirs, notBecoming: target))
            links.lost = isInverse ? here : there
            return (links, isInverse ? there : here)
        }
        return result
    }

    /// `lostOwners` are source Z_ENTs on this side whose rows don't have the relationship in the destination.
    private func linkPass(
        for table: JoinTable, _ links: ResolvedLinks, lostOwners: Set<Int>
    ) throws(PlanError) -> RowPass {
        let primaryKey = try identifier("Z_PK")
        var shape: RowShape
        let (owner, other): (RowShape.Cell, RowShape.Cell)
        var places: (owner: RowShape.Cell?, other: RowShape.Cell?) = (nil, nil)
        switch links.access {
        case .ownColumn(let own):
            shape = RowShape(table: try identifier(source.table(of: links.thisEntity) ?? ""))
            (owner, other) = (.column(primaryKey), .column(own.column))
            places.owner = own.place.map { .column($0) }
            shape.conditions = [.notNull(other)]
        case .otherColumn(let otherTable, let column, let place):
            shape = RowShape(table: otherTable)
            (owner, other) = (.column(column), .column(primaryKey))
            places.other = place.map { .column($0) }
            shape.conditions = [.notNull(owner)]
        case .join(let join):
            shape = RowShape(table: join.table)
            (owner, other) = (.column(join.mine), .column(join.theirs))
            places = (join.placeOfMine.map { .column($0) }, join.placeOfTheirs.map { .column($0) })
        }
        try exclude(lostOwners, of: links.thisEntity, owner, from: &shape)
        try exclude(links.lost, of: links.otherEntity, other, from: &shape)
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
        shape.cells = cells
        // In key order, so that the new table and its automatic index both grow at their end. Core Data doesn't need
        // it: in all 23 Wire stores of one chain (2.8 to 2.101, frameworks 641 to 1145) join rows keep the order in
        // which the app made them, through rebuilt tables too, and nothing reads it: lists have Z_FOK columns. But rows
        // in that order would fill the automatic index at random: 3 million rows of random keys took 31 s so, 20 s in
        // key order by way of the source's index, 19 s read in rowid order and sorted (and 28, 20 and 13 s of processor
        // time); only the last grows with the rows alone.
        shape.order = [0, 1]
        let name = "\(table.owner).\(table.relationship)"
        return RowPass(
            kind: .links, title: name, shape: shape, destinationTable: table.name, destinationColumns: columns,
            key: nil, discriminator: nil,
            projections: [0: RowProjection(entity: name, cells: cells.indices.map { .carry($0) })])
    }

    private func name(of cell: RowShape.Cell) throws(PlanError) -> SQLIdentifier {
        guard case .column(let name) = cell else { return try identifier("Z_PK") }
        return name
    }

    /// Leaves out links of rows that are dropped, or that no longer have the relationship.
    private func exclude(
        _ numbers: Set<Int>, of entity: String, _ cell: RowShape.Cell, from shape: inout RowShape
    ) throws(PlanError) {
        guard !numbers.isEmpty, case .column(let column) = cell, let table = source.table(of: entity) else { return }
        shape.conditions.append(.targetIsNot(column, table: try identifier(table), entities: numbers.sorted()))
    }
}
