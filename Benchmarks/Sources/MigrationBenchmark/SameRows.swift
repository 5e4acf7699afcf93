/// Whether two stores have the same rows and cells, whatever the order of their columns and pages.
struct SameRows {
    /// The reference; the result is attached as `other`.
    private let database: Database

    init(_ result: String, as reference: String) throws {
        database = try Database("file:\(reference)?immutable=1")
        try database.execute("ATTACH 'file:\(result)?immutable=1' AS other")
    }

    /// What differs, a sentence for each table.
    ///
    /// `isForeign`: the result is of a tool that gives columns other types and knows no Core Data: a whole number may
    /// have become a real there, and Z_PRIMARYKEY isn't looked at.
    func differences(isForeign: Bool) throws -> [String] {
        // Both differ with the moment and the program that wrote them.
        let ignored = ["Z_METADATA", "Z_MODELCACHE"] + (isForeign ? ["Z_PRIMARYKEY"] : [])
        return try database.tables().filter { !ignored.contains($0) }.compactMap { table in
            let columns = try database.columns(of: table)
            let keys = try database.texts("SELECT name FROM pragma_table_info('\(table)') WHERE pk > 0")
            let place = (keys.isEmpty ? ["rowid"] : keys).map { "a.\($0) = b.\($0)" }
            let cells = columns.map { column in
                "a.\(column) IS b.\(column)" + (isForeign ? "" : " AND typeof(a.\(column)) = typeof(b.\(column))")
            }
            let expected = try database.integer("SELECT count(*) FROM main.\(table)")
            let found = try database.integer("SELECT count(*) FROM other.\(table)")
            let equal = try database.integer(
                "SELECT count(*) FROM main.\(table) a CROSS JOIN other.\(table) b "
                    + "ON \(place.joined(separator: " AND ")) WHERE \(cells.joined(separator: " AND "))")
            return expected == found && equal == expected
                ? nil : "\(table) has \(found) rows, \(equal) of them equal to the \(expected) expected"
        }
    }
}
