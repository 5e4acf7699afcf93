import CausewayModel
import CausewaySQLite
import CausewayStoreFormat

/// Writes one rejected row as a line of JSON, value by value: a row takes no more memory than SQLite has for it.
struct RejectLine {
    /// How a stored value is spelt.
    enum Form: Hashable {
        case plain
        case boolean
        case uuid
        /// A value with a prefix byte (store-format.md §4.3).
        case external
        /// The key of a to-one's target. Its Z_ENT is in the column that follows, or always the same.
        case link(number: Int?)
    }

    let file: RejectsFile

    func begin(_ violation: RowViolation) throws(EngineError) {
        try text("{\"uri\":")
        try string(violation.uri)
        try text(",\"entity\":")
        try string(violation.entity)
        try text(",\"key\":\(violation.key),\"reason\":")
        try string(violation.reason)
        try text(",\"code\":\(violation.code),\"property\":")
        try string(violation.property)
        try text(",\"values\":{")
    }

    func end() throws(EngineError) {
        try text("}}")
        try file.endLine()
    }

    func name(_ name: String, isFirst: Bool) throws(EngineError) {
        if !isFirst { try text(",") }
        try string(name)
        try text(":")
    }

    func uri(_ uri: String) throws(EngineError) { try string(uri) }

    func value(of row: borrowing Statement, at index: Int, as form: Form) throws(EngineError) {
        switch row.type(at: index) {
        case .null: try text("null")
        case .integer:
            let value = row.int64(at: index)
            try text(form == .boolean ? (value == 0 ? "false" : "true") : String(value))
        case .real:
            let value = row.double(at: index)
            // JSON has no other numbers.
            try text(value.isFinite ? "\(value)" : "\"\(value)\"")
        case .text: try unsafe string(row.unsafeText(at: index))
        case .blob: try unsafe blob(row.unsafeBytes(at: index), as: form)
        }
    }

    private func blob(_ bytes: UnsafeRawBufferPointer, as form: Form) throws(EngineError) {
        if form == .uuid, bytes.count == 16 {
            var digits = ""
            for (offset, byte) in unsafe Array(bytes).enumerated() {
                if [4, 6, 8, 10].contains(offset) { digits += "-" }
                digits += (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
            return try string(digits)
        }
        if form == .external {
            if bytes.count == 38, let name = ExternalValues.fileName(in: unsafe Array(bytes)) {
                try text("{\"externalFile\":")
                try string(name)
                return try text("}")
            }
            if unsafe bytes.first == ExternalValues.inlinePrefix {
                return try unsafe base64(UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))
            }
        }
        try unsafe base64(bytes)
    }

    private func base64(_ bytes: UnsafeRawBufferPointer) throws(EngineError) {
        try text("\"")
        var position = 0
        while position < bytes.count {
            let rest = bytes.count - position
            let group =
                unsafe UInt32(bytes[position]) << 16 | (rest > 1 ? UInt32(bytes[position + 1]) << 8 : 0)
                | (rest > 2 ? UInt32(bytes[position + 2]) : 0)
            for place in 0..<4 {
                let digit = Self.digits[Int(group >> UInt32(18 - 6 * place) & 63)]
                try file.append(CollectionOfOne(place <= rest ? digit : UInt8(ascii: "=")))
            }
            position += 3
        }
        try text("\"")
    }

    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    // MARK: - Text

    private func text(_ text: String) throws(EngineError) { try file.append(text.utf8) }

    private func string(_ text: String) throws(EngineError) {
        try self.text("\"")
        for scalar in text.unicodeScalars { try character(scalar) }
        try self.text("\"")
    }

    /// UTF-8 of a store; what is damaged in it becomes U+FFFD.
    private func string(_ bytes: UnsafeRawBufferPointer) throws(EngineError) {
        try text("\"")
        var decoder = UTF8()
        var iterator = unsafe bytes.makeIterator()
        decoding: while true {
            switch unsafe decoder.decode(&iterator) {
            case .scalarValue(let scalar): try character(scalar)
            case .error: try character("\u{FFFD}")
            case .emptyInput: break decoding
            }
        }
        try text("\"")
    }

    private func character(_ scalar: Unicode.Scalar) throws(EngineError) {
        switch scalar {
        case "\"": try text("\\\"")
        case "\\": try text("\\\\")
        case "\n": try text("\\n")
        case "\r": try text("\\r")
        case "\t": try text("\\t")
        default:
            guard scalar.value < 0x20 || scalar.value == 0x7F || scalar.value == 0x2028 || scalar.value == 0x2029 else {
                return try file.append(Unicode.UTF8.encode(scalar) ?? Unicode.UTF8.encodedReplacementCharacter)
            }
            let digits = String(scalar.value, radix: 16)
            try text("\\u" + String(repeating: "0", count: 4 - digits.count) + digits)
        }
    }
}
