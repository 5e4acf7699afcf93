import CausewaySQLite

extension DestinationSchema {
    /// Every index of the new store as SQLite describes it, including those of table constraints and the app's own: by
    /// table, in the order of their creation. `known` are Core Data's own, whose predicates are known.
    package func indexes(_ known: [TableIndex]) throws(StoreFormatError) -> [TableIndex] {
        let named = Dictionary(known.map { ($0.name.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
        return try StoreFormatError.doing("looking at the new schema's indexes") { () throws(SQLiteError) in
            try scratch.indexes().map { index in named[index.name.lowercased()] ?? index }
        }
    }
}

extension ScratchSchema {
    /// Of all ordinary tables, in the order of their creation.
    fileprivate func indexes() throws(SQLiteError) -> [TableIndex] {
        var result: [TableIndex] = []
        let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY rowid"
        for table in try texts(of: tables, at: 0) {
            // SQLite lists the last one first. Names are bound: an app's may be unsafe in a statement.
            var list = try connection.prepare("SELECT name, \"unique\", origin, partial FROM pragma_index_list(?)")
            try list.bind(table, at: 1)
            result += try list.rows { row throws(SQLiteError) -> TableIndex? in
                guard let name = try row.string(at: 0) else { return nil }
                let isOfText = try row.string(at: 2) != "c"
                return TableIndex(
                    name, on: table, try key(of: name), isUnique: row.int64(at: 1) != 0,
                    isPartial: row.int64(at: 3) != 0, origin: isOfText ? .constraint : .app)
            }.reversed()
        }
        return result
    }

    private func key(of index: String) throws(SQLiteError) -> [TableIndex.Column] {
        // The columns after the key find the row.
        var info = try connection.prepare("SELECT cid, name, \"desc\", coll FROM pragma_index_xinfo(?) WHERE key")
        try info.bind(index, at: 1)
        return try info.rows { row throws(SQLiteError) in
            let isExpression = row.int64(at: 0) == -2
            return TableIndex.Column(
                isExpression ? nil : try row.string(at: 1), collation: try row.string(at: 3) ?? "BINARY",
                isDescending: row.int64(at: 2) != 0)
        }
    }
}
