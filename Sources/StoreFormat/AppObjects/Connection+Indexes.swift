package import CausewaySQLite

extension DestinationSchema {
    /// Every index of the new store as SQLite describes it, including those of table constraints and the app's own: by
    /// table, in the order of their creation. `known` are Core Data's own, whose predicates are known.
    package func indexes(_ known: [TableIndex]) throws(StoreFormatError) -> [TableIndex] {
        let named = Dictionary(known.map { ($0.name.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
        return try StoreFormatError.doing("looking at the new schema's indexes") { () throws(SQLiteError) in
            try scratch.connection.indexes().map { index in named[index.name.lowercased()] ?? index }
        }
    }
}

extension Connection {
    /// Every index of ordinary tables, those of constraints included, in the order of the tables' creation.
    package func indexes() throws(SQLiteError) -> [TableIndex] {
        var result: [TableIndex] = []
        let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY rowid"
        for table in try texts(of: tables) {
            // SQLite lists the last one first.
            var list = try looking("index_list", at: table, columns: "seq, name, \"unique\", origin, partial")
            result += try list.rows { row throws(SQLiteError) -> TableIndex? in
                guard let name = try row.string(at: 1) else { return nil }
                let isOfText = try row.string(at: 3) != "c"
                return TableIndex(
                    name, on: table, try key(of: name), isUnique: row.int64(at: 2) != 0,
                    isPartial: row.int64(at: 4) != 0, origin: isOfText ? .constraint : .app)
            }.reversed()
        }
        return result
    }

    /// The statement of a pragma that looks at an object. A source's connection allows no other form; names that can't
    /// stand in it are bound.
    private func looking(_ pragma: String, at name: String, columns: String) throws(SQLiteError) -> Statement {
        if let name = try? SQLIdentifier(name) { return try prepare("PRAGMA \(pragma)(\(name.quoted))") }
        var statement = try prepare("SELECT \(columns) FROM pragma_\(pragma)(?)")
        try statement.bind(name, at: 1)
        return statement
    }

    private func texts(of sql: String) throws(SQLiteError) -> [String] {
        var statement = try prepare(sql)
        return try statement.rows { row throws(SQLiteError) in try row.string(at: 0) }
    }

    private func key(of index: String) throws(SQLiteError) -> [TableIndex.Column] {
        var info = try looking("index_xinfo", at: index, columns: "seqno, cid, name, \"desc\", coll, key")
        return try info.rows { row throws(SQLiteError) -> TableIndex.Column? in
            // The columns after the key find the row.
            guard row.int64(at: 5) != 0 else { return nil }
            let isExpression = row.int64(at: 1) == -2
            return TableIndex.Column(
                isExpression ? nil : try row.string(at: 2), collation: try row.string(at: 4) ?? "BINARY",
                isDescending: row.int64(at: 3) != 0)
        }
    }
}
