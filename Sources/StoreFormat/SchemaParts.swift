/// A schema as a set of its parts, for telling versions apart that have equal hashes.
extension StoreSchema {
    /// `ZTHING.ZNAME` for each column, and the text of each other object without what doesn't matter in it.
    package var parts: Set<String> {
        var result = Set(objects.compactMap(\.part))
        for table in tables.values {
            for column in table.columns { result.insert("\(table.name).\(column.name)".uppercased()) }
        }
        return result
    }
}

extension StoreLayout {
    /// The same for a new store.
    package func schemaParts() throws(StoreFormatError) -> Set<String> {
        var result = Set(try statements().inOrder.compactMap(\.object).compactMap(\.part))
        for table in tables {
            for column in table.columns { result.insert("\(table.name).\(column.name)".uppercased()) }
        }
        return result
    }
}

extension StoreSchema.Object {
    /// Core Data's versions quote and space differently.
    fileprivate var part: String? {
        guard kind != .table, let sql else { return nil }
        return sql.filter { !$0.isWhitespace && $0 != "\"" }.uppercased()
    }
}
