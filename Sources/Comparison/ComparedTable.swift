import CausewaySQLite

/// A table of entities as it is read for a comparison.
struct ComparedTable {
    let name: String
    /// Names of the columns that are read, after Z_PK and Z_ENT.
    let columns: [String]
    /// By Z_ENT.
    let entities: [Int64: ComparedEntity]
    /// For rows whose Z_ENT is of no entity of the table: nothing but their keys is compared. Without a model, where no
    /// one knows which entities a table has, every column.
    let others: [ComparedProperty]

    /// The first result column of `columns`.
    static let firstColumn = 2

    /// The rows in the order of their keys.
    ///
    /// - Parameter number: the Z_ENT of the rows; nil reads all.
    /// - Returns: a statement.
    /// - Throws: where a name can't stand in SQL.
    func sql(onlyEntity number: Int64?) throws(SQLiteError) -> String {
        var names: [String] = ["\"Z_PK\"", "\"Z_ENT\""]
        for column in columns { names.append(try SQLIdentifier(column).quoted) }
        let condition = number.map { " WHERE \"Z_ENT\" = \($0)" } ?? ""
        return """
            SELECT \(names.joined(separator: ", ")) FROM \(try SQLIdentifier(name))\(condition) ORDER BY "Z_PK"
            """
    }
}

/// What the rows of one entity hold.
struct ComparedEntity {
    let name: String
    let properties: [ComparedProperty]
}

/// One property with its result columns.
struct ComparedProperty {
    let name: String
    let kind: StoreComparison.Kind
    /// Result column.
    let column: Int
    /// Result column of the target's Z_ENT; nil where there is none.
    var entityColumn: Int?

    /// Two stores' properties are the same one if their names and kinds are.
    var identity: Identity { Identity(name: name, kind: kind) }

    struct Identity: Hashable, Comparable {
        let name: String
        let kind: StoreComparison.Kind

        static func < (left: Identity, right: Identity) -> Bool {
            left.name == right.name ? left.kind < right.kind : left.name < right.name
        }

        /// As a report names it where only one store has it.
        var described: String {
            switch kind {
            case .place: "\(name) (place)"
            case .attribute, .external, .toOne, .entityNumber, .column: name
            }
        }
    }
}

/// The join table of a many-to-many relationship, turned so that two stores agree on the naming side.
struct ComparedJoin {
    /// The sides' names, the smaller one first; a table without model has only its own name.
    let label: String
    let inverse: String?
    let table: String
    /// Columns: the key of the row that has `label`, the key at the other end, and their places; nil where not ordered.
    let first: String
    let second: String
    let firstPlace: String?
    let secondPlace: String?

    /// Both keys and both places, ordered.
    var sql: String {
        get throws(SQLiteError) {
            var columns: [String] = []
            for name in [first, second, firstPlace, secondPlace] {
                columns.append(try name.map { name throws(SQLiteError) in try SQLIdentifier(name).quoted } ?? "NULL")
            }
            return """
                SELECT \(columns.joined(separator: ", ")) FROM \(try SQLIdentifier(table)) ORDER BY 1, 2, 3, 4
                """
        }
    }
}

/// A table without entities.
struct ComparedOther {
    let name: String
    let columns: [String]
}
