import CausewayExpressions
import CausewayModel
import CausewaySQLite

/// The valid cells of a column, by the type of its values (InsideStoreFormat §4.1).
///
/// Core Data leaves whole seconds of a Date as integers, a Decimal that isn't a number as the text `NaN`, and digits
/// that no double holds as text. Those are valid.
enum CellForm: Hashable {
    case integer16
    case integer32
    case integer64
    /// 0 or 1.
    case boolean
    case double
    case float
    case date
    case decimal
    case text
    /// 16 bytes.
    case uuid
    /// Bytes of any length, which aren't read.
    case blob
    /// The key, number or place of another row.
    case key

    /// Seconds from 2001 of the years 1 and 4001: `Date.distantPast` and `.distantFuture`.
    static let dates = -63_114_076_800.0...64_092_211_200.0

    /// nil for a type that isn't stored in a column of its own.
    init?(_ type: AttributeType) {
        switch type {
        case .integer16: self = .integer16
        case .integer32: self = .integer32
        case .integer64: self = .integer64
        case .boolean: self = .boolean
        case .double: self = .double
        case .float: self = .float
        case .date: self = .date
        case .decimal: self = .decimal
        case .string, .uri: self = .text
        case .uuid: self = .uuid
        case .binary, .transformable: self = .blob
        case .undefined, .objectID, .composite: return nil
        }
    }

    /// The expected value, for messages.
    var expected: String {
        switch self {
        case .integer16, .integer32, .integer64, .boolean, .key: "an integer"
        case .double, .float, .date, .decimal: "a number"
        case .text: "text"
        case .uuid: "a blob of 16 bytes"
        case .blob: "a blob"
        }
    }

    /// What is wrong with values outside the range, for messages.
    var rangeComplaint: String {
        switch self {
        case .integer16: "holds numbers that don't fit Integer 16"
        case .integer32: "holds numbers that don't fit Integer 32"
        case .boolean: "holds numbers other than 0 and 1"
        case .float: "holds numbers that don't fit Float"
        case .date: "holds dates before the year 1 or after the year 4001"
        case .integer64, .double, .decimal, .text, .uuid, .blob, .key: "holds values that are out of range"
        }
    }

    // MARK: - Reading

    /// The expression to select. A blob's bytes are left where they are: only its class is selected, as `Self.code`
    /// reads it.
    func selected(_ column: SQLIdentifier) -> String {
        guard self == .blob else { return "\(column)" }
        return """
            CASE typeof(\(column)) WHEN 'null' THEN \(StorageClass.null.rawValue) \
            WHEN 'blob' THEN \(StorageClass.blob.rawValue) WHEN 'text' THEN \(StorageClass.text.rawValue) \
            WHEN 'integer' THEN \(StorageClass.integer.rawValue) ELSE \(StorageClass.real.rawValue) END
            """
    }

    /// The stored class of a cell that was selected with `selected`.
    func storageClass(_ row: borrowing Statement, at index: Int) -> StorageClass {
        guard self == .blob else { return row.type(at: index) }
        return StorageClass(rawValue: Int32(truncatingIfNeeded: row.int64(at: index))) ?? .null
    }

    /// What is wrong with a cell that isn't NULL; nil where nothing is.
    func fault(_ row: borrowing Statement, at index: Int, _ found: StorageClass, isUTF8: Bool) -> CellFault? {
        switch (self, found) {
        case (.integer16, .integer): Int16(exactly: row.int64(at: index)) == nil ? .range : nil
        case (.integer32, .integer): Int32(exactly: row.int64(at: index)) == nil ? .range : nil
        case (.boolean, .integer): (0...1).contains(row.int64(at: index)) ? nil : .range
        case (.integer64, .integer), (.key, .integer), (.double, .integer), (.double, .real), (.decimal, .integer),
            (.decimal, .real), (.blob, .blob), (.float, .integer):
            nil
        case (.float, .real): Self.fitsFloat(row.double(at: index)) ? nil : .range
        case (.date, .integer), (.date, .real): Self.dates.contains(row.double(at: index)) ? nil : .range
        case (.decimal, .text): Self.isDecimal(row, at: index) ? nil : .storageClass(found)
        case (.text, .text): unsafe isUTF8 && !Self.isText(row.unsafeBytes(at: index)) ? .encoding : nil
        case (.uuid, .blob): unsafe row.unsafeBytes(at: index).count == 16 ? nil : .storageClass(found)
        default: .storageClass(found)
        }
    }

    /// Whether bytes are valid UTF-8. Most text is ASCII: eight bytes are checked together, without a copy.
    @unsafe private static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var position = 0
        while position + 8 <= bytes.count {
            let word = unsafe bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            if word & 0x8080_8080_8080_8080 != 0 { break }
            position += 8
        }
        let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[position...])
        if unsafe rest.allSatisfy({ $0 < 0x80 }) { return true }
        return unsafe String(validating: rest, as: UTF8.self) != nil
    }

    /// Infinity fits: an app may mean it.
    private static func fitsFloat(_ value: Double) -> Bool {
        value.isInfinite || value.magnitude <= Double(Float.greatestFiniteMagnitude)
    }

    /// Bytes of a decimal as text: 38 digits, sign, point and an exponent take less.
    private static let longestDecimal = 300

    private static let decimalBytes = Array("+-.eE0123456789".utf8)

    private static func isDecimal(_ row: borrowing Statement, at index: Int) -> Bool {
        let bytes = unsafe row.unsafeText(at: index)
        guard bytes.count <= longestDecimal else { return false }
        let text = unsafe String(decoding: bytes, as: UTF8.self)
        // Neither hexadecimal nor infinite.
        let isPlain = text.utf8.allSatisfy { decimalBytes.contains($0) }
        return text == "NaN" || (isPlain && Double(text) != nil)
    }
}

/// What can be wrong with one cell.
enum CellFault: Hashable {
    /// Of another storage class than its type has, or of another form.
    case storageClass(StorageClass)
    /// Text that isn't valid UTF-8.
    case encoding
    /// Outside the type's range.
    case range
    /// NULL, although the model requires a value.
    case missing
}

extension StorageClass {
    /// For messages.
    package var described: String {
        switch self {
        case .integer: "integers"
        case .real: "reals"
        case .text: "text"
        case .blob: "blobs"
        case .null: "NULL"
        }
    }
}
