/// A property list as a tree of values.
///
/// Booleans stay distinct from integers, and an integer from a real of the same value. Strings are compared as Swift
/// compares them (canonical equivalence), so keys that differ only in their Unicode normalisation count as equal.
package enum PropertyList: Hashable, Sendable {
    case boolean(Bool)
    case integer(Int64)
    /// Only for values above `Int64.max`; everything else is `integer`.
    case unsigned(UInt64)
    /// 32-bit reals are widened, which keeps their value.
    case real(Double)
    /// Seconds since 2001-01-01 00:00:00 UTC.
    case date(Double)
    case data([UInt8])
    case string(String)
    /// A reference of a keyed archive.
    case uid(UInt64)
    /// An array, or a set in the order in which it was stored.
    case array([PropertyList])
    case dictionary([String: PropertyList])
}

extension PropertyList {
    /// Parses a binary property list and expands it.
    ///
    /// Throws what `BinaryPropertyList.init(parsing:)` and `BinaryPropertyList.tree()` throw.
    package init(parsing bytes: [UInt8]) throws(PropertyListError) {
        self = try BinaryPropertyList(parsing: bytes).tree()
    }

    package var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
    package var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    package var unsigned: UInt64? { if case .unsigned(let value) = self { value } else { nil } }
    package var real: Double? { if case .real(let value) = self { value } else { nil } }
    package var date: Double? { if case .date(let value) = self { value } else { nil } }
    package var data: [UInt8]? { if case .data(let value) = self { value } else { nil } }
    package var string: String? { if case .string(let value) = self { value } else { nil } }
    package var uid: UInt64? { if case .uid(let value) = self { value } else { nil } }
    package var array: [PropertyList]? { if case .array(let value) = self { value } else { nil } }
    package var dictionary: [String: PropertyList]? { if case .dictionary(let value) = self { value } else { nil } }

    /// The entry of a dictionary; `nil` when there is none or the value is no dictionary.
    package subscript(key: String) -> PropertyList? { dictionary?[key] }

    /// An integer by the rule of the cases: `unsigned` only above `Int64.max`.
    package init(_ value: UInt64) {
        self = if let signed = Int64(exactly: value) { .integer(signed) } else { .unsigned(value) }
    }
}
