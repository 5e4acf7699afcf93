import CausewaySQLite

extension DestinationSchema {
    /// Every index that the store to be made has, as SQLite understands it: those of table constraints and the app's own,
    /// too.
    ///
    /// - Parameter known: Core Data's own, whose predicates are known.
    /// - Returns: them table by table, in the order of their creation.
    /// - Throws: `StoreFormatError` where SQLite can't say.
    package func indexes(_ known: [TableIndex]) throws(StoreFormatError) -> [TableIndex] {
        let named = Dictionary(known.map { ($0.name.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
        do throws(SQLiteError) {
            return try scratch.indexes().map { index in named[index.name.lowercased()] ?? index }
        } catch {
            throw StoreFormatError(error, doing: "looking at the new schema's indexes")
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
            // seq, name, unique, origin, partial; the last one comes first
            var list = try connection.prepare("PRAGMA index_list(\(try SQLIdentifier(table)))")
            while try list.step() {
                guard let name = try list.string(at: 1) else { continue }
                let isOfText = try list.string(at: 3) != "c"
                found.append(
                    TableIndex(
                        name, on: table, try key(of: name), isUnique: list.int64(at: 2) != 0,
                        isPartial: list.int64(at: 4) != 0, origin: isOfText ? .constraint : .app))
            }
            result += found.reversed()
        }
        return result
    }

    private func key(of index: String) throws(SQLiteError) -> [TableIndex.Column] {
        var columns: [TableIndex.Column] = []
        // seqno, cid, name, desc, coll, key
        var info = try connection.prepare("PRAGMA index_xinfo(\(try SQLIdentifier(index)))")
        while try info.step() {
            // What stands behind the key finds the row.
            if info.int64(at: 5) == 0 { continue }
            let isExpression = info.int64(at: 1) == -2
            columns.append(
                TableIndex.Column(
                    isExpression ? nil : try info.string(at: 2), collation: try info.string(at: 4) ?? "BINARY",
                    isDescending: info.int64(at: 3) != 0))
        }
        return columns
    }
}
