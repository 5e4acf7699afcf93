import CausewayEvaluation
import CausewayModel
import CausewayPlanning
import CausewaySQLite

/// Relationships' members: read from the store or, on a worker, found among the current row's objects.
extension ObjectContext {
    /// A to-one's target.
    func target(of link: ToOneStorage, in object: ObjectID) throws(ObjectError) -> ObjectID? {
        asked.links = true
        switch try cell(object, column: link.column) {
        case .integer(let key):
            // On a worker negative keys name rows without a key; no real key is negative.
            if isDetached, key <= 0 { throw Self.detached(name(object)) }
            guard let column = link.entityColumn, case .integer(let entity) = try cell(object, column: column) else {
                return ObjectID(side: side, entity: link.destination, key: key)
            }
            return ObjectID(side: side, entity: Int32(truncatingIfNeeded: entity), key: key)
        case .temporary(let table, let index): return pendingID(table: Int(table), row: Int(index))
        case .null: return nil
        case .real, .text, .blob, .carried, .appended:
            throw ObjectError(.type, "\(name(object)).\(link.relationship.name): the stored key isn't an integer")
        }
    }

    /// A to-many's members in the relationship's order, else by key.
    func targets(of place: PropertyStorage, in object: ObjectID) throws(ObjectError) -> [ObjectID] {
        guard let statements else {
            asked.others = true
            return try pendingTargets(of: place, in: object)
        }
        try flush(beforeReading: place)
        guard let sql = memberSQL(of: place, count: false) else { return [] }
        return try ObjectError.at(name(object)) {
            try statements.statement(sql, object.key).statement.rows { row throws(SQLiteError) in
                row.object(side, entity: 1, key: 0)
            }
        }
    }

    func targetCount(of place: PropertyStorage, in object: ObjectID) throws(ObjectError) -> Int {
        if case .toOne(let link) = place { return try target(of: link, in: object) == nil ? 0 : 1 }
        guard let statements else {
            asked.others = true
            return try pendingTargets(of: place, in: object).count
        }
        try flush(beforeReading: place)
        guard let sql = memberSQL(of: place, count: true) else { return 0 }
        return try ObjectError.at(name(object)) { Int(try statements.statement(sql, object.key).number() ?? 0) }
    }

    /// Writes, if something in memory concerns the relationship.
    private func flush(beforeReading place: PropertyStorage) throws(ObjectError) {
        guard isWritable else { return }
        switch place {
        case .toMany(let link):
            let table = tables[link.table]
            let isTouched =
                table.changedColumns.contains(link.column)
                || (link.orderColumn.map(table.changedColumns.contains) ?? false)
            if isTouched || table.hasInserted || !table.deletedKeys.isEmpty { try flush() }
        case .join(let link):
            if !linkChanges.isEmpty || !tables[link.otherTable].deletedKeys.isEmpty { try flush() }
        case .attribute, .composite, .toOne, .none: return
        }
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

    // MARK: - On a worker

    private func pendingID(table: Int, row: Int) -> ObjectID {
        let key = tables[table].keys[row]
        return ObjectID(side: side, entity: tables[table].entities[row], key: key != 0 ? key : -Int64(row) - 1)
    }

    /// The members among the current row's objects.
    private func pendingTargets(of place: PropertyStorage, in object: ObjectID) throws(ObjectError) -> [ObjectID] {
        // Refuses other rows' objects, whose members aren't here.
        _ = try locate(object)
        let me = try reference(object)
        switch place {
        case .toMany(let link): return try pendingMembers(of: link, me)
        case .join(let link): return pendingMembers(of: link, me)
        case .attribute, .composite, .toOne, .none: return []
        }
    }

    private func pendingMembers(of link: ToManyStorage, _ me: RowReference) throws(ObjectError) -> [ObjectID] {
        var turns: [Int: Int] = [:]
        var turn = tables[link.table].appended.count - 1
        while turn >= 0 {
            let cell = tables[link.table].appended[turn]
            guard isOwn(link.table, cell.row) else { break }
            if cell.column == link.orderColumn, turns[cell.row] == nil { turns[cell.row] = turn }
            turn -= 1
        }
        var found: [(place: Int64, turn: Int, id: ObjectID)] = []
        var row = tables[link.table].count - 1
        // Objects of one source row are together, at the end.
        while row >= 0, isOwn(link.table, row) {
            defer { row -= 1 }
            guard !tables[link.table].isRemoved(row) else { continue }
            let id = pendingID(table: link.table, row: row)
            guard refers(try cell(id, column: link.column), to: me) else { continue }
            var place = Int64.max
            if let column = link.orderColumn, case .integer(let value) = try cell(id, column: column) { place = value }
            found.append((place, turns[row] ?? row, id))
        }
        return found.sorted { ($0.place, $0.turn) < ($1.place, $1.turn) }.map(\.id)
    }

    /// Whether a row was made for the current source row.
    private func isOwn(_ table: Int, _ row: Int) -> Bool { tables[table].sourceRows[row] == current?.row ?? -1 }

    private func pendingMembers(of link: JoinStorage, _ me: RowReference) -> [ObjectID] {
        var members: [(place: Int64, other: RowReference)] = []
        for change in linkChanges[min(ownLinkChanges, linkChanges.count)...] {
            switch change {
            case .insert(let join, let mine, let theirs, let place) where join.table == link.table:
                let isForward = mine == me && join.mine == link.mine
                guard isForward || theirs == me && (join.theirs == link.mine || link.isReflexive) else { continue }
                let other = isForward ? theirs : mine
                if let index = members.firstIndex(where: { $0.other == other }) {
                    if isForward, let place { members[index].place = place }
                } else {
                    members.append((isForward ? place ?? .max : .max, other))
                }
            case .remove(let join, let mine, let theirs) where join.table == link.table:
                if mine == me, join.mine == link.mine { members.removeAll { $0.other == theirs } }
                if theirs == me, join.theirs == link.mine || link.isReflexive { members.removeAll { $0.other == mine } }
            case .removeAll(let join, let mine) where join.table == link.table:
                if mine == me, join.mine == link.mine { members = [] }
                if join.mine != link.mine || link.isReflexive { members.removeAll { $0.other == mine } }
            case .insert, .remove, .removeAll: continue
            }
        }
        if link.placeOfTheirs != nil {
            members = members.enumerated().sorted {
                ($0.element.place, $0.offset) < ($1.element.place, $1.offset)
            }.map(\.element)
        }
        return members.compactMap { member in
            switch member.other {
            case .temporary(let table, let index): return pendingID(table: Int(table), row: Int(index))
            case .key(let key):
                guard let row = tables[link.otherTable].index(of: key) else { return nil }
                return pendingID(table: link.otherTable, row: row)
            }
        }
    }
}
