/// The value of an attribute, of a relationship or of an expression, as policies and handlers see it.
///
/// What `id` is in Core Data's key-value coding, as a closed set.
public enum Value: Hashable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    /// Plain decimal notation (`-12.50`, `NaN`), as `NSDecimalNumber` prints it.
    case decimal(String)
    case string(String)
    /// Seconds since 2001-01-01 00:00:00 UTC, as Core Data stores dates.
    case date(Double)
    case data([UInt8])
    /// 16 bytes.
    case uuid([UInt8])
    /// An absolute URL string.
    case uri(String)
    case object(ObjectID)
    /// An array, a set or the objects of a to-many relationship; the order is that of the relationship, or of keys.
    case collection([Value])
}

extension Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral
{
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A real number.
    public init(floatLiteral value: Double) { self = .real(value) }
    /// A truth value.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    /// NULL.
    public init(nilLiteral: ()) { self = .null }
    /// A collection.
    public init(arrayLiteral elements: Value...) { self = .collection(elements) }
}

extension Value {
    /// Whether the value is NULL.
    public var isNull: Bool { self == .null }
}
