package import CausewaySQLite

extension StoreFormatError {
    /// SQLite's error with the operation.
    init(_ error: SQLiteError, doing what: String, place: String? = nil) {
        self.init(.database, "\(what): \(error)", place: place, cause: error)
    }

    /// Asks SQLite; what fails is told with what was done, and where.
    static func doing<Value: ~Copyable>(
        _ what: String, _ place: String? = nil, _ body: () throws(SQLiteError) -> Value
    ) throws(StoreFormatError) -> Value {
        do throws(SQLiteError) {
            return try body()
        } catch {
            throw StoreFormatError(error, doing: what, place: place)
        }
    }
}

extension StoreSchema {
    /// Reads the schema within the limits above. Views and virtual tables are listed but never opened.
    ///
    /// - Parameters:
    ///   - connection: to the store.
    ///   - hasHouse: false for a new store that is still without Core Data's own tables.
    /// - Throws: `notACoreDataStore` without Z_PRIMARYKEY or Z_METADATA, `limitExceeded`, `database`.
    package init(reading connection: borrowing Connection, hasHouse: Bool = true) throws(StoreFormatError) {
        let objects = try Self.readObjects(connection)
        let names = Set(objects.filter { $0.kind == .table && !$0.isVirtualTable }.map { $0.name.uppercased() })
        for house in Self.requiredTables where hasHouse && !names.contains(house) {
            throw StoreFormatError(
                .notACoreDataStore,
                "the database has no table \(house), so Core Data didn't make it; check that the path is right",
                place: house)
        }
        let tables = try Self.readTables(connection, objects)
        for table in tables where Self.houseTables.contains(table.name.uppercased()) {
            guard let column = table.columns.first(where: \.isGenerated) else { continue }
            throw StoreFormatError(
                .unsupportedSchema,
                "column \(column.name) of \(table.name) is generated, which Core Data never makes: rebuild the table",
                place: table.name)
        }
        let primaryKeys = hasHouse ? try Self.readPrimaryKeys(connection) : []
        let version = try StoreFormatError.doing("reading the schema's version") { () throws(SQLiteError) in
            try connection.pragmaInteger("schema_version")
        }
        self.init(objects: objects, tables: tables, primaryKeys: primaryKeys, schemaVersion: version)
    }

    private static let requiredTables = ["Z_PRIMARYKEY", "Z_METADATA"]
    private static let houseTables: Set<String> = ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"]

    private static func readObjects(_ connection: borrowing Connection) throws(StoreFormatError) -> [Object] {
        var objects: [Object] = []
        var bytes = 0
        try StoreFormatError.doing("reading the schema") { () throws(SQLiteError) in
            // The lengths come first, so that nothing large is copied.
            var statement = try connection.prepare(
                "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_master ORDER BY rowid")
            while try statement.step() {
                let size = [0, 1, 2, 4].reduce(0) { $0 + statement.withText(at: $1) { $0.byteCount } }
                bytes += size
                guard objects.count < maximumObjects, bytes <= maximumBytes else { break }
                guard let kind = (try statement.string(at: 0)).flatMap(Object.Kind.init) else { continue }
                objects.append(
                    Object(
                        kind: kind, name: try statement.string(at: 1) ?? "", table: try statement.string(at: 2) ?? "",
                        rootPage: statement.int64(at: 3), sql: try statement.string(at: 4)))
            }
        }
        guard objects.count < maximumObjects, bytes <= maximumBytes else {
            throw StoreFormatError(
                .limitExceeded,
                "the schema has more than \(maximumObjects) objects or \(maximumBytes) bytes, far beyond any Core Data "
                    + "store; the file is damaged or not a store")
        }
        return objects
    }

