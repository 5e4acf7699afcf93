import CausewayEvaluation
import CausewayModel
import CausewaySQLite

/// Relationships: read from either end, set with their inverses, as Core Data keeps both ends in step.
extension ObjectContext {
    /// A relationship's owner and column, for remembering that a new row has members already.
    struct LinkedOwner: Hashable {
        var owner: ObjectID
        var table: Int
        var column: Int
    }

    func reference(_ object: ObjectID) throws(ObjectError) -> RowReference {
        if object.key > 0 { return .key(object.key) }
        let (table, row) = try locate(object)
        return .temporary(table: Int32(table), index: Int32(row))
    }

    // MARK: - Reading

    /// A to-one's target.
    func target(of link: ToOneStorage, in object: ObjectID) throws(ObjectError) -> ObjectID? {
        switch try cell(object, column: link.column) {
        case .integer(let key):
            guard let column = link.entityColumn else { return ObjectID(side: side, entity: link.destination, key: key) }
            guard case .integer(let entity) = try cell(object, column: column) else {
                return ObjectID(side: side, entity: link.destination, key: key)
            }
            return ObjectID(side: side, entity: Int32(truncatingIfNeeded: entity), key: key)
        case .temporary(let table, let index):
            return ObjectID(side: side, entity: tables[Int(table)].entities[Int(index)], key: -Int64(index) - 1)
        case .null: return nil
        case .real, .text, .blob, .carried, .appended:
            throw ObjectError(.type, "\(name(object)).\(link.relationship.name): the stored key isn't an integer")
        }
    }

    /// A to-many's members in the relationship's order, else by key.
    func targets(of place: PropertyStorage, in object: ObjectID) throws(ObjectError) -> [ObjectID] {
        guard let statements else { return try pendingTargets(of: place, in: object) }
        try flushForReading()
        guard let sql = memberSQL(of: place, count: false) else { return [] }
        do {
            let box = try statements.statement(sql)
            try bindOwner(object, of: place, to: box)
            var result: [ObjectID] = []
            while try box.statement.step() {
                result.append(
                    ObjectID(
                        side: side, entity: Int32(truncatingIfNeeded: box.statement.int64(at: 1)),
                        key: box.statement.int64(at: 0)))
            }
            box.statement.reset()
            return result
        } catch {
            throw ObjectError(error, during: name(object))
        }
    }

    func targetCount(of place: PropertyStorage, in object: ObjectID) throws(ObjectError) -> Int {
        if case .toOne(let link) = place { return try target(of: link, in: object) == nil ? 0 : 1 }
        guard let statements else { return try pendingTargets(of: place, in: object).count }
        try flushForReading()
        guard let sql = memberSQL(of: place, count: true) else { return 0 }
        do {
            let box = try statements.statement(sql)
            try bindOwner(object, of: place, to: box)
            let count = try box.statement.step() ? Int(box.statement.int64(at: 0)) : 0
            box.statement.reset()
            return count
        } catch {
            throw ObjectError(error, during: name(object))
        }
    }

    private func bindOwner(_ object: ObjectID, of place: PropertyStorage, to box: StatementBox) throws(SQLiteError) {
        try box.statement.bind(object.key, at: 1)
    }

