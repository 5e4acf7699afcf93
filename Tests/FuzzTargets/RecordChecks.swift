import CausewayCheckpoint

/// Records of a run in its work directory: JSON.
enum RecordChecks {
    static func run(_ bytes: [UInt8]) throws(BrokenPromise) {
        _ = try BrokenPromise.unlessRefused { () throws(CheckpointError) in try JSONRecord.format(of: bytes) }
        guard
            let value = try BrokenPromise.unlessRefused({ () throws(CheckpointError) in
                try JSONRecord.decode(bytes, as: JSONValue.self)
            }),
            // Numbers that JSON can't hold are refused when they are written.
            let written = try BrokenPromise.unlessRefused({ () throws(CheckpointError) in
                try JSONRecord.encode(value)
            })
        else { return }
        // Twice: a real without a fraction is written as a whole number, and read as one from then on.
        let (once, twice) = try BrokenPromise.unlessDone("a written record isn't read") {
            () throws(CheckpointError) in
            let once = try JSONRecord.encode(JSONRecord.decode(written, as: JSONValue.self))
            return (once, try JSONRecord.encode(JSONRecord.decode(once, as: JSONValue.self)))
        }
        try BrokenPromise.unless(once == twice, "a record written twice differs")
    }
}

/// Any JSON, as the decoders of records see it.
private enum JSONValue: Codable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    case text(String)
    case list([JSONValue])
    case object([String: JSONValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .real(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .list(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .boolean(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .real(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .list(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}
