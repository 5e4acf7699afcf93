import CausewayModel
import CausewayObjects
import CausewayPlanning
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// Writes an SQLite database: a table for each root entity with the rows of its whole tree, a view for each subentity,
/// a table for each many-to-many relationship. Keys are the store's own.
struct DatabaseExport {
    let store: SourceStore
    let map: StorageMap
    let choice: EntityChoice
    let isPartial: Bool
    let scan: RowScan
    let notes: ExportNotes
    let progress: ProgressCount
    /// The model's version, for the table about the store.
    let version: String?

    /// - Returns: rows by entity, with the table or view that has them.
    func write(to path: String) throws(EngineError) -> [ExportSummary.Entity] {
        var names = UniqueNames()
        // First come the entities: their names stay as they are.
        let places = map.layout.tables.indices.filter { place in
            choice.names.contains { map.layout.model.root(of: $0) == map.layout.tables[place].rootEntity }
        }
        let tables = places.map { place in
            let root = map.layout.tables[place].rootEntity
            return DatabaseTable(
                place, map, entities: choice.names.filter { map.layout.model.root(of: $0) == root },
                named: names.made(from: root))
        }
        let views = Dictionary(
            uniqueKeysWithValues: tables.flatMap { table in
                table.entities.filter { $0 != table.root }.map { ($0, names.made(from: $0)) }
            })
        let links = links(tables, &names)
        return try EngineError.writing(path) {
            var connection = try Connection(path: path, mode: .create, hardening: .own)
            connection.setProgressHandler(
                everyInstructions: SourceStore.instructionsBetweenLooks, shouldStop: progress.asksToStop)
            // A run that fails leaves no database behind: nothing is ever rolled back.
            try connection.execute("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; BEGIN")
            try create(connection, tables, views, links, about: names.made(from: "store"))
            var counts: [String: Int] = [:]
            for table in tables { try fill(connection, table, &counts) }
            for each in links { try each.fill(connection, from: store) }
            try settle(connection, tables, links)
            try connection.execute("COMMIT")
            try check(connection)
            try connection.close()
            return choice.names.compactMap { name in
                counts[name].map {
                    ExportSummary.Entity(
                        name: name, rows: $0,
                        place: views[name] ?? tables.first { $0.root == name }?.name)
                }
            }
        }
    }

    private func links(_ tables: [DatabaseTable], _ names: inout UniqueNames) -> [DatabaseLinks] {
        func table(_ entity: String) -> DatabaseTable? {
            let root = map.layout.model.root(of: entity)
            return tables.first { $0.root == root }
        }
        return map.layout.joinTables.compactMap { join in
            let (owners, members) = (table(join.owner), table(join.inverseOwner))
            guard owners != nil || members != nil else { return nil }
            return DatabaseLinks(
                name: names.made(from: "\(join.owner)_\(join.relationship)"), join: join, owners: owners,
                members: members)
        }
    }

    /// Whether all rows of a table are exported, so that keys that lead to it can be foreign ones.
    private func isWhole(_ table: DatabaseTable?) -> Bool {
        guard let table, !isPartial || scan.filter == nil && scan.limit == nil else { return false }
        return map.layout.entities.allSatisfy { name in
            map.layout.model.root(of: name) != table.root || choice.covers(name)
        }
    }

    // MARK: - Schema

    private func create(
        _ connection: borrowing Connection, _ tables: [DatabaseTable], _ views: [String: String],
        _ links: [DatabaseLinks], about storeTable: String
    ) throws(SQLiteError) {
        for table in tables {
            try connection.execute(try statement(for: table, tables))
            for entity in table.entities {
                if let view = views[entity] { try connection.execute(try self.view(entity, named: view, table)) }
            }
        }
        for each in links { try each.create(connection, refers: isWhole) }
        let name = try SQLIdentifier(storeTable)
        try connection.execute("CREATE TABLE \(name) (uuid TEXT NOT NULL, version TEXT)")
        var insert = try connection.prepare("INSERT INTO \(name) VALUES (?, ?)")
        try insert.bind(store.metadata.uuid, at: 1)
        if let version { try insert.bind(version, at: 2) } else { try insert.bindNull(at: 2) }
        try insert.run()
    }

    private func statement(for table: DatabaseTable, _ tables: [DatabaseTable]) throws(SQLiteError) -> String {
        var columns = ["\(try SQLIdentifier(table.idName)) INTEGER PRIMARY KEY"]
        if let entity = table.entityName { columns.append("\(try SQLIdentifier(entity)) TEXT NOT NULL") }
        for column in table.columns {
            var text = "\(try SQLIdentifier(column.name)) \(column.type)"
            if let target = tables.first(where: { $0.root == column.destination }), isWhole(target) {
                text += """
                     REFERENCES \(try SQLIdentifier(target.name)) (\(try SQLIdentifier(target.idName))) \
                    DEFERRABLE INITIALLY DEFERRED
                    """
            }
            columns.append(text)
        }
        return "CREATE TABLE \(try SQLIdentifier(table.name)) (\(columns.joined(separator: ", ")))"
    }

