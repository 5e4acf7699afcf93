package import CausewayExpressions

/// The attribute types whose values Core Data's inference converts into each other (InsideCoreDataMigration §4).
/// Decimal isn't one of them: nothing shows that Core Data would infer it.
package enum NumericType: Hashable, Sendable, CaseIterable {
    case boolean, integer16, integer32, integer64, float, double

    package init?(_ type: AttributeType) {
        guard let found = Self.allCases.first(where: { $0.attributeType == type }) else { return nil }
        self = found
    }

    package var attributeType: AttributeType {
        switch self {
        case .boolean: .boolean
        case .integer16: .integer16
        case .integer32: .integer32
        case .integer64: .integer64
        case .float: .float
        case .double: .double
        }
    }

    /// How a column of this type keeps its numbers: INTEGER or FLOAT, which has REAL affinity (InsideStoreFormat §4.1).
    package var isReal: Bool { self == .float || self == .double }
}

/// A number as SQLite keeps it.
package enum StoredNumber: Hashable, Sendable {
    case integer(Int64)
    case real(Double)
}

extension NumericType {
    /// A number as a column of this type stores it: SQLite's own conversion, which keeps what it can't convert. A real
    /// that equals an integer becomes that integer, except at the ends of the range
    /// (https://www.sqlite.org/datatype3.html#type_affinity, `sqlite3VdbeIntegerAffinity`).
    package func stored(_ number: StoredNumber) -> StoredNumber {
        switch number {
        case .integer(let value): return isReal ? .real(Double(value)) : number
        case .real(let value):
            guard !isReal, let whole = Int64(exactly: value), whole != .min else { return number }
            return .integer(whole)
        }
    }

    /// The stored form of a default value; nil where it has none.
    package func stored(default constant: Constant) -> StoredNumber? {
        switch (self, constant) {
        case (.boolean, .boolean(let value)): return .integer(value ? 1 : 0)
        case (.boolean, .integer(let value)): return .integer(value == 0 ? 0 : 1)
        case (.integer16, .boolean(let value)), (.integer32, .boolean(let value)), (.integer64, .boolean(let value)):
            return .integer(value ? 1 : 0)
        case (.integer16, .integer(let value)), (.integer32, .integer(let value)), (.integer64, .integer(let value)):
            return .integer(value)
        case (.integer16, .real(let value)), (.integer32, .real(let value)), (.integer64, .real(let value)):
            return Int64(exactly: value.rounded(.towardZero)).map { .integer($0) }
        case (.float, .integer(let value)), (.double, .integer(let value)): return .real(Double(value))
        case (.float, .real(let value)): return .real(Double(Float(value)))
        case (.double, .real(let value)): return .real(value)
        default: return nil
        }
    }

    /// Whether the type can hold a number.
    package enum Fit: Hashable, Sendable {
        case exact
        /// The type only has another nearest number.
        case rounded
        case misfit(Misfit)
    }

    /// Why a type can't hold a number.
    package enum Misfit: Hashable, Sendable, CaseIterable {
        case outOfRange, fraction, neitherNoNorYes
    }

    package func fit(of number: StoredNumber) -> Fit {
        switch self {
        case .boolean:
            let isTruth = number == .integer(0) || number == .integer(1) || number == .real(0) || number == .real(1)
            return isTruth ? .exact : .misfit(.neitherNoNorYes)
        case .integer16: return fit(of: number, as: Int16.self)
        case .integer32: return fit(of: number, as: Int32.self)
        case .integer64: return fit(of: number, as: Int64.self)
        case .float:
            switch number {
            case .integer(let value): return Int64(exactly: Float(value)) == value ? .exact : .rounded
            case .real(let value):
                let short = Float(value)
                if short.isInfinite, value.isFinite { return .misfit(.outOfRange) }
                return Double(short) == value ? .exact : .rounded
            }
        case .double:
            guard case .integer(let value) = number else { return .exact }
            return Int64(exactly: Double(value)) == value ? .exact : .rounded
        }
    }

    /// Whether it can hold every number of another type, though maybe not exactly.
    package func holdsAll(of other: NumericType) -> Bool {
        switch self {
        case .double: true
        case .float: other != .double
        case .boolean, .integer16, .integer32, .integer64: !other.isReal && other.bits <= bits
        }
    }

    private var bits: Int {
        switch self {
        case .boolean: 1
        case .integer16: 16
        case .integer32, .float: 32
        case .integer64, .double: 64
        }
    }

    private func fit<Whole: FixedWidthInteger>(of number: StoredNumber, as type: Whole.Type) -> Fit {
        switch number {
        case .integer(let value): return Whole(exactly: value) == nil ? .misfit(.outOfRange) : .exact
        case .real(let value):
            if value.isFinite, value != value.rounded(.towardZero) { return .misfit(.fraction) }
            return Whole(exactly: value) == nil ? .misfit(.outOfRange) : .exact
        }
    }
}
