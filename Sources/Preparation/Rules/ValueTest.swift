package import CausewayEvaluation
import CausewaySQLite
package import CausewaySQLiteFile
package import CausewayStores

/// A validation predicate on one value that isn't NULL, compiled: evaluated in SQL if SQL gives Core Data's answer,
/// else in Swift.
package indirect enum ValueTest: Sendable {
    package enum Subject: Hashable, Sendable {
        case value
        /// UTF-16 code units, as `-[NSString length]` counts.
        case length
    }

    /// The raw values are SQL's.
    package enum Relation: String, Hashable, Sendable {
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        case equal = "="
        case notEqual = "<>"

        /// The relation with swapped operands.
        var mirrored: Relation {
            switch self {
            case .less: .greater
            case .lessOrEqual: .greaterOrEqual
            case .greater: .less
            case .greaterOrEqual: .lessOrEqual
            case .equal, .notEqual: self
            }
        }

        func holds<Operand: Comparable>(_ left: Operand, _ right: Operand) -> Bool {
            switch self {
            case .less: left < right
            case .lessOrEqual: left <= right
            case .greater: left > right
            case .greaterOrEqual: left >= right
            case .equal: left == right
            case .notEqual: left != right
            }
        }
    }

    case always(Bool)
    /// The literal is a number, or a text for equality; for lengths an integer from 0 to `longestLength`.
    case compare(Subject, Relation, CellValue)
    case matches(RegularExpression)
    case not(ValueTest)
    case all([ValueTest])
    case any([ValueTest])

    /// Longer lengths in a model are reduced to this: no value is longer, and three times this is still a valid number
    /// of bytes.
    static let longestLength: Int64 = 1 << 40
}

// MARK: - SQL

extension ValueTest {
    /// The test as an SQL condition; nil if SQL's answer would differ from Core Data's.
    package func sql(_ value: String, _ parameters: inout SQLParameters) -> String? {
        switch self {
        case .always(let answer): return answer ? "1" : "0"
        case .compare(.value, let relation, let literal):
            return "\(value) \(relation.rawValue) \(parameters.add(literal))"
        case .compare(.length, _, _), .matches: return nil
        case .not(let test): return test.sql(value, &parameters).map { "NOT (\($0))" }
        case .all(let tests): return Self.compound(tests, "AND", value, &parameters)
        case .any(let tests): return Self.compound(tests, "OR", value, &parameters)
        }
    }

    private static func compound(
        _ tests: [ValueTest], _ word: String, _ value: String, _ parameters: inout SQLParameters
    ) -> String? {
        guard !tests.isEmpty else { return word == "AND" ? "1" : "0" }
        var terms: [String] = []
        for test in tests {
            guard let term = test.sql(value, &parameters) else { return nil }
            terms.append("(\(term))")
        }
        return BalancedSQL.joined(terms, by: word)
    }

    /// A condition that holds for every text that fails the test, and for as few others as possible without decoding
    /// characters: U code units take from U to 3 U bytes of UTF-8 (a surrogate pair takes four), and new stores are in
    /// UTF-8.
    package func mayFailSQL(_ text: String, _ parameters: inout SQLParameters) -> String {
        guard case .compare(.length, let relation, .integer(let bound)) = self else { return "1" }
        let bytes = "length(CAST(\(text) AS BLOB))"
        func compare(_ relation: String, _ number: Int64) -> String {
            "\(bytes) \(relation) \(parameters.add(.integer(number)))"
        }
        switch relation {
        case .lessOrEqual: return compare(">", bound)
        case .less: return compare(">=", bound)
        case .greaterOrEqual: return compare("<", 3 * bound)
        case .greater: return compare("<=", 3 * bound)
        case .notEqual: return "\(compare(">=", bound)) AND \(compare("<=", 3 * bound))"
        case .equal: return "1"
        }
    }
}

/// Values of a statement's numbered parameters, collected while its text is made.
package struct SQLParameters {
    package private(set) var values: [CellValue] = []

    /// None yet.
    package init() {}

    /// The parameter's name.
    package mutating func add(_ value: CellValue) -> String {
        values.append(value)
        return "?\(values.count)"
    }
}

// MARK: - In Swift