    private func memberSQL(of place: PropertyStorage, count: Bool) -> String? {
        switch place {
        case .toMany(let link):
            let table = map.tables[link.table]
            if count { return "SELECT count(*) FROM \(table.name) WHERE \(table.columns[link.column]) = ?1" }
            let order = link.orderColumn.map { "\(table.columns[$0]), " } ?? ""
            return """
                SELECT "Z_PK", "Z_ENT" FROM \(table.name) WHERE \(table.columns[link.column]) = ?1 ORDER BY \(order)"Z_PK"
                """
        case .join(let link):
            let other = map.tables[link.otherTable].name
            let order = link.placeOfTheirs.map { "j.\($0), " } ?? ""
            let forward = "SELECT j.\(link.theirs) AS k FROM \(link.table) AS j WHERE j.\(link.mine) = ?1"
            if link.isReflexive {
                let both = "\(forward) UNION SELECT j.\(link.mine) FROM \(link.table) AS j WHERE j.\(link.theirs) = ?1"
                if count { return "SELECT count(*) FROM (\(both))" }
                return """
                    SELECT o."Z_PK", o."Z_ENT" FROM (\(both)) AS l JOIN \(other) AS o ON o."Z_PK" = l.k ORDER BY 1
                    """
            }
            if count { return "SELECT count(*) FROM (\(forward))" }
            return """
                SELECT o."Z_PK", o."Z_ENT" FROM \(link.table) AS j JOIN \(other) AS o ON o."Z_PK" = j.\(link.theirs) \
                WHERE j.\(link.mine) = ?1 ORDER BY \(order)o."Z_PK"
                """
        case .attribute, .composite, .toOne, .none: return nil
        }
    }

    /// The members among the rows of this batch.
    private func pendingTargets(of place: PropertyStorage, in object: ObjectID) throws(ObjectError) -> [ObjectID] {
        let me = try reference(object)
        switch place {
        case .toMany(let link):
            let table = tables[link.table]
            var found: [(place: Int64, id: ObjectID)] = []
            for row in 0..<table.count where !table.isRemoved(row) && refers(table.cell(row, link.column), to: me) {
                var order = Int64.max
                if let column = link.orderColumn, case .integer(let value) = table.cell(row, column) { order = value }
                let key = table.keys[row] != 0 ? table.keys[row] : -Int64(row) - 1
                found.append((order, ObjectID(side: side, entity: table.entities[row], key: key)))
            }
            // Stable: rows without a place keep the order in which they were made.
            return found.enumerated().sorted {
                ($0.element.place, $0.offset) < ($1.element.place, $1.offset)
            }.map(\.element.id)
        case .join(let link):
            var members: [RowReference] = []
            for change in linkChanges {
                switch change {
                case .insert(let join, let mine, let theirs, _) where join.table == link.table:
                    if mine == me, join.mine == link.mine { members.append(theirs) }
                    if theirs == me, join.theirs == link.mine { members.append(mine) }
                case .remove(let join, let mine, let theirs) where join.table == link.table && mine == me:
                    members.removeAll { $0 == theirs }
                case .removeAll(let join, let mine) where join.table == link.table && mine == me: members = []
                default: continue
                }
            }
            return members.compactMap { member in
                switch member {
                case .temporary(let table, let index):
                    return ObjectID(side: side, entity: tables[Int(table)].entities[Int(index)], key: -Int64(index) - 1)
                case .key(let key):
                    guard let row = tables[link.otherTable].index(of: key) else { return nil }
                    return ObjectID(side: side, entity: tables[link.otherTable].entities[row], key: key)
                }
            }
        case .attribute, .composite, .toOne, .none: return []
        }
    }

    private func refers(_ cell: Cell, to reference: RowReference) -> Bool {
        switch (cell, reference) {
        case (.integer(let a), .key(let b)): a == b
        case (.temporary(let t, let i), .temporary(let u, let j)): t == u && i == j
        default: false
        }
    }

    // MARK: - Setting

    /// Sets a to-one with its inverse.
    func setTarget(of link: ToOneStorage, in object: ObjectID, to target: ObjectID?) throws(ObjectError) {
        if let inverse = link.oneToOneInverse {
            if let old = try self.target(of: link, in: object), old != target {
                try clear(inverse, of: old)
            }
            if let target, case .toOne(let back)? = map.place(of: inverse, entity: target.entity) {
                if let partner = try self.target(of: back, in: target), partner != object {
                    try clearColumns(of: link, in: partner)
                }
                try point(back, of: target, to: object)
            }
        }
        guard let target else { return try clearColumns(of: link, in: object) }
        try point(link, of: object, to: target)
        if let order = link.orderColumn { try setCell(object, column: order, to: .appended) }
        if target.key < 0 || object.key < 0, let table = map.table(of: object.entity) {
            linkedOwners.insert(LinkedOwner(owner: target, table: table, column: link.column))
        }
    }

