import CausewayEvaluation
import CausewayModel

/// Values of attributes to and from the storage classes in which Core Data keeps them (InsideStoreFormat §4.1).
enum CellCoding {
    /// The first byte of an inline value of an attribute that allows external storage (InsideStoreFormat §4.3).
    private static let inlinePrefix: UInt8 = 1

    /// What a cell that isn't carried holds, as the attribute's type; nil if the storage class doesn't fit it.
    /// `content` gives the data of an attribute that allows external storage.
    static func value(
        of cell: Cell, as attribute: AttributeForm, content: ([UInt8]) throws(ObjectError) -> [UInt8]
    ) throws(ObjectError) -> Value? {
        switch (attribute.type, cell) {
        case (_, .null): return .null
        case (.boolean, .integer(let value)): return .boolean(value != 0)
        case (.integer16, .integer(let value)), (.integer32, .integer(let value)), (.integer64, .integer(let value)):
            return .integer(value)
        case (.double, .integer(let value)), (.float, .integer(let value)): return .real(Double(value))
        case (.double, .real(let value)), (.float, .real(let value)): return .real(value)
        case (.date, .integer(let value)): return .date(Double(value))
        case (.date, .real(let value)): return .date(value)
        case (.decimal, .integer(let value)): return .decimal(String(value))
        case (.decimal, .real(let value)): return .decimal(plain(value))
        case (.decimal, .text(let value)): return .decimal(value)
        case (.string, .text(let value)): return .string(value)
        case (.uri, .text(let value)): return .uri(value)
        case (.uuid, .blob(let value)) where value.count == 16: return .uuid(value)
        case (.binary, .blob(let value)):
            return .data(attribute.isExternal ? try content(value) : value)
        case (.transformable, .blob(let value)): return .data(value)
        case (.transformable, .text(let value)), (.objectID, .text(let value)): return .string(value)
        case (.undefined, .integer(let value)): return .integer(value)
        case (.undefined, .real(let value)): return .real(value)
        case (.undefined, .text(let value)): return .string(value)
        case (.undefined, .blob(let value)): return .data(value)
        default: return nil
        }
    }

    /// The shortest digits that read back as the same double, in plain notation: `0.00001` rather than `1e-05`.
    private static func plain(_ value: Double) -> String {
        if let integer = Int64(exactly: value) { return String(integer) }
        let text = "\(value)"
        let parts = text.split(separator: "e")
        guard parts.count == 2, let exponent = Int(parts[1]) else { return text }
        let sign = parts[0].hasPrefix("-") ? "-" : ""
        let mantissa = parts[0].drop { $0 == "-" }.split(separator: ".")
        let whole = mantissa.first.map(String.init) ?? ""
        let fraction = mantissa.count > 1 && mantissa[1] != "0" ? String(mantissa[1]) : ""
        let digits = whole + fraction
        let point = whole.count + exponent
        if point <= 0 { return sign + "0." + String(repeating: "0", count: -point) + digits }
        if point >= digits.count { return sign + digits + String(repeating: "0", count: point - digits.count) }
        return sign + digits.prefix(point) + "." + digits.dropFirst(point)
    }

    /// The stored form of a value; nil if the value doesn't fit the attribute's type, or is too large for it.
    static func cell(for value: Value, as attribute: AttributeForm) -> Cell? {
        switch (attribute.type, value) {
        case (_, .null): return .null
        case (.boolean, .boolean(let value)): return .integer(value ? 1 : 0)
        case (.boolean, .integer(let value)): return .integer(value == 0 ? 0 : 1)
        case (.integer16, .integer(let value)): return Int16(exactly: value).map { .integer(Int64($0)) }
        case (.integer32, .integer(let value)): return Int32(exactly: value).map { .integer(Int64($0)) }
        case (.integer64, .integer(let value)): return .integer(value)
        case (.integer16, .boolean(let value)), (.integer32, .boolean(let value)), (.integer64, .boolean(let value)):
            return .integer(value ? 1 : 0)
        case (.integer16, .real(let value)):
            return Int16(exactly: value.rounded(.towardZero)).map { .integer(Int64($0)) }
        case (.integer32, .real(let value)):
            return Int32(exactly: value.rounded(.towardZero)).map { .integer(Int64($0)) }
        case (.integer64, .real(let value)): return Int64(exactly: value.rounded(.towardZero)).map { .integer($0) }
        case (.integer16, .decimal(let text)), (.integer32, .decimal(let text)), (.integer64, .decimal(let text)):
            return Double(text).flatMap { cell(for: .real($0), as: attribute) }
        case (.double, .real(let value)): return value.isNaN ? nil : .real(value)
        case (.double, .integer(let value)): return .real(Double(value))
        case (.float, .real(let value)): return float(value)
        case (.float, .integer(let value)): return .real(Double(Float(value)))
        case (.double, .decimal(let text)), (.float, .decimal(let text)):
            return Double(text).flatMap { cell(for: .real($0), as: attribute) }
        case (.double, .boolean(let value)), (.float, .boolean(let value)): return .real(value ? 1 : 0)
        case (.date, .date(let value)): return value.isNaN ? nil : numeric(value)
        case (.decimal, .decimal(let text)): return decimal(text)
        case (.decimal, .integer(let value)): return .integer(value)
        case (.decimal, .real(let value)): return value.isNaN ? .text("NaN") : numeric(value)
        case (.decimal, .boolean(let value)): return .integer(value ? 1 : 0)
        case (.string, .string(let value)): return .text(value)
        case (.uri, .uri(let value)): return .text(value)
        case (.uuid, .uuid(let value)): return value.count == 16 ? .blob(value) : nil
        case (.binary, .data(let value)):
            return .blob(attribute.isExternal ? [inlinePrefix] + value : value)
        case (.transformable, .data(let value)): return .blob(value)
        case (.transformable, .string(let value)): return .text(value)
        case (.objectID, .string(let value)), (.objectID, .uri(let value)): return .text(value)
        case (.boolean, .real(let value)): return truth(value)
        case (.boolean, .decimal(let text)): return Double(text).flatMap(truth)
        case (.undefined, .integer(let value)): return .integer(value)
        case (.undefined, .real(let value)): return value.isNaN ? nil : .real(value)
        case (.undefined, .string(let value)): return .text(value)
        case (.undefined, .data(let value)): return .blob(value)
        default: return nil
        }
    }

    /// As `-[NSNumber boolValue]`: every number but 0 is true.
    private static func truth(_ value: Double) -> Cell? {
        value.isNaN ? nil : .integer(value == 0 ? 0 : 1)
    }

    /// A number as a column of NUMERIC affinity keeps it: as an integer if nothing is lost.
    private static func numeric(_ value: Double) -> Cell {
        Int64(exactly: value).map { .integer($0) } ?? .real(value)
    }

    /// Core Data rounds to Float too, but a number must not become infinite.
    private static func float(_ value: Double) -> Cell? {
        let short = Float(value)
        return value.isNaN || (short.isInfinite && value.isFinite) ? nil : .real(Double(short))
    }

    private static func decimal(_ text: String) -> Cell? {
        if let integer = Int64(text) { return .integer(integer) }
        if text == "NaN" { return .text(text) }
        // Swift also reads hexadecimal numbers and names, which aren't decimal numbers.
        guard text.utf8.allSatisfy({ Self.decimalBytes.contains($0) }), let value = Double(text), value.isFinite else {
            return nil
        }
        return numeric(value)
    }

    private static let decimalBytes = Set("0123456789.eE+-".utf8)
}
