/// An index of a table: what is sorted, how, and which rows are in it.
package struct TableIndex: Hashable, Sendable {
    /// Who asks for it.
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
    /// That predicate, in SQL, of Core Data's own indexes; an app's stands in its text alone.
    package var condition: String?
    package var origin: Origin

    package init(
        _ name: String, on table: String, _ columns: [Column], isUnique: Bool = false, isPartial: Bool = false,
        condition: String? = nil, origin: Origin = .model
    ) {
        self.name = name
        self.table = table
        self.columns = columns
        self.isUnique = isUnique
        self.isPartial = isPartial || condition != nil
        self.condition = condition
        self.origin = origin
    }

    /// Whether it has every row under one column alone.
    package func isOf(_ column: String) -> Bool {
        columns.count == 1 && columns[0].name == column && !isPartial
    }
}

/// How Core Data spells the key of an index: of its own ones by names alone, of those that a developer has declared with
/// collation and direction (InsideStoreFormat §7).
enum KeySpelling {
    case names
    case terms
}

extension TableIndex {
    /// `CREATE INDEX …` in Core Data's text; for indexes on columns.
    ///
    /// - Parameters:
    ///   - spelling: how the key is written.
    ///   - blank: what stands between WHERE and the condition.
    /// - Returns: the statement's text.
    func statement(_ spelling: KeySpelling, blank: String = " ") -> String {
        let keys = columns.map { column in
            let name = column.name ?? ""
            return switch spelling {
            case .names: name
            case .terms: "\(name) COLLATE \(column.collation) \(column.isDescending ? "DESC" : "ASC")"
            }
        }
        return "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(name) ON \(table) (\(keys.joined(separator: ", ")))"
            + (condition.map { " WHERE\(blank)\($0)" } ?? "")
    }
}