    private func clear(_ relationship: PropertyHandle, of object: ObjectID) throws(ObjectError) {
        guard case .toOne(let link)? = map.place(of: relationship, entity: object.entity) else { return }
        try clearColumns(of: link, in: object)
    }

    private func clearColumns(of link: ToOneStorage, in object: ObjectID) throws(ObjectError) {
        for column in [link.column, link.entityColumn, link.orderColumn] {
            if let column { try setCell(object, column: column, to: .null) }
        }
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

    /// Adds one member.
    func addMember(
        _ member: ObjectID, to place: PropertyStorage, of object: ObjectID, key: PropertyKey
    ) throws(ObjectError) {
        switch place {
        case .toMany(let link):
            try require(member, isKind: link.relationship.destination, key, object)
            try setKey(of: link, in: member, to: object, place: .appended)
        case .join(let link):
            try require(member, isKind: link.relationship.destination, key, object)
            try join(link, object, member, place: nil)
        case .toOne(let link): try setTarget(of: link, in: object, to: member)
        case .attribute, .composite, .none:
            throw ObjectError(.type, "\(name(object)).\(key.name) isn't a stored relationship")
        }
    }

    /// Takes one member out.
    func removeMember(_ member: ObjectID, from place: PropertyStorage, of object: ObjectID) throws(ObjectError) {
        switch place {
        case .toMany(let link):
            let holder = try cell(member, column: link.column)
            if refers(holder, to: try reference(object)) { try setKey(of: link, in: member, to: nil, place: .null) }
        case .join(let link):
            linkChanges.append(.remove(link, mine: try reference(object), theirs: try reference(member)))
        case .toOne(let link):
            if try target(of: link, in: object) == member { try setTarget(of: link, in: object, to: nil) }
        case .attribute, .composite, .none: return
        }
    }

    private func setKey(
        of link: ToManyStorage, in member: ObjectID, to owner: ObjectID?, place: Cell
    ) throws(ObjectError) {
        try setCell(member, column: link.column, to: try owner.map { owner throws(ObjectError) in try reference(owner).cell } ?? .null)
        if let column = link.entityColumn {
            try setCell(member, column: column, to: owner.map { .integer(Int64($0.entity)) } ?? .null)
        }
        if let column = link.orderColumn { try setCell(member, column: column, to: owner == nil ? .null : place) }
        if let owner { linkedOwners.insert(LinkedOwner(owner: owner, table: link.table, column: link.column)) }
    }

    func setMembers(
        of link: JoinStorage, in object: ObjectID, to members: [ObjectID], key: PropertyKey
    ) throws(ObjectError) {
        for member in members { try require(member, isKind: link.relationship.destination, key, object) }
        if try mayHaveMembers(object, LinkedOwner(owner: object, table: -1, column: key.handle?.index ?? 0)) {
            linkChanges.append(.removeAll(link, mine: try reference(object)))
        }
        for (index, member) in members.enumerated() {
            try join(link, object, member, place: OrderPlace.at(index))
        }
    }

    private func join(
        _ link: JoinStorage, _ object: ObjectID, _ member: ObjectID, place: Int64?
    ) throws(ObjectError) {
        if case .readOnly = mode { throw ObjectError(.store, "\(name(object)): the source store is only read") }
        linkChanges.append(
            .insert(link, mine: try reference(object), theirs: try reference(member), placeOfTheirs: place))
        hasNewJoins = true
    }

    /// Whether rows may point to the object: not to a new one that nobody linked yet.
    private func mayHaveMembers(_ object: ObjectID, _ owner: LinkedOwner) throws(ObjectError) -> Bool {
        let (table, row) = try locate(object)
        guard tables[table].states[row].contains(.inserted) else { return true }
        return owner.table < 0 ? hasNewJoins : linkedOwners.contains(owner)
    }
}
