import CausewayModel
import CausewayStores

/// JSON lines: an object on each line.
final class JSONLinesSink: RowSink {
    private let uris: URIText
    private let place: OutputPlace?
    /// Ends the file's name.
    private let suffix: String
    private let names: FileNames
    private var output: ByteOutput?
    private let stream: ByteOutput?
    private var shape: EntityShape?

    /// Rows go to files in a folder.
    init(_ uris: URIText, in place: OutputPlace, _ names: FileNames = FileNames(), suffix: String = "") {
        self.uris = uris
        self.place = place
        self.names = names
        self.suffix = suffix
        stream = nil
    }

    /// All rows go to one stream.
    init(_ uris: URIText, stream: ByteOutput) {
        self.uris = uris
        self.stream = stream
        place = nil
        names = FileNames()
        suffix = ""
    }

    func begin(_ shape: EntityShape) throws(EngineError) -> String? {
        self.shape = shape
        guard let place else {
            output = stream
            return nil
        }
        let name = names.stem(of: shape.name) + suffix + ".jsonl"
        output = ByteOutput(try place.file(name))
        return name
    }

    func write(_ key: Int64, _ values: [ExportValue], links: LinkReader?) throws(EngineError) -> Bool {
        guard let shape, let output else { return false }
        output.append("{")
        JSONBytes.append(shape.idName, to: output)
        output.append(":")
        JSONBytes.append(uris.text(ObjectLink(entity: shape.number, key: key)), to: output)
        for field in shape.fields {
            output.append(",")
            append(field, values, to: output)
        }
        if let links {
            for (index, list) in shape.lists.enumerated() {
                output.append(",")
                JSONBytes.append(list.name, to: output)
                output.append(":[")
                var isFirst = true
                try links.forEach(index, of: key) { link throws(EngineError) in
                    if !isFirst { output.append(",") }
                    isFirst = false
                    JSONBytes.append(uris.text(link), to: output)
                    // One object may have millions of members.
                    try output.flushIfFull()
                }
                output.append("]")
            }
        }
        output.append("}\n")
        try output.flushIfFull()
        return !output.isClosed
    }

    private func append(_ field: EntityShape.Field, _ values: [ExportValue], to output: ByteOutput) {
        switch field {
        case .value(let name, let leaf):
            JSONBytes.append(name, to: output)
            output.append(":")
            append(values[leaf], to: output)
        case .composite(let name, let fields):
            JSONBytes.append(name, to: output)
            output.append(":")
            // On disk a nil composite and one whose elements are all nil look the same (InsideStoreFormat §4.2).
            guard !field.leaves.allSatisfy({ values[$0] == .null }) else { return output.append("null") }
            output.append("{")
            for (index, field) in fields.enumerated() {
                if index > 0 { output.append(",") }
                append(field, values, to: output)
            }
            output.append("}")
        }
    }

    private func append(_ value: ExportValue, to output: ByteOutput) {
        switch value {
        case .null: output.append("null")
        case .boolean(let value): output.append(value ? "true" : "false")
        case .integer(let value): output.append(String(value))
        case .real(let value): output.append(value.isFinite ? "\(value)" : "\"\(RealText.name(value))\"")
        case .single(let value): output.append(value.isFinite ? "\(value)" : "\"\(RealText.name(Double(value)))\"")
        case .text(let value): JSONBytes.append(value, to: output)
        case .data(let value): output.append("\"\(Base64.encode(value))\"")
        case .file(let path):
            output.append("{\"file\":")
            JSONBytes.append(path, to: output)
            output.append("}")
        case .link(let link): JSONBytes.append(uris.text(link), to: output)
        }
    }

    func end() throws(EngineError) {
        if stream == nil { try output?.finish() }
        (output, shape) = (nil, nil)
    }
}

extension EntityShape.Field {
    /// Places of the values below.
    var leaves: [Int] {
        switch self {
        case .value(_, let leaf): [leaf]
        case .composite(_, let fields): fields.flatMap(\.leaves)
        }
    }
}

/// Reals that aren't numbers: JSON has none, and CSV readers know these names.
enum RealText {
    static func name(_ value: Double) -> String {
        value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity"
    }
}

/// Texts of JSON.
enum JSONBytes {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Appends a text between quotes.
    static func append(_ text: String, to output: ByteOutput) {
        output.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                output.append(UInt8(ascii: "\\"))
                output.append(byte)
            case UInt8(ascii: "\n"): output.append("\\n")
            case UInt8(ascii: "\r"): output.append("\\r")
            case UInt8(ascii: "\t"): output.append("\\t")
            case 0..<0x20, 0x7f:
                output.append("\\u00")
                output.append(digits[Int(byte >> 4)])
                output.append(digits[Int(byte & 15)])
            default: output.append(byte)
            }
        }
        output.append(UInt8(ascii: "\""))
    }
}
