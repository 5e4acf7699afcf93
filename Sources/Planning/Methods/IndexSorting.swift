import CausewayStoreFormat

/// Why an index of a table that pages make is left to SQLite, if it is.
struct IndexSorting {
    /// Columns whose values come after the rows, by lower-cased table.
    private let derived: [String: Set<String>]

    init(derivedValues: [DerivedValue]) {
        derived = derivedValues.filter { $0.source != .now }.reduce(into: [:]) { result, value in
            result[value.table.lowercased(), default: []].insert(value.column.lowercased())
        }
    }

    /// - Returns: nil where its entries can be made from the table's records and sorted.
    func reason(against index: TableIndex) -> String? {
        if index.origin == .app { return "the app's own SQL makes it" }
        if index.isPartial { return "only some rows are in it" }
        let derived = derived[index.table.lowercased()] ?? []
        for column in index.columns {
            guard let name = column.name else { return "it has an expression" }
            if column.collation.uppercased() != "BINARY" { return "column \(name): collation \(column.collation)" }
            if derived.contains(name.lowercased()) { return "column \(name): its values are derived from other rows" }
        }
        return nil
    }
}
