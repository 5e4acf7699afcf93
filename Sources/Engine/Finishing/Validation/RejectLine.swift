import CausewayModel
import CausewaySQLite
import CausewayStores

/// How a stored value of a rejected row is written.
enum RejectedForm: Hashable {
    case plain
    case boolean
    case uuid
    /// A value with a prefix byte (InsideStoreFormat §4.3).
    case external
    /// The key of a to-one's target. Its Z_ENT is in the column that follows, or always the same.
    case link(number: Int?)
}

/// Writes one rejected row as a line of JSON, value by value: a row takes no more memory than SQLite has for it.
extension JSONLineText {
    /// Everything before the values.
    func begin(_ violation: RowViolation) throws(EngineError) {
        try members(["uri": violation.uri, "entity": violation.entity])
        try text(",\"key\":\(violation.key)")
        try members(["reason": violation.reason], isFirst: false)
        try text(",\"code\":\(violation.code)")
        try members(["property": violation.property], isFirst: false)
        try text(",\"values\":{")
    }

    func value(of row: borrowing Statement, at index: Int, as form: RejectedForm) throws(EngineError) {
        switch row.type(at: index) {
        case .null: try text("null")
        case .integer:
            let value = row.int64(at: index)
            try text(form == .boolean ? (value == 0 ? "false" : "true") : String(value))
        case .real: try number(row.double(at: index))
        case .text: try unsafe string(row.unsafeText(at: index))
        case .blob: try unsafe blob(row.unsafeBytes(at: index), as: form)
        }
    }

    private func blob(_ bytes: UnsafeRawBufferPointer, as form: RejectedForm) throws(EngineError) {
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
}