    /// The rows of a subentity, and of those below it, with the columns that it has.
    private func view(_ entity: String, named name: String, _ table: DatabaseTable) throws(SQLiteError) -> String {
        guard let kind = table.entityName else { return "" }
        var names = UniqueNames([table.idName, kind])
        var columns = [try SQLIdentifier(table.idName).quoted, try SQLIdentifier(kind).quoted]
        for column in table.columns {
            guard let owner = column.owner, map.layout.model.isKind(entity, of: owner) else { continue }
            let own = names.first(of: [column.path, column.name])
            columns.append("\(try SQLIdentifier(column.name)) AS \(try SQLIdentifier(own))")
        }
        let kinds = map.layout.model.entityAndSubentities(of: entity).sorted()
            .map { "'" + $0.replacing("'", with: "''") + "'" }
        return """
            CREATE VIEW \(try SQLIdentifier(name)) AS SELECT \(columns.joined(separator: ", ")) \
            FROM \(try SQLIdentifier(table.name)) WHERE \(try SQLIdentifier(kind)) IN (\(kinds.joined(separator: ", ")))
            """
    }

    // MARK: - Rows

    private func fill(
        _ connection: borrowing Connection, _ table: DatabaseTable, _ counts: inout [String: Int]
    ) throws {
        let first = table.entityName == nil ? 2 : 3
        let marks = Array(repeating: "?", count: first - 1 + table.columns.count).joined(separator: ", ")
        let insert = StatementBox(
            try connection.prepare(
                "INSERT INTO \(try SQLIdentifier(table.name)) VALUES (\(marks))", persistent: true))
        let reader = ValueReader(
            notes: notes,
            external: ExternalCopies(ExternalValues(directory: store.location.externalData), output: nil))
        for entity in table.entities {
            guard let number = map.layout.entityNumbers[entity].map(Int32.init) else { continue }
            let shape = table.shape(of: entity, number)
            var count = 0
            try scan.forEach(entity, number, shape.columns) { key, cells throws(EngineError) in
                let values = try reader.values(shape, key: key, cells)
                try EngineError.writing(entity) {
                    try insert.statement.bind(key, at: 1)
                    if first == 3 { try insert.statement.bind(entity, at: 2) }
                    for (index, value) in values.enumerated() {
                        try insert.statement.bind(value, at: first + index)
                    }
                    try insert.statement.run()
                }
                count += 1
                return true
            }
            if count > 0 || map.layout.model.entities[entity]?.isAbstract != true { counts[entity] = count }
        }
    }

    /// Links to rows that aren't there become NULL; such links of many-to-manys go.
    private func settle(
        _ connection: borrowing Connection, _ tables: [DatabaseTable], _ links: [DatabaseLinks]
    ) throws {
        for table in tables {
            for column in table.columns {
                guard let target = tables.first(where: { $0.root == column.destination }), isWhole(target) else {
                    continue
                }
                let name = try SQLIdentifier(column.name)
                let condition = """
                    \(name) IS NOT NULL AND NOT EXISTS (SELECT 1 FROM \(try SQLIdentifier(target.name)) causeway_t \
                    WHERE causeway_t.\(try SQLIdentifier(target.idName)) = causeway_s.\(name))
                    """
                let from = "\(try SQLIdentifier(table.name)) AS causeway_s"
                let rows = try FoundRows(
                    "SELECT \(try SQLIdentifier(table.idName)) FROM \(from) WHERE \(condition)", in: connection, nil)
                guard rows.count > 0 else { continue }
                notes.add(.danglingLink, column.owner ?? table.root, column.path, rows)
                try connection.execute("UPDATE \(from) SET \(name) = NULL WHERE \(condition)")
            }
        }
        for each in links {
            let count = try each.removeDangling(connection, isPartial: !isWhole(each.owners) || !isWhole(each.members))
            guard count > 0, isWhole(each.owners), isWhole(each.members) else { continue }
            notes.add(
                "\(each.join.owner).\(each.join.relationship): links without one of their rows, left out: \(count)")
        }
    }

    private func check(_ connection: borrowing Connection) throws {
        var statement = try connection.prepare("PRAGMA foreign_key_check")
        guard try !statement.step() else {
            throw EngineError(.verification, "a foreign key of the exported database leads nowhere")
        }
    }
}

extension Statement {
    fileprivate mutating func bind(_ value: ExportValue, at position: Int) throws(SQLiteError) {
        switch value {
        case .null: try bindNull(at: position)
        case .boolean(let value): try bind(Int64(value ? 1 : 0), at: position)
        case .integer(let value): try bind(value, at: position)
        case .real(let value): try bind(value, at: position)
        case .single(let value): try bind(Double(value), at: position)
        case .text(let value): try bind(value, at: position)
        case .data(let value): try bind(value, at: position)
        case .file(let path): try bind(path, at: position)
        case .link(let link): try bind(link.key, at: position)
        }
    }
}
