import CausewayObjects
import CausewayPlanning
import CausewaySQLite

/// Writes links into join tables, with statements compiled once.
struct LinkStatements {
    private let access: StoreAccess
    private var boxes: [Key: StatementBox] = [:]

    private struct Key: Hashable {
        var link: ObjectIdentifier
        var kind: Kind
    }

    private enum Kind {
        case insert
        case move
        case remove
        case removeAll
        /// The row at the other end of links that may be stored in either direction.
        case removeAllTurned
    }

    init(_ access: StoreAccess) {
        self.access = access
    }

    mutating func write(_ link: LinkWrite) throws(SQLiteError) {
        switch link {
        case .insert(let link, let mine, let theirs, let placeOfTheirs, let placeOfMine):
            let box = try box(.insert, link, mine)
            try box.statement.bind(theirs, at: 2)
            var position = 3
            if let placeOfTheirs {
                try box.statement.bind(placeOfTheirs, at: position)
                position += 1
            }
            if let placeOfMine { try box.statement.bind(placeOfMine, at: position) }
            try box.statement.run()
        case .move(let link, let mine, let theirs, let placeOfTheirs):
            let box = try box(.move, link, mine)
            try box.statement.bind(theirs, at: 2)
            try box.statement.bind(placeOfTheirs, at: 3)
            try box.statement.run()
        case .remove(let link, let mine, let theirs):
            let box = try box(.remove, link, mine)
            try box.statement.bind(theirs, at: 2)
            try box.statement.run()
        case .removeAll(let link, let mine):
            try box(.removeAll, link, mine).statement.run()
            if link.isReflexive { try box(.removeAllTurned, link, mine).statement.run() }
        }
    }

    /// The statement, reset, with the row at this end in its first parameter.
    private mutating func box(_ kind: Kind, _ link: JoinStorage, _ mine: Int64) throws(SQLiteError) -> StatementBox {
        let key = Key(link: ObjectIdentifier(link), kind: kind)
        let box: StatementBox
        if let kept = boxes[key] {
            kept.statement.reset()
            box = kept
        } else {
            box = StatementBox(try access.prepare(Self.sql(kind, link)))
            boxes[key] = box
        }
        try box.statement.bind(mine, at: 1)
        return box
    }

    private static func sql(_ kind: Kind, _ link: JoinStorage) -> String {
        switch kind {
        case .insert:
            let columns = [link.mine, link.theirs] + [link.placeOfTheirs, link.placeOfMine].compactMap { $0 }
            let names = columns.map(\.quoted).joined(separator: ", ")
            let parameters = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
            return "INSERT INTO \(link.table) (\(names)) VALUES (\(parameters))"
        case .move:
            guard let place = link.placeOfTheirs else { preconditionFailure("only ordered members have places") }
            return "UPDATE \(link.table) SET \(place) = ?3 WHERE \(link.mine) = ?1 AND \(link.theirs) = ?2"
        case .remove: return "DELETE FROM \(link.table) WHERE \(link.condition)"
        case .removeAll: return "DELETE FROM \(link.table) WHERE \(link.mine) = ?1"
        case .removeAllTurned: return "DELETE FROM \(link.table) WHERE \(link.theirs) = ?1"
        }
    }
}
