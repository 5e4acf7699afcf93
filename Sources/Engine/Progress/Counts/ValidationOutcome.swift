/// One row that breaks one rule.
package struct RowViolation: Hashable, Sendable, CustomStringConvertible {
    /// The row's own entity, never a parent.
    package let entity: String
    /// An attribute (`composite.leaf` for a composite's), a relationship, or a constraint's properties (`name, year`).
    package let property: String
    /// Z_PK.
    package let key: Int64
    /// The number that Core Data gives the error (InsideCoreDataMigration §9).
    package let code: Int
    /// Says what is wrong and never a value of the row.
    package let reason: String
    /// `x-coredata://UUID/Entity/pKEY`
    package let uri: String

    package var description: String { "\(entity).\(property): \(uri): \(reason) (\(code))" }
}

/// What the validation found and did.
package struct ValidationOutcome: Hashable, Sendable {
    /// How often the rows of one entity broke one rule.
    package struct Count: Hashable, Sendable {
        package let entity: String
        package let property: String
        package let code: Int
        package let reason: String
        package let count: Int
    }

    /// How many violations are kept in `first` and listed in an error.
    package static let namedViolations = 20

    /// In the model's order. A rejected row counts under the rules that it broke first.
    package internal(set) var counts: [Count] = []
    /// The first `namedViolations`, in the order of tables and keys.
    package internal(set) var first: [RowViolation] = []
    /// Values that became the default.
    package internal(set) var defaulted = 0
    /// Rows left out, by entity.
    package internal(set) var rejectedRows: [String: Int] = [:]
    /// Rows of join tables that were removed because neither end exists.
    package internal(set) var strayLinks = 0

    /// Nothing found, nothing done.
    package init() {}

    /// Rows left out.
    package var rejected: Int { rejectedRows.values.reduce(0, +) }
    package var violations: Int { counts.reduce(0) { $0 + $1.count } }
}
