package import CausewayMapping
import CausewayModel
import CausewaySQLiteFile
package import CausewayStoreFormat

/// Turns a mapping and two layouts into passes: which statement streams which rows, and the recipe of every cell.
///
/// Keys are kept everywhere (an inferred mapping has one source row for each destination row, in one table), so links
/// are copied as they are; they are looked up only if the form of a relationship changes.
package struct TransferPlanner {
    let mapping: MappingModel
    let source: SourceTables
    let destination: StoreLayout
    /// Destination Z_ENT by source Z_ENT, for every migrated entity.
    let numbers: [Int: Int]
    /// Source Z_ENTs whose rows are dropped.
    let dropped: Set<Int>
    let foreignCells: ForeignCells
    /// Destination entities by the source entity whose rows become theirs.
    let becoming: [String: [String]]
    let planned = PlannedLinks()
    /// The versions that the steps make, in their order; empty where they aren't known.
    let versions: [(name: String, model: ManagedObjectModel)]
    /// The mappings whose rows end in a table, by its root entity; with the source's entity name.
    private let members: [String: [(source: String, mapping: EntityMapping)]]
    /// The destination table that is filled first from each source table.
    private let firstTables: [String: String]

    /// `source` has the names that the store really has; `steps` are those of a composed mapping, empty for a single
    /// step; `versions` are the names of those that they make; `fillsTables` tells whether Core Data would add columns
    /// in place.
    package init(
        mapping: MappingModel, source: StoreLayout, destination: StoreLayout, steps: [InferredStep] = [],
        versions: [String] = [], fillsTables: Bool = false
    ) {
        self.mapping = mapping
        let single = InferredStep(mapping: mapping, source: source.model, destination: destination.model)
        foreignCells = ForeignCells(steps.isEmpty ? [single] : steps, fillsTables: fillsTables)
        self.versions = Array(zip(versions, steps.isEmpty ? [destination.model] : steps.map(\.destination)))
        let tables = SourceTables(layout: source)
        self.source = tables
        self.destination = destination
        numbers = Self.renumbering(mapping, from: source, to: destination)
        dropped = Set(source.entityNumbers.values).subtracting(numbers.keys)
        var members: [String: [(source: String, mapping: EntityMapping)]] = [:]
        var becoming: [String: [String]] = [:]
        for entity in mapping.entityMappings {
            guard let from = entity.source, let to = entity.destination else { continue }
            becoming[from, default: []].append(to)
            members[destination.model.root(of: to), default: []].append((from, entity))
        }
        self.members = members
        self.becoming = becoming
        var firstTables: [String: String] = [:]
        for table in destination.tables {
            guard let from = members[table.rootEntity]?.first.flatMap({ tables.table(of: $0.source) }),
                firstTables[from] == nil
            else { continue }
            firstTables[from] = table.name
        }
        self.firstTables = firstTables
    }

    /// The passes that move entity rows and join rows, tables before join tables, each in layout order.
    ///
    /// - Throws: `PlanError` if the layouts or the mapping's literals make it impossible.
    package func passes() throws(PlanError) -> [RowPass] {
        var result: [RowPass] = []
        for table in destination.tables {
            if let pass = try entityPass(for: table) { result.append(pass) }
        }
        for table in destination.joinTables { result += try linkPasses(for: table) }
        return result
    }

    private func entityPass(for table: EntityTable) throws(PlanError) -> RowPass? {
        guard let members = members[table.rootEntity], let first = members.first,
            let sourceTable = source.table(of: first.source)
        else { return nil }
        var shape = RowShape(table: try identifier(sourceTable))
        let key = shape.index(of: .column(try identifier("Z_PK")))
        let discriminator = shape.index(of: .column(try identifier("Z_ENT")))
        var projections: [Int: RowProjection] = [:]
        let foreign = ForeignColumns()
        for member in members {
            guard let number = source.layout.entityNumbers[member.source] else { continue }
            projections[number] = try projection(
                of: member.mapping, from: member.source, table: table, foreign, shape: &shape)
        }
        let inTable = source.numbers(in: sourceTable)
        let gone = dropped.intersection(inTable)
        // The first pass over a table counts the rows that no pass moves.
        let isFirst = firstTables[sourceTable] == table.name
        var pass = RowPass(
            kind: .entity, title: table.rootEntity, shape: shape, destinationTable: table.name,
            destinationColumns: table.columns.map(\.name), key: key, discriminator: discriminator,
            projections: projections)
        pass.dropped = isFirst ? gone : []
        pass.elsewhere = inTable.subtracting(projections.keys).subtracting(pass.dropped)
        return pass
    }

    private func projection(
        of mapping: EntityMapping, from origin: String, table: EntityTable, _ foreign: ForeignColumns,
        shape: inout RowShape
    ) throws(PlanError) -> RowProjection {
        let entity = mapping.destination ?? ""
        var context = CellContext(
            entity: entity, kinds: Set(destination.model.kinds(of: entity)), origin: origin, mapping: mapping,
            row: foreignCells.row(of: origin), foreign: foreign)
        var cells: [CellRecipe] = []
        for (index, column) in table.columns.enumerated() {
            if let cell = knownForeign(index, column.role, context) {
                cells.append(cell)
                continue
            }
            context.column = index
            cells.append(try recipe(for: column.role, context, shape: &shape))
        }
        return RowProjection(entity: entity, cells: cells)
    }

    /// The row of a cell.
    struct CellContext {
        var entity: String
        /// The entity and its ancestors.
        var kinds: Set<String>
        var origin: String
        var mapping: EntityMapping
        var row: ForeignCells.Row
        var foreign: ForeignColumns
        /// The column's place in the table.
        var column = 0
    }

    private func recipe(
        for role: ColumnRole, _ context: CellContext, shape: inout RowShape
    ) throws(PlanError) -> CellRecipe {
        switch role {
        case .primaryKey: return .carry(shape.index(of: .column(try identifier("Z_PK"))))
        case .entityNumber: return entityNumber(of: context.entity)
        case .optimisticLock: return .carry(shape.index(of: .column(try identifier("Z_OPT"))))
        case .attribute(let owner, let path):
            guard context.kinds.contains(owner) else {
                return try foreignAttribute(path, of: owner, context, shape: &shape)
            }
            return try attribute(path, context, shape: &shape)
        case .toOne(let owner, let name): return try key(links(owner, name, context), shape: &shape)
        case .toOneEntity(let owner, let name): return try keyEntity(links(owner, name, context), shape: &shape)
        case .orderKey(let owner, let name): return try place(links(owner, name, context), shape: &shape)
        case .virtualToOne(let owner, let name): return try key(virtualLinks(owner, name, context), shape: &shape)
        case .virtualOrderKey(let owner, let name): return try place(virtualLinks(owner, name, context), shape: &shape)
        }
    }

    /// The links of a to-one that the row's entity has.
    private func links(_ owner: String, _ name: String, _ context: CellContext) throws(PlanError) -> ResolvedLinks? {
        guard context.kinds.contains(owner),
            let relationship = destination.model.relationship(name, of: owner)?.relationship,
            let links = context.mapping.relationship(name)?.links
        else { return nil }
        var resolved = try source.resolve(links)
        // Over several steps, links found by the inverse may belong to other entities of the table.
        guard source.model.isKind(context.origin, of: resolved.thisEntity) else { return nil }
        resolved.lost.formUnion(lost(kindOf: resolved.otherEntity, notBecoming: relationship.destination))
        resolved.keepsFirst = links.keepsFirst
        if links.keepsFirst {
            resolved.without = source.numbers(kindOf: resolved.thisEntity, without: links, in: mapping)
        }
        return resolved
    }

    /// The links of another entity's to-many without inverse, seen from the row at its other end.
    private func virtualLinks(
        _ owner: String, _ name: String, _ context: CellContext
    ) throws(PlanError) -> ResolvedLinks? {
        guard let relationship = destination.model.relationship(name, of: owner)?.relationship,
            context.kinds.contains(relationship.destination)
        else { return nil }
        let groups = try ownersLinks(owner, name)
        let used = groups.indices.filter { !groups[$0].ended.contains(context.origin) }
            // The relationship may have led to other entities; then the row has no column for it.
            .filter { source.model.isKind(context.origin, of: groups[$0].links.thisEntity) }
        guard let first = used.first else { return nil }
        let key = PlannedLinks.Column(owner: owner, relationship: name, groups: used)
        if let links = planned.virtual[key] { return links }
        guard used.allSatisfy({ groups[$0].links.identity == groups[first].links.identity }) else {
            throw .severalOrigins(entity: owner, relationship: name)
        }
        var links = groups[first].links
        // Owners that lacked the relationship in one version have no links, even if the last version has it again.
        links.lost.formUnion(
            used.reduce(into: numbers(kindOf: links.otherEntity)) { $0.subtract(groups[$1].owners) })
        planned.virtual[key] = links
        return links
    }

    /// The links of a to-many without inverse by their owners, seen from the other end.
    private func ownersLinks(_ owner: String, _ name: String) throws(PlanError) -> [PlannedLinks.Owners] {
        let key = PlannedLinks.Column(owner: owner, relationship: name, groups: [])
        if let known = planned.owners[key] { return known }
        var groups: [PlannedLinks.Owners] = []
        // The owner itself may be new: a parent for entities that had the relationship before.
        for entity in mapping.entityMappings {
            guard let to = entity.destination, destination.model.isKind(to, of: owner),
                var links = entity.relationship(name)?.links
            else { continue }
            let ended = links.ended
            links.isInverted.toggle()
            links.ended = []
            let resolved = try source.resolve(links)
            let number = entity.source.flatMap { source.layout.entityNumbers[$0] }
            if let place = groups.firstIndex(where: { $0.links.identity == resolved.identity && $0.ended == ended }) {
                if let number { groups[place].owners.insert(number) }
            } else {
                groups.append(.init(links: resolved, ended: ended, owners: Set([number].compactMap(\.self))))
            }
        }
        planned.owners[key] = groups
        return groups
    }
}

/// The planner's cache of links: the entities of a hierarchy inherit relationships, and each looks them up again.
final class PlannedLinks {
    struct Column: Hashable {
        var owner: String
        var relationship: String
        /// Indices of the owners whose links the row may have.
        var groups: [Int]
    }

    /// Entities whose links have one origin.
    struct Owners {
        var links: ResolvedLinks
        /// Source entities at the other end to which the links end.
        var ended: Set<String>
        /// Source Z_ENTs.
        var owners: Set<Int>
    }

    struct Pair: Hashable {
        var entity: String
        var kind: String
    }

    var owners: [Column: [Owners]] = [:]
    var virtual: [Column: ResolvedLinks] = [:]
    var lost: [Pair: Set<Int>] = [:]
}
