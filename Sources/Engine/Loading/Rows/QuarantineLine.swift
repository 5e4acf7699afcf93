import CausewayPlanning
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// Lines of quarantined rows, as a worker makes them: in memory, at most a few times the bytes of the batch.
final class LineBuffer: LineSink {
    private(set) var bytes: [UInt8] = []

    func append(_ bytes: some Sequence<UInt8>) throws(EngineError) {
        self.bytes.append(contentsOf: bytes)
    }

    func take() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }
}

/// Writes a quarantined row as a line of JSON, like that of a rejected row: its identity and the reason, then every
/// column with its stored value. Blobs are base64, references to external files as any other blob.
struct QuarantineLine {
    private let json: JSONLineText<LineBuffer>
    private let screening: RowScreening

    init(_ screening: RowScreening, into buffer: LineBuffer) {
        self.screening = screening
        json = JSONLineText(sink: buffer)
    }

    /// `number` is the discriminator's value, nil if it names nothing; `isKept` says that the row is in the new store.
    func write(_ row: RowView, key: Int64, number: Int?, _ bad: BadRow, isKept: Bool = false) throws(EngineError) {
        let entity = number.flatMap { screening.entities[$0] }
        let uri = entity.map { ObjectURI.of(key, $0, in: screening.storeUUID) }
        try json.members(["uri": uri, "entity": entity, "table": screening.pass.sourceTable])
        try json.text(",\"key\":\(key)")
        try json.members(["reason": bad.reason], isFirst: false)
        try json.text(",\"code\":\(bad.code.rawValue)")
        try json.members(["property": bad.property], isFirst: false)
        if isKept { try json.text(",\"kept\":true") }
        try json.text(",\"values\":{")
        for (place, column) in screening.columns.enumerated() {
            try json.name(column.name, isFirst: place == 0)
            try value(of: row, at: column.cell)
        }
        try json.text("}}\n")
    }

    private func value(of row: RowView, at cell: Int) throws(EngineError) {
        let type = row.serialType(at: cell)
        if type.isNull {
            try json.text("null")
        } else if let integer = row.integer(at: cell) {
            try json.text(String(integer))
        } else if let real = row.real(at: cell) {
            try json.number(real)
        } else if type.isText {
            try unsafe json.string(row.unsafeBytes(at: cell))
        } else {
            try unsafe json.base64(row.unsafeBytes(at: cell))
        }
    }
}
