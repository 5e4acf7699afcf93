/// A condition of Core Data's language, as `NSPredicate` holds one.
package indirect enum Predicate: Hashable, Sendable {
    /// `TRUEPREDICATE`, `FALSEPREDICATE`.
    case literal(Bool)
    case comparison(Comparison)
    case not(Predicate)
    /// `a AND b AND …`; two or more terms where it was parsed, any number where it was archived.
    case and([Predicate])
    /// `a OR b OR …`.
    case or([Predicate])

    /// `modifier left operator[options] right`, as `NSComparisonPredicate` holds one.
    package struct Comparison: Hashable, Sendable {
        package var left: Expression
        package var operation: ComparisonOperator
        package var right: Expression
        package var modifier: Modifier
        package var options: Options

        package init(
            _ left: Expression, _ operation: ComparisonOperator, _ right: Expression, modifier: Modifier = .direct,
            options: Options = []
        ) {
            self.left = left
            self.operation = operation
            self.right = right
            self.modifier = modifier
            self.options = options
        }
    }

    /// `NSComparisonPredicate.Modifier`; the raw values are those of the archive. `NONE x` is `NOT (ANY x)`.
    package enum Modifier: Int, Hashable, Sendable {
        case direct = 0
        case all = 1
        case any = 2
    }

    /// `NSComparisonPredicate.Options`; the raw values are those of the archive.
    package struct Options: OptionSet, Hashable, Sendable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }
        package static let caseInsensitive = Options(rawValue: 1)
        package static let diacriticInsensitive = Options(rawValue: 2)
        package static let normalized = Options(rawValue: 4)
        package static let localeSensitive = Options(rawValue: 8)

        /// As format strings have them: `[cd]`.
        static let letters: [(letter: Character, option: Options)] = [
            ("c", .caseInsensitive), ("d", .diacriticInsensitive), ("n", .normalized), ("l", .localeSensitive),
        ]
    }
}

/// `NSComparisonPredicate.Operator`; the raw values are those of the archive's `NSOperatorType`.
package enum ComparisonOperator: Int, Hashable, Sendable {
    case lessThan = 0
    case lessThanOrEqualTo = 1
    case greaterThan = 2
    case greaterThanOrEqualTo = 3
    case equalTo = 4
    case notEqualTo = 5
    case matches = 6
    case like = 7
    case beginsWith = 8
    case endsWith = 9
    case `in` = 10
    case contains = 99
    case between = 100
}