    private static func readTables(
        _ connection: borrowing Connection, _ objects: [Object]
    ) throws(StoreFormatError) -> [Table] {
        let indexes = Set(objects.filter { $0.kind == .index }.map { $0.name.lowercased() })
        var tables: [Table] = []
        var count = 0
        for object in objects where object.kind == .table && !object.isVirtualTable {
            var mandatory: String?
            let table = try StoreFormatError.doing("reading the columns", object.name) { () throws(SQLiteError) in
                try readTable(connection, object, indexes: indexes, mandatoryGenerated: &mandatory)
            }
            if let mandatory, let function = try computed(mandatory, of: object.name, connection) {
                // quick_check computes it for every row, and one row may need a gigabyte.
                throw StoreFormatError(
                    .unsupportedSchema,
                    "column \(mandatory) is NOT NULL and computes “\(function)” for every row, which can't be checked "
                        + "safely: make it optional", place: object.name)
            }
            count += table.columns.count
            guard count <= maximumColumns else {
                throw StoreFormatError(
                    .limitExceeded, "the tables have more than \(maximumColumns) columns; the file is damaged",
                    place: object.name)
            }
            tables.append(table)
        }
        return tables
    }

    /// The unbounded function that a generated column calls.
    private static func computed(
        _ column: String, of table: String, _ connection: borrowing Connection
    ) throws(StoreFormatError) -> String? {
        try StoreFormatError.doing("reading the columns", table) { () throws(SQLiteError) in
            let select = "SELECT \(try SQLIdentifier(column)) FROM \(try SQLIdentifier(table))"
            return try connection.compiledFunctions(of: select).boundless
        }
    }

    private static func readTable(
        _ connection: borrowing Connection, _ object: Object, indexes: Set<String>,
        mandatoryGenerated: inout String?
    ) throws(SQLiteError) -> Table {
        let name = try SQLIdentifier(object.name)
        // cid, name, type, notnull, dflt_value, pk, hidden
        var info = try connection.prepare("PRAGMA table_xinfo(\(name.quoted))")
        let columns = try info.rows { row throws(SQLiteError) in
            let column = Column(
                name: try row.string(at: 1) ?? "", declaredType: try row.string(at: 2) ?? "",
                primaryKeyPlace: Int(truncatingIfNeeded: row.int64(at: 5)), isGenerated: row.int64(at: 6) != 0,
                hasDefault: row.type(at: 4) != .null)
            if column.isGenerated, row.int64(at: 3) != 0 { mandatoryGenerated = column.name }
            return column
        }
        // A table without rowid lists the index of its primary key, but the schema table doesn't hold that index.
        // seq, name, unique, origin, partial
        var isWithoutRowID = false
        var primaryKey: [KeyColumn] = []
        var list = try connection.prepare("PRAGMA index_list(\(name.quoted))")
        while try list.step() {
            guard try list.string(at: 3) == "pk", let index = try list.string(at: 1) else { continue }
            if !indexes.contains(index.lowercased()) { isWithoutRowID = true }
            primaryKey = try readKey(connection, index)
        }
        return Table(
            name: object.name, rootPage: object.rootPage, columns: columns, isWithoutRowID: isWithoutRowID,
            primaryKey: primaryKey)
    }

    private static func readKey(_ connection: borrowing Connection, _ index: String) throws(SQLiteError) -> [KeyColumn]
    {
        // seqno, cid, name, desc, coll, key; the rowid or the other columns follow
        var info = try connection.prepare("PRAGMA index_xinfo(\(try SQLIdentifier(index).quoted))")
        return try info.rows { row throws(SQLiteError) -> KeyColumn? in
            guard row.int64(at: 5) != 0, let name = try row.string(at: 2) else { return nil }
            return KeyColumn(
                name: name, collation: try row.string(at: 4) ?? "BINARY", isDescending: row.int64(at: 3) != 0)
        }
    }

    private static func readPrimaryKeys(_ connection: borrowing Connection) throws(StoreFormatError) -> [PrimaryKeyRow]
    {
        var rows: [PrimaryKeyRow] = []
        try StoreFormatError.doing("reading the entities' numbers", "Z_PRIMARYKEY") { () throws(SQLiteError) in
            var statement = try connection.prepare(
                "SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT")
            while try statement.step(), rows.count <= maximumPrimaryKeyRows {
                rows.append(
                    PrimaryKeyRow(
                        number: statement.int64(at: 0), name: try statement.string(at: 1) ?? "",
                        parent: statement.int64(at: 2), maximum: statement.int64(at: 3)))
            }
        }
        guard rows.count <= maximumPrimaryKeyRows else {
            throw StoreFormatError(
                .limitExceeded, "more than \(maximumPrimaryKeyRows) entities; the file is damaged",
                place: "Z_PRIMARYKEY")
        }
        return rows
    }
}
