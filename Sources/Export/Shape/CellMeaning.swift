import CausewayModel

/// What a cell's storage class means, by the type of its attribute (InsideStoreFormat §4.1).
enum CellMeaning: Hashable {
    case integer(bits: Int)
    /// 0 or 1.
    case boolean
    case double, float, date, decimal, text, uuid
    /// Binary and transformable; external ones have a prefix (InsideStoreFormat §4.3).
    case bytes(isExternal: Bool)

    /// nil for a type without a cell of its own.
    init?(_ attribute: Attribute) {
        switch attribute.type {
        case .integer16: self = .integer(bits: 16)
        case .integer32: self = .integer(bits: 32)
        case .integer64: self = .integer(bits: 64)
        case .boolean: self = .boolean
        case .double: self = .double
        case .float: self = .float
        case .date: self = .date
        case .decimal: self = .decimal
        case .string, .uri: self = .text
        case .uuid: self = .uuid
        case .binary, .transformable: self = .bytes(isExternal: attribute.allowsExternalBinaryDataStorage)
        case .undefined, .objectID, .composite: return nil
        }
    }

    /// The numbers that an integer has room for.
    static func integers(ofBits bits: Int) -> ClosedRange<Int64> {
        (Int64.min >> (64 - Int64(bits)))...(Int64.max >> (64 - Int64(bits)))
    }
}
