import CausewayEvaluation
import CausewayModel
import CausewayPlanning

/// Relationships: read from either end, and set with their inverses, since Core Data keeps both ends consistent.
extension ObjectContext {
    /// A relationship's owner and column, for remembering that a new row has members already.
    struct LinkedOwner: Hashable {
        var owner: ObjectID
        var table: Int
        var column: Int
    }

    func reference(_ object: ObjectID) throws(ObjectError) -> RowReference {
        if !isDetached || object.key > 0 { return .key(object.key) }
        let (table, row) = try locate(object)
        return .temporary(table: Int32(table), index: Int32(row))
    }

    func refers(_ cell: Cell, to reference: RowReference) -> Bool {
        switch (cell, reference) {
        case (.integer(let a), .key(let b)): a == b
        case (.temporary(let t, let i), .temporary(let u, let j)): t == u && i == j
        default: false
        }
    }

    /// Whether the row is new and other rows' cells hold its links.
    private func isNew(_ object: ObjectID) throws(ObjectError) -> Bool {
        if !isDetached || object.key > 0 {
            guard let table = map.table(of: object.entity), let row = tables[table].index(of: object.key)
            else { return false }
            return tables[table].isNew(row)
        }
        let (table, row) = try locate(object)
        return tables[table].isNew(row)
    }

    // MARK: - Setting

    /// Sets a to-one with its inverse.
    func setTarget(of link: ToOneStorage, in object: ObjectID, to target: ObjectID?) throws(ObjectError) {
        let old = try self.target(of: link, in: object)
        if let inverse = link.oneToOneInverse {
            if let old, old != target { try release(old, from: object, by: inverse) }
            if let target, case .toOne(let back)? = map.place(of: inverse, entity: target.entity) {
                if let partner = try self.target(of: back, in: target), partner != object, try !isDangling(partner) {
                    try clearColumns(of: link, in: partner)
                }
                try point(back, of: target, to: object)
            }
        } else if old == target {
            // Nothing changes, not even the place in an ordered inverse.
            return
        }
        guard let target else { return try clearColumns(of: link, in: object) }
        try point(link, of: object, to: target)
        if let order = link.orderColumn { try setCell(object, column: order, to: .appended) }
        if try isNew(target), let table = map.table(of: object.entity) {
            linkedOwners.insert(LinkedOwner(owner: target, table: table, column: link.column))
        }
    }

    /// Ends the other side of a one-to-one, if it points here.
    private func release(_ partner: ObjectID, from object: ObjectID, by inverse: PropertyHandle) throws(ObjectError) {
        guard case .toOne(let link)? = map.place(of: inverse, entity: partner.entity), try !isDangling(partner),
            try target(of: link, in: partner) == object
        else { return }
        try clearColumns(of: link, in: partner)
    }

    /// Whether a stored key is dangling. A worker can't know: there the partner is refused when it is used.
    private func isDangling(_ object: ObjectID) throws(ObjectError) -> Bool {
        guard statements != nil else { return false }
        return try !exists(object)
    }

    private func clearColumns(of link: ToOneStorage, in object: ObjectID) throws(ObjectError) {
        try setCell(object, column: link.column, to: .null)
        if let column = link.entityColumn { try setCell(object, column: column, to: .null) }
        if let column = link.orderColumn { try setCell(object, column: column, to: .null) }
    }

    private func point(_ link: ToOneStorage, of object: ObjectID, to target: ObjectID) throws(ObjectError) {
        try setCell(object, column: link.column, to: try reference(target).cell)
        if let column = link.entityColumn { try setCell(object, column: column, to: .integer(Int64(target.entity))) }
    }

    /// Makes `members` the members of a to-many whose other end holds the keys.
    func setMembers(
        of link: ToManyStorage, in object: ObjectID, to members: [ObjectID], key: PropertyKey
    ) throws(ObjectError) {
        for member in members { try require(member, isKind: link.relationship.destination, key, object) }
        if try mayHaveMembers(object, LinkedOwner(owner: object, table: link.table, column: link.column)) {
            let kept = Set(members)
            for old in try targets(of: .toMany(link), in: object) where !kept.contains(old) {
                try setKey(of: link, in: old, to: nil, place: .null)
            }
        }
        for (index, member) in members.enumerated() {
            try setKey(of: link, in: member, to: object, place: .integer(OrderPlace.at(index)))
        }
    }

