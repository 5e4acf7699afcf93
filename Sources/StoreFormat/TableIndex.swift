/// An index of a table: its key, its order, and its rows.
package struct TableIndex: Hashable, Sendable {
    /// Where it comes from.
    package enum Origin: String, Hashable, Sendable {
        /// The model: relationships, hierarchies, fetch indexes, uniqueness.
        case model
        /// Persistent history.
        case history
        /// The app, by SQL of its own.
        case app
        /// A constraint in the table's text: UNIQUE, or a PRIMARY KEY that isn't the rowid.
        case constraint
    }

    /// One column of the key.
    package struct Column: Hashable, Sendable {
        /// nil for an expression.
        package var name: String?
        package var collation: String
        package var isDescending: Bool

        package init(_ name: String?, collation: String = "BINARY", isDescending: Bool = false) {
            self.name = name
            self.collation = collation
            self.isDescending = isDescending
        }
    }

    package var name: String
    package var table: String
    package var columns: [Column]
    package var isUnique: Bool
    /// Whether only rows that fulfil a predicate are in it.
    package var isPartial: Bool
    /// The predicate in SQL, for Core Data's own indexes; an app's is only in its text.
    package var condition: String?
    package var origin: Origin
    /// Whether Core Data writes the key with collation and direction, as it does for declared indexes; keys of its own
    /// indexes are names only (InsideStoreFormat §7).
    package var isSpelledOut: Bool

    package init(
        _ name: String, on table: String, _ columns: [Column], isUnique: Bool = false, isPartial: Bool = false,
        condition: String? = nil, origin: Origin = .model, isSpelledOut: Bool = false
    ) {
        self.name = name
        self.table = table
        self.columns = columns
        self.isUnique = isUnique
        self.isPartial = isPartial || condition != nil
        self.condition = condition
        self.origin = origin
        self.isSpelledOut = isSpelledOut
    }

    /// Whether its key is this column alone and it has every row.
    package func isOf(_ column: String) -> Bool { columns.count == 1 && columns[0].name == column && !isPartial }
}

extension TableIndex {
    /// `CREATE INDEX …` in Core Data's text, with `blank` between WHERE and the condition; for indexes on columns.
    func statement(blank: String) -> String {
        let keys = columns.map { column in
            let name = column.name ?? ""
            return isSpelledOut ? "\(name) COLLATE \(column.collation) \(column.isDescending ? "DESC" : "ASC")" : name
        }
        return "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(name) ON \(table) (\(keys.joined(separator: ", ")))"
            + (condition.map { " WHERE\(blank)\($0)" } ?? "")
    }
}
