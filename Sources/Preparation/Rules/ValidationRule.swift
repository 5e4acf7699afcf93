/// One rule that a row can break: a property of an entity and the kind of violation.
package struct ValidationRule: Hashable {
    /// Kinds of violations; raw values are Core Data's codes (InsideCoreDataMigration §9, CoreDataErrors.h).
    package enum Kind: Int, Hashable {
        case invalid = 1550
        case missing = 1570
        case tooFew = 1580
        case tooMany = 1590
        case tooLarge = 1610
        case tooSmall = 1620
        case tooLate = 1630
        case tooSoon = 1640
        case invalidDate = 1650
        case tooLong = 1660
        case tooShort = 1670
        case noMatch = 1680
        /// `NSManagedObjectReferentialIntegrityError`
        case dangling = 133_000
        /// `NSMigrationConstraintViolationError`
        case notUnique = 134_111

        /// For an attribute's validation. A warning that isn't an attribute's code doesn't tell the kind.
        package init(warning code: Int64) {
            let known = Kind(rawValue: Int(clamping: code)) ?? .invalid
            self = (Kind.tooLarge.rawValue...Kind.noMatch.rawValue).contains(known.rawValue) ? known : .invalid
        }
    }

    package let kind: Kind
    package let property: String
    let isRelationship: Bool
    /// Place of the row's table in `StoreLayout.tables`.
    package let table: Int

    /// Why, without any value of the row. `other` is what the ledger keeps beside the row: the row that a value clashes
    /// with, or anything but 0 where a target was rejected.
    package func reason(other: Int64) -> String {
        switch kind {
        case .invalid: "breaks the attribute's validation predicate"
        case .missing where isRelationship: other == 0 ? "is mandatory, but empty" : "its mandatory target is rejected"
        case .missing: "is mandatory, but NULL"
        case .tooFew: "has fewer objects than the minimum count"
        case .tooMany: "has more objects than the maximum count"
        case .tooLarge: "is over the maximum"
        case .tooSmall: "is under the minimum"
        case .tooLate: "is after the latest date"
        case .tooSoon: "is before the earliest date"
        case .invalidDate: "isn't a valid date"
        case .tooLong: "is longer than the maximum length"
        case .tooShort: "is shorter than the minimum length"
        case .noMatch: "doesn't match the regular expression"
        case .dangling: "points to a row that isn't there"
        case .notUnique: other == 0 ? "isn't unique" : "isn't unique: clashes with p\(other)"
        }
    }
}

/// A rule that one row alone can break: a scan of its table checks it.
package struct RowCheck {
    package enum Condition {
        /// The column is NULL while one of `present` isn't; always checked if `present` is empty.
        case isNull(column: String, present: [String])
        /// The value isn't NULL and the test fails.
        case fails(ValueTest, column: String, isDecimal: Bool)
        /// A mandatory to-one without target.
        case hasNoTarget(column: String, target: Int)
        /// The key of a row that the target's table lacks, or that is of another entity.
        case isDangling(column: String, target: Int, numbers: ClosedRange<Int>)
    }

    /// Place in the rules.
    package let rule: Int
    /// Z_ENT of the rows that are checked.
    package let numbers: ClosedRange<Int>
    package let condition: Condition
    /// Place in the remedies, where the default is a valid value.
    package let remedy: Int?
}

/// Minimum and maximum count of a to-many.
package struct CountCheck {
    package enum Members {
        /// The owner's key in the members' table.
        case column(String)
        case join(JoinSide)
    }

    package struct JoinSide {
        package let table: String
        package let mine: String
        package let theirs: String
        /// A link may be stored in one direction or, as Core Data writes it, in both.
        package let isReflexive: Bool
    }

    /// Places in the rules.
    package let tooFew: Int
    package let tooMany: Int
    package let owner: Int
    package let numbers: ClosedRange<Int>
    package let memberTable: Int
    package let members: Members
    /// 0: no limit.
    package let least: Int
    /// 0: no limit.
    package let most: Int
    package let isOptional: Bool
}

/// Links of a join table whose ends must exist.
package struct JoinCheck {
    package struct End {
        package let rule: Int
        package let column: String
        package let table: Int
        package let numbers: ClosedRange<Int>
    }

    package let table: String
    package let owner: End
    package let destination: End
}

/// One constraint of uniqueness.
package struct UniquenessCheck {
    package let rule: Int
    package let table: Int
    package let columns: [String]
}
