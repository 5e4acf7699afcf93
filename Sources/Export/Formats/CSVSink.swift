import CausewayModel
import CausewayStores

/// Comma-separated values as in RFC 4180: a header, CRLF, quotes where they are needed. NULL is an empty field, the
/// empty text two quotes.
///
/// To-manys that no column of another entity tells have a file of their own: `Entity.relationship.csv`, with a line for
/// each link, in order.
final class CSVSink: RowSink {
    private struct ListFile {
        let index: Int
        let output: ByteOutput
    }

    private let uris: URIText
    private let place: OutputPlace
    private let suffix: String
    /// Whether files of to-manys are written.
    private let hasLists: Bool
    private let names: FileNames
    private var output: ByteOutput?
    private var lists: [ListFile] = []
    private var shape: EntityShape?

    init(
        _ uris: URIText, in place: OutputPlace, _ names: FileNames = FileNames(), suffix: String = "",
        hasLists: Bool = true
    ) {
        self.uris = uris
        self.place = place
        self.names = names
        self.suffix = suffix
        self.hasLists = hasLists
    }

    func begin(_ shape: EntityShape) throws(EngineError) -> String? {
        self.shape = shape
        let stem = names.stem(of: shape.name)
        let name = stem + suffix + ".csv"
        let output = ByteOutput(try place.file(name))
        let header = [shape.idName] + shape.leaves.map(\.path)
        append(line: header.map(Self.quoted), to: output)
        self.output = output
        lists = []
        var listNames = UniqueNames()
        for (index, list) in shape.lists.enumerated() where hasLists && !list.isToldElsewhere {
            let file = ByteOutput(try place.file("\(stem).\(listNames.file(for: list.name)).csv"))
            append(line: ["owner", "member"], to: file)
            lists.append(ListFile(index: index, output: file))
        }
        return name
    }

    func write(_ key: Int64, _ values: [ExportValue], links: LinkReader?) throws(EngineError) -> Bool {
        guard let shape, let output else { return false }
        let uri = uris.text(ObjectLink(entity: shape.number, key: key))
        append(line: [uri] + values.map(text), to: output)
        try output.flushIfFull()
        guard let links else { return true }
        for list in lists {
            try links.forEach(list.index, of: key) { link throws(EngineError) in
                append(line: [uri, uris.text(link)], to: list.output)
                try list.output.flushIfFull()
            }
        }
        return true
    }

    private func append(line fields: [String], to output: ByteOutput) {
        output.append(fields.joined(separator: ","))
        output.append("\r\n")
    }

    private func text(_ value: ExportValue) -> String {
        switch value {
        case .null: ""
        case .boolean(let value): value ? "true" : "false"
        case .integer(let value): String(value)
        case .real(let value): value.isFinite ? "\(value)" : RealText.name(value)
        case .single(let value): value.isFinite ? "\(value)" : RealText.name(Double(value))
        case .text(let value): Self.quoted(value)
        case .data(let value): value.isEmpty ? "\"\"" : Base64.encode(value)
        case .file(let path): path
        case .link(let link): uris.text(link)
        }
    }

    private static let special = Set("\",\r\n".utf8)

    private static func quoted(_ text: String) -> String {
        guard text.isEmpty || text.utf8.contains(where: special.contains) else { return text }
        var result = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" { result.unicodeScalars.append("\"") }
            result.unicodeScalars.append(scalar)
        }
        return result + "\""
    }

    func end() throws(EngineError) {
        try output?.finish()
        for list in lists { try list.output.finish() }
        (output, shape, lists) = (nil, nil, [])
    }
}
