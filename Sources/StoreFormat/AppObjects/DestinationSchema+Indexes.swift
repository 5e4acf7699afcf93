import CausewaySQLite

extension DestinationSchema {
    /// Every index of the new store as SQLite describes it, including those of table constraints and the app's own.
    ///
    /// - Parameter known: Core Data's own, whose predicates are known.
    /// - Returns: the indexes by table, in the order of their creation.
    /// - Throws: `StoreFormatError` if SQLite can't list them.
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
        var tables = try connection.prepare(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY rowid")
        while try tables.step() {
            guard let table = try tables.string(at: 0) else { continue }
            var found: [TableIndex] = []
            // SQLite lists the last one first. Names are bound: an app's may be unsafe in a statement.
            var list = try connection.prepare("SELECT name, \"unique\", origin, partial FROM pragma_index_list(?)")
            try list.bind(table, at: 1)
            while try list.step() {
                guard let name = try list.string(at: 0) else { continue }
                let isOfText = try list.string(at: 2) != "c"
                found.append(
                    TableIndex(
                        name, on: table, try key(of: name), isUnique: list.int64(at: 1) != 0,
                        isPartial: list.int64(at: 3) != 0, origin: isOfText ? .constraint : .app))
            }
            result += found.reversed()
        }
        return result
    }

    private func key(of index: String) throws(SQLiteError) -> [TableIndex.Column] {
        var columns: [TableIndex.Column] = []
        // The columns after the key find the row.
        var info = try connection.prepare("SELECT cid, name, \"desc\", coll FROM pragma_index_xinfo(?) WHERE key")
        try info.bind(index, at: 1)
        while try info.step() {
            let isExpression = info.int64(at: 0) == -2
            columns.append(
                TableIndex.Column(
                    isExpression ? nil : try info.string(at: 1), collation: try info.string(at: 3) ?? "BINARY",
                    isDescending: info.int64(at: 2) != 0))
        }
        return columns
    }
}