    /// Adds one member; an existing member keeps its place.
    func addMember(
        _ member: ObjectID, to place: PropertyStorage, of object: ObjectID, key: PropertyKey
    ) throws(ObjectError) {
        guard let relationship = place.relationship else {
            throw ObjectError(.type, "\(name(object)).\(key.name) isn't a stored relationship")
        }
        try require(member, isKind: relationship.destination, key, object)
        switch place {
        case .toMany(let link):
            if refers(try cell(member, column: link.column), to: try reference(object)) { return }
            try setKey(of: link, in: member, to: object, place: .appended)
        case .join(let link): try join(link, object, member, place: nil)
        case .toOne(let link): try setTarget(of: link, in: object, to: member)
        case .attribute, .composite, .none: return
        }
    }

    /// Adds members to a to-many. In an ordered one they come after the members that aren't among them, in the given
    /// order, so that the order of an expression isn't lost where its members were linked from their own end before.
    func addMembers(
        _ members: [ObjectID], to place: PropertyStorage, of object: ObjectID, key: PropertyKey
    ) throws(ObjectError) {
        func others() throws(ObjectError) -> [ObjectID] {
            let given = Set(members)
            return try targets(of: place, in: object).filter { !given.contains($0) }
        }
        switch place {
        case .toMany(let link) where link.orderColumn != nil:
            let first =
                try mayHaveMembers(object, LinkedOwner(owner: object, table: link.table, column: link.column))
                ? others() : []
            try setMembers(of: link, in: object, to: first + members, key: key)
        case .join(let link) where link.placeOfTheirs != nil:
            let first = try mayHaveMembers(object, LinkedOwner(owner: object, table: -1, column: 0)) ? others() : []
            try setMembers(of: link, in: object, to: first + members, key: key)
        default: for member in members { try addMember(member, to: place, of: object, key: key) }
        }
    }

    /// Removes one member.
    func removeMember(_ member: ObjectID, from place: PropertyStorage, of object: ObjectID) throws(ObjectError) {
        try requireChangeable(object)
        guard member.side == side else { return }
        switch place {
        case .toMany(let link):
            // A key identifies a row only together with the table.
            guard map.table(of: member.entity) == link.table,
                refers(try cell(member, column: link.column), to: try reference(object))
            else { return }
            try setKey(of: link, in: member, to: nil, place: .null)
        case .join(let link):
            guard map.table(of: member.entity) == link.otherTable else { return }
            linkChanges.append(.remove(link, mine: try reference(object), theirs: try reference(member)))
        case .toOne(let link):
            if try target(of: link, in: object) == member { try setTarget(of: link, in: object, to: nil) }
        case .attribute, .composite, .none: return
        }
    }

    private func setKey(
        of link: ToManyStorage, in member: ObjectID, to owner: ObjectID?, place: Cell
    ) throws(ObjectError) {
        var key = Cell.null
        if let owner { key = try reference(owner).cell }
        try setCell(member, column: link.column, to: key)
        if let column = link.entityColumn {
            try setCell(member, column: column, to: owner.map { .integer(Int64($0.entity)) } ?? .null)
        }
        if let column = link.orderColumn {
            try setCell(member, column: column, to: owner == nil ? .null : place)
            if owner != nil { try notePlace(member, column: column) }
        }
        if let owner, try isNew(owner) {
            linkedOwners.insert(LinkedOwner(owner: owner, table: link.table, column: link.column))
        }
    }

    /// Makes `members` the members of a many-to-many relationship.
    func setMembers(
        of link: JoinStorage, in object: ObjectID, to members: [ObjectID], key: PropertyKey
    ) throws(ObjectError) {
        try requireChangeable(object)
        for member in members { try require(member, isKind: link.relationship.destination, key, object) }
        if try mayHaveMembers(object, LinkedOwner(owner: object, table: -1, column: 0)) {
            if link.placeOfMine == nil {
                linkChanges.append(.removeAll(link, mine: try reference(object)))
            } else {
                // Members that stay keep the object's place in their own order.
                let kept = Set(members)
                for old in try targets(of: .join(link), in: object) where !kept.contains(old) {
                    linkChanges.append(.remove(link, mine: try reference(object), theirs: try reference(old)))
                }
            }
        }
        for (index, member) in members.enumerated() {
            try join(link, object, member, place: OrderPlace.at(index))
        }
    }

    private func join(_ link: JoinStorage, _ object: ObjectID, _ member: ObjectID, place: Int64?) throws(ObjectError) {
        try requireChangeable(object)
        linkChanges.append(
            .insert(link, mine: try reference(object), theirs: try reference(member), placeOfTheirs: place))
        hasNewJoins = true
    }

    /// Whether rows may point to the object: not to a new one without a link yet.
    private func mayHaveMembers(_ object: ObjectID, _ owner: LinkedOwner) throws(ObjectError) -> Bool {
        guard try isNew(object) else { return true }
        return owner.table < 0 ? hasNewJoins : linkedOwners.contains(owner)
    }
}
