import CausewayModel

/// The groups in which Core Data declares an entity table's columns, in this order over the whole tree
/// (InsideStoreFormat §3).
enum ColumnGroup: Int, CaseIterable {
    /// Whole numbers and Booleans, then to-ones, then virtual to-ones.
    case integers
    /// `Z_FOK_…`
    case orderKeys
    /// Dates, doubles and floats, mixed.
    case floats
    case decimals
    case strings
    case uuids
    case uris
    case transformables
    case binaries

    /// Groups of attributes only, in order; the integers come first, then the relationships.
    static let afterRelationships = allCases.dropFirst(2)
}

extension AttributeType {
    /// The declared type of the column; nil for types that are never stored.
    var sqlType: String? {
        switch self {
        case .integer16, .integer32, .integer64, .boolean: "INTEGER"
        case .decimal: "DECIMAL"
        case .double, .float: "FLOAT"
        case .string, .uri: "VARCHAR"
        case .date: "TIMESTAMP"
        case .binary, .uuid, .transformable: "BLOB"
        case .undefined, .objectID, .composite: nil
        }
    }

    var columnGroup: ColumnGroup? {
        switch self {
        case .integer16, .integer32, .integer64, .boolean: .integers
        case .double, .float, .date: .floats
        case .decimal: .decimals
        case .string: .strings
        case .uuid: .uuids
        case .uri: .uris
        case .transformable: .transformables
        case .binary: .binaries
        case .undefined, .objectID, .composite: nil
        }
    }
}
