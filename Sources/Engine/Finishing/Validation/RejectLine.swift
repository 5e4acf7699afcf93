import CausewayModel
import CausewaySQLite
import CausewayStores

/// Writes one rejected row as a line of JSON, value by value: a row takes no more memory than SQLite has for it.
struct RejectLine {
    /// How a stored value is written.
    enum Form: Hashable {
        case plain
        case boolean
        case uuid
        /// A value with a prefix byte (InsideStoreFormat §4.3).
        case external
        /// The key of a to-one's target. Its Z_ENT is in the column that follows, or always the same.
        case link(number: Int?)
    }

    private let json: JSONLineText<LineFile>

    init(file: LineFile) {
        json = JSONLineText(sink: file)
    }

    func begin(_ violation: RowViolation) throws(EngineError) {
        try json.members(["uri": violation.uri, "entity": violation.entity])
        try json.text(",\"key\":\(violation.key)")
        try json.members(["reason": violation.reason], isFirst: false)
        try json.text(",\"code\":\(violation.code)")
        try json.members(["property": violation.property], isFirst: false)
        try json.text(",\"values\":{")
    }

    func end() throws(EngineError) {
        try json.text("}}\n")
    }

    func name(_ name: String, isFirst: Bool) throws(EngineError) {
        if !isFirst { try json.text(",") }
        try json.string(name)
        try json.text(":")
    }

    func uri(_ uri: String) throws(EngineError) { try json.string(uri) }

    func value(of row: borrowing Statement, at index: Int, as form: Form) throws(EngineError) {
        switch row.type(at: index) {
        case .null: try json.text("null")
        case .integer:
            let value = row.int64(at: index)
            try json.text(form == .boolean ? (value == 0 ? "false" : "true") : String(value))
        case .real:
            let value = row.double(at: index)
            // JSON has no infinities.
            try json.text(value.isFinite ? "\(value)" : "\"\(value)\"")
        case .text: try unsafe json.string(row.unsafeText(at: index))
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
            return try json.string(digits)
        }
        if form == .external {
            if bytes.count == 38, let name = ExternalValues.fileName(in: unsafe Array(bytes)) {
                try json.text("{\"externalFile\":")
                try json.string(name)
                return try json.text("}")
            }
            if unsafe bytes.first == ExternalValues.inlinePrefix {
                return try unsafe json.base64(UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))
            }
        }
        try unsafe json.base64(bytes)
    }
}