extension ValueTest {
    /// The test's answer for a value that isn't NULL.
    package func holds(for value: CellValue) throws(EngineError) -> Bool {
        switch self {
        case .always(let answer): return answer
        case .compare(.length, let relation, .integer(let bound)):
            guard case .text(let text) = value else { return true }
            return relation.holds(Int64(text.utf16.count), bound)
        case .compare(_, let relation, let literal): return Self.compare(value, relation, literal)
        case .matches(let regex):
            guard case .text(let text) = value else { return false }
            do {
                return try regex.matches(text)
            } catch {
                throw EngineError(
                    .verification, "a regular expression of the model can't be evaluated: \(error.message)")
            }
        case .not(let test): return try !test.holds(for: value)
        case .all(let tests):
            for test in tests where try !test.holds(for: value) { return false }
            return true
        case .any(let tests):
            for test in tests where try test.holds(for: value) { return true }
            return false
        }
    }

    /// Whether the test compares only the length.
    package var isOfLength: Bool {
        if case .compare(.length, _, .integer) = self { true } else { false }
    }

    /// The answer of such a test for a known length.
    package func holds(forLength length: Int) -> Bool {
        guard case .compare(.length, let relation, .integer(let bound)) = self else { return true }
        return relation.holds(Int64(length), bound)
    }

    private static func compare(_ left: CellValue, _ relation: Relation, _ right: CellValue) -> Bool {
        switch (left, right) {
        case (.integer(let a), .integer(let b)): relation.holds(a, b)
        case (.integer(let a), .real(let b)): relation.holds(Double(a), b)
        case (.real(let a), .integer(let b)): relation.holds(a, Double(b))
        case (.real(let a), .real(let b)): relation.holds(a, b)
        // Byte for byte, as SQLite and `isEqualToString:` compare; Swift's == takes canonical equivalents as equal.
        case (.text(let a), .text(let b)): relation.holds(a.utf8.elementsEqual(b.utf8) ? 0 : 1, 0)
        default: relation == .notEqual
        }
    }
}

extension ValueTest {
    /// Whether values that pass can be told by comparisons with numbers and lengths alone.
    var isOfNumbersAndLengths: Bool {
        switch self {
        case .always(let answer): answer
        case .compare: true
        case .all(let tests): tests.allSatisfy(\.isOfNumbersAndLengths)
        case .any(let tests): tests.contains(where: \.isOfNumbersAndLengths)
        case .matches, .not: false
        }
    }

    /// Whether the test holds for a number; false also where that takes more than comparisons.
    package func surelyHolds(for number: CellValue) -> Bool {
        switch self {
        case .always(let answer): answer
        case .compare(.length, _, _): true
        case .compare(.value, let relation, let literal):
            Self.isExact(number, literal) && Self.compare(number, relation, literal)
        case .all(let tests): tests.allSatisfy { $0.surelyHolds(for: number) }
        case .any(let tests): tests.contains { $0.surelyHolds(for: number) }
        case .matches, .not: false
        }
    }

    /// Whether no digit is lost where an integer is compared with a real.
    private static func isExact(_ one: CellValue, _ other: CellValue) -> Bool {
        switch (one, other) {
        case (.integer(let integer), .real), (.real, .integer(let integer)): integer.magnitude < 1 << 53
        default: true
        }
    }

    /// Whether it holds for every text of so many bytes of UTF-8; false also where that takes more than its length.
    package func surelyHolds(forTextOf bytes: Int) -> Bool {
        switch self {
        case .always(let answer): answer
        case .compare(.length, let relation, .integer(let bound)):
            // A code unit of UTF-16 takes one byte to three.
            switch relation {
            case .less, .lessOrEqual: relation.holds(Int64(bytes), bound)
            case .greater, .greaterOrEqual: relation.holds(Int64((bytes + 2) / 3), bound)
            case .equal, .notEqual: false
            }
        case .all(let tests): tests.allSatisfy { $0.surelyHolds(forTextOf: bytes) }
        case .any(let tests): tests.contains { $0.surelyHolds(forTextOf: bytes) }
        case .compare, .matches, .not: false
        }
    }
}

extension ValueTest {
    /// The value as comparisons take it: `NaN` in a decimal column is below all numbers.
    package static func compared(_ value: CellValue, isDecimal: Bool) -> CellValue {
        if isDecimal, case .text = value { return .real(-.infinity) }
        return value
    }
}
