import CausewayMapping
import CausewayModel
import CausewaySQLite
import CausewayStoreFormat

/// How to get from a row of the source to the rows that one of its relationships leads to.
enum LinkAccess {
    /// The key is in the row itself.
    case ownColumn(OwnColumn)
    /// The key of this row is in the other end's table.
    case otherColumn(table: SQLIdentifier, column: SQLIdentifier, placeOfOther: SQLIdentifier?)
    case join(Join)

    struct OwnColumn {
        var column: SQLIdentifier
        /// The column with the target's Z_ENT, where the declared destination has subentities.
        var entity: SQLIdentifier?
        /// This row's place in the target's ordered relationship.
        var place: SQLIdentifier?
    }

    struct Join {
        var table: SQLIdentifier
        var mine: SQLIdentifier
        var theirs: SQLIdentifier
        /// This row's place in the other end's ordered relationship.
        var placeOfMine: SQLIdentifier?
        /// The other end's place in this row's ordered relationship.
        var placeOfTheirs: SQLIdentifier?
    }
}

/// The links of a source relationship, resolved to where the store keeps them.
struct ResolvedLinks {
    var access: LinkAccess
    /// The entity at the other end, as declared in the source.
    var otherEntity: String
    /// The entity on this side, as declared in the source.
    var thisEntity: String
    /// A row has at most one link.
    var isToOne: Bool
    /// The row at the other end has at most one link, in a column of its own.
    var isOtherToOne: Bool
    /// Source Z_ENTs at the other end whose rows can't be targets in the destination or in a version in between: they
    /// are dropped, or become rows of an entity to which the relationship doesn't lead.
    var lost: Set<Int> = []
    /// As in `LinkSource`.
    var keepsFirst = false
    /// Source Z_ENTs on this side whose rows don't have the links in the destination: of several rows with a link to
    /// one object, they are not the first.
    var without: Set<Int> = []
    /// Identifies the set of links: two resolutions with the same identity read the same links.
    var identity: [String]
}

/// The source store as the planner sees it: its model and the names that its tables and columns really have.
struct SourceTables {
    let layout: StoreLayout

    var model: ManagedObjectModel { layout.model }

    /// Z_ENTs of the entities whose rows are in a table.
    func numbers(in table: String) -> Set<Int> {
        guard let table = layout.table(named: table), let numbers = layout.numbers(ofTree: table.rootEntity) else {
            return []
        }
        return Set(numbers)
    }

    /// The table that holds the rows of `entity`.
    func table(of entity: String) -> String? { layout.table(of: entity)?.name }

    /// Where the links of `source` are stored, seen from the rows of the destination relationship. `readsFirstEnd`, of
    /// a one-to-one, reads the column of the end whose name comes first, whichever end a join table is named by: both
    /// ends have one, and they may disagree.
    func resolve(_ source: LinkSource, readsFirstEnd: Bool = false) throws(PlanError) -> ResolvedLinks {
        guard let (owner, relationship) = model.relationship(source.relationship, of: source.entity) else {
            throw .missingInSource(entity: source.entity, property: source.relationship)
        }
        let inverse = model.inverse(of: relationship).flatMap { $0.relationship.isTransient ? nil : $0 }
        let forward = End(owner: owner, relationship: relationship)
        let backward = inverse.map { End(owner: $0.owner, relationship: $0.relationship) }
        let identity =
            [owner, relationship.name, source.isInverted ? "inverted" : "forward"] + source.ended.sorted()
        let (mine, other) = source.isInverted ? (backward, Optional(forward)) : (Optional(forward), backward)
        var near = mine
        if readsFirstEnd, let mine, let other, !mine.relationship.isToMany, !other.relationship.isToMany,
            (other.owner, other.relationship.name) < (mine.owner, mine.relationship.name)
        {
            near = nil
        }
        return ResolvedLinks(
            access: try access(mine: near, other: other, declared: forward),
            otherEntity: source.isInverted ? owner : relationship.destination,
            thisEntity: source.isInverted ? relationship.destination : owner,
            isToOne: mine.map { !$0.relationship.isToMany } ?? !(other?.relationship.isToMany ?? true),
            isOtherToOne: other.map { !$0.relationship.isToMany } ?? false,
            lost: Set(source.ended.compactMap { layout.entityNumbers[$0] }), identity: identity)
    }

