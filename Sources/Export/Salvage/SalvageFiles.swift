import CausewayStores

/// The files of a salvage: rows of all entities come in any order, so each has its own, opened when its first row
/// comes.
final class SalvageFiles {
    /// What a file holds of an entity.
    enum Kind: String {
        case rows = ""
        /// Out of free pages.
        case deleted = ".deleted"
        /// With keys that came before.
        case copies = ".copies"
        /// Not whole.
        case incomplete = ".incomplete"
    }

    private struct Key: Hashable {
        let entity: Int32
        let kind: Kind
    }

    private struct Open {
        let sink: any RowSink
        let name: String
    }

    private let uris: URIText
    private let place: OutputPlace
    private let format: ExportFormat
    private let names = FileNames()
    private var files: [Key: Open] = [:]
    /// Names of files of links, by entity.
    private var linkNames: [String: UniqueNames] = [:]

    init(_ uris: URIText, in place: OutputPlace, _ format: ExportFormat) {
        self.uris = uris
        self.place = place
        self.format = format
    }

    /// Writes a row.
    /// - Returns: the name of its file.
    func write(
        _ shape: EntityShape, key: Int64, _ values: [ExportValue], _ kind: Kind
    ) throws(EngineError) -> String {
        let file = try open(shape, kind)
        _ = try file.sink.write(key, values, links: nil)
        return file.name
    }

    private func open(_ shape: EntityShape, _ kind: Kind) throws(EngineError) -> Open {
        let key = Key(entity: shape.number, kind: kind)
        if let open = files[key] { return open }
        let suffix = kind.rawValue
        let sink: any RowSink =
            format == .csv
            ? CSVSink(uris, in: place, names, suffix: suffix, hasLists: false)
            : JSONLinesSink(uris, in: place, names, suffix: suffix)
        let open = Open(sink: sink, name: try sink.begin(shape) ?? "")
        files[key] = open
        return open
    }

    /// A file for links, which have no entity: `Entity.relationship`.
    func links(_ entity: String, _ relationship: String) throws(EngineError) -> LinkFile {
        // A relationship may have the name of one of the entity's other files.
        let kinds = [Kind.deleted, .copies, .incomplete].map { String($0.rawValue.dropFirst()) }
        let part = linkNames[entity, default: UniqueNames(kinds)].file(for: relationship)
        let name = "\(names.stem(of: entity)).\(part).\(format == .csv ? "csv" : "jsonl")"
        return LinkFile(name: name, output: ByteOutput(try place.file(name)), uris: uris, isCSV: format == .csv)
    }

    /// Everything is written.
    func finish() throws(EngineError) {
        for file in files.values { try file.sink.end() }
    }
}

/// The links of one relationship: owner, member, the member's place in the owner's list and the owner's in the
/// member's.
struct LinkFile {
    let name: String
    let output: ByteOutput
    let uris: URIText
    let isCSV: Bool

    func begin() {
        if isCSV { output.append("owner,member,position,ownerPosition\r\n") }
    }

    func write(
        owner: ObjectLink, member: ObjectLink, position: Int64?, ownerPosition: Int64?
    ) throws(EngineError) {
        let (owner, member) = (uris.text(owner), uris.text(member))
        func text(_ place: Int64?, _ missing: String) -> String { place.map { String($0) } ?? missing }
        if isCSV {
            output.append("\(owner),\(member),\(text(position, "")),\(text(ownerPosition, ""))\r\n")
        } else {
            output.append("{\"owner\":")
            JSONBytes.append(owner, to: output)
            output.append(",\"member\":")
            JSONBytes.append(member, to: output)
            output.append(",\"position\":\(text(position, "null")),\"ownerPosition\":\(text(ownerPosition, "null"))}\n")
        }
        try output.flushIfFull()
    }
}
