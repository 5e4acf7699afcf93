package import CausewayExpressions
package import CausewayModel
package import CausewaySQLiteFile

/// A constant in the storage class in which Core Data keeps it (InsideStoreFormat §4.1).
extension CellValue {
    /// The stored form of an attribute's default.
    ///
    /// - Returns: nil where the constant has no stored form for this type (an app's own object as the default of a
    ///   transformable attribute): the caller must refuse it, never write NULL instead.
    package init?(_ constant: Constant?, as attribute: Attribute) {
        guard let constant, constant != .null else {
            self = .null
            return
        }
        if let type = NumericType(attribute.type) {
            switch type.stored(default: constant) {
            case .integer(let value): self = .integer(value)
            case .real(let value): self = .real(value)
            case nil: return nil
            }
            return
        }
        switch (attribute.type, constant) {
        case (.date, .date(let value)), (.date, .real(let value)): self = Self.numeric(value)
        case (.date, .integer(let value)): self = .integer(value)
        case (.decimal, .decimal(let value)), (.decimal, .string(let value)): self = Self.decimal(value)
        case (.decimal, .integer(let value)): self = .integer(value)
        case (.decimal, .real(let value)): self = Self.numeric(value)
        case (.string, .string(let value)): self = .text(value)
        case (.uri, .uri(let value)), (.uri, .string(let value)): self = .text(value)
        case (.uuid, .uuid(let value)): self = .blob(value)
        case (.binary, .data(let value)):
            // The first byte of an externally stored value says that it is inline (InsideStoreFormat §4.3).
            self = .blob(attribute.allowsExternalBinaryDataStorage ? [1] + value : value)
        case (.transformable, .data(let value)): self = .blob(value)
        default: return nil
        }
    }

    /// A number as a column of NUMERIC affinity keeps it: as an integer if nothing is lost.
    private static func numeric(_ value: Double) -> CellValue {
        guard let exact = Int64(exactly: value) else { return .real(value) }
        return .integer(exact)
    }

    /// `NaN` is kept as text, as Core Data does; other decimals become numbers.
    private static func decimal(_ text: String) -> CellValue {
        if let integer = Int64(text) { return .integer(integer) }
        guard text != "NaN", let value = Double(text) else { return .text(text) }
        return numeric(value)
    }
}