    /// The names of both ends of a set of links.
    func ends(of links: LinkSource) -> Set<[String]>? {
        guard let found = model.relationship(links.relationship, of: links.entity) else { return nil }
        let inverse = model.inverse(of: found.relationship).map { [$0.owner, $0.relationship.name] }
        return Set([[found.owner, found.relationship.name]] + [inverse].compactMap(\.self))
    }

    private struct End {
        var owner: String
        var relationship: Relationship
    }

    private func access(mine: End?, other: End?, declared: End) throws(PlanError) -> LinkAccess {
        if let mine, !mine.relationship.isToMany {
            let key = (mine.owner, mine.relationship.name)
            return .ownColumn(
                .init(
                    column: try named(.toOne(entity: key.0, relationship: key.1), declared).column,
                    entity: try optional(.toOneEntity(entity: key.0, relationship: key.1)),
                    place: try optional(.orderKey(entity: key.0, relationship: key.1))))
        }
        if let other, !other.relationship.isToMany {
            let key = (other.owner, other.relationship.name)
            let found = try named(.toOne(entity: key.0, relationship: key.1), declared)
            return .otherColumn(
                table: found.table, column: found.column,
                placeOfOther: try optional(.orderKey(entity: key.0, relationship: key.1)))
        }
        guard let mine, other != nil else {
            // A to-many without inverse: its owner's key is in a virtual column of the destination's table.
            let key = (declared.owner, declared.relationship.name)
            let found = try named(.virtualToOne(owner: key.0, relationship: key.1), declared)
            let place = try optional(.virtualOrderKey(owner: key.0, relationship: key.1))
            return mine == nil
                ? .ownColumn(.init(column: found.column, entity: nil, place: place))
                : .otherColumn(table: found.table, column: found.column, placeOfOther: place)
        }
        return .join(try join(mine))
    }

    private func join(_ mine: End) throws(PlanError) -> LinkAccess.Join {
        guard let (table, isNaming) = layout.joinTable(of: mine.relationship.name, declaredBy: mine.owner) else {
            throw .missingInSource(entity: mine.owner, property: mine.relationship.name)
        }
        let ends = try JoinEnds(table, isNaming: isNaming)
        return LinkAccess.Join(
            table: try identifier(table.name), mine: ends.mine.key, theirs: ends.theirs.key,
            placeOfMine: ends.mine.place, placeOfTheirs: ends.theirs.place)
    }

    private func named(
        _ role: ColumnRole, _ declared: End
    ) throws(PlanError) -> (table: SQLIdentifier, column: SQLIdentifier) {
        guard let table = layout.table(holding: role), let column = layout.column(role) else {
            throw .missingInSource(entity: declared.owner, property: declared.relationship.name)
        }
        return (try identifier(table), try identifier(column.name))
    }

    private func optional(_ role: ColumnRole) throws(PlanError) -> SQLIdentifier? {
        try identifier(layout.column(role)?.name)
    }
}

/// The columns of a join table as one of its ends sees them.
struct JoinEnds {
    typealias End = (key: SQLIdentifier, place: SQLIdentifier?)

    let mine: End
    let theirs: End

    init(_ table: JoinTable, isNaming: Bool) throws(PlanError) {
        let owner = End(try identifier(table.ownerColumn), try identifier(table.ownerOrderColumn))
        let destination = End(try identifier(table.destinationColumn), try identifier(table.destinationOrderColumn))
        (mine, theirs) = isNaming ? (owner, destination) : (destination, owner)
    }
}

func identifier(_ name: String?) throws(PlanError) -> SQLIdentifier? {
    guard let name else { return nil }
    return try identifier(name) as SQLIdentifier
}

func identifier(_ name: String) throws(PlanError) -> SQLIdentifier {
    do {
        return try SQLIdentifier(name)
    } catch {
        throw .unusableName(error.description)
    }
}
