import CausewaySQLite
import CausewaySQLiteFile
import Foundation

/// Reads a table's records from a file that isn't open elsewhere, by SQLite's file format: enough for a small store
/// of a test.
struct TableLeaves {
    private let file: [UInt8]
    private let pageSize: Int
    private let usable: Int

    init(_ path: String) throws {
        file = Array(try Data(contentsOf: URL(filePath: path)))
        let size = Int(file[16]) << 8 | Int(file[17])
        pageSize = size == 1 ? 65_536 : size
        usable = pageSize - Int(file[20])
    }

    /// The rows in the order of their keys.
    func rows(root: Int) throws -> RowBatch {
        let batch = RowBatch()
        try add(page: root, to: batch)
        return batch
    }

    private func add(page: Int, to batch: RowBatch) throws {
        let start = (page - 1) * pageSize
        let header = start + (page == 1 ? 100 : 0)
        let isLeaf = file[header] == 13
        guard isLeaf || file[header] == 5 else { throw CocoaError(.fileReadCorruptFile) }
        let pointers = header + (isLeaf ? 8 : 12)
        for cell in 0..<integer(header + 3, bytes: 2) {
            let place = start + integer(pointers + cell * 2, bytes: 2)
            if isLeaf {
                try add(cell: place, to: batch)
            } else {
                try add(page: integer(place, bytes: 4), to: batch)
            }
        }
        if !isLeaf { try add(page: integer(header + 8, bytes: 4), to: batch) }
    }

    private func add(cell: Int, to batch: RowBatch) throws {
        var place = cell
        let length = varint(&place)
        let rowid = Int64(truncatingIfNeeded: varint(&place))
        var local = length
        if length > usable - 35 {
            let least = (usable - 12) * 32 / 255 - 23
            local = least + (length - least) % (usable - 4)
            if local > usable - 35 { local = least }
        }
        var record = Array(file[place..<place + local])
        var next = local == length ? 0 : integer(place + local, bytes: 4)
        while next != 0 {
            let page = (next - 1) * pageSize
            record += file[page + 4..<page + 4 + min(usable - 4, length - record.count)]
            next = integer(page, bytes: 4)
        }
        try unsafe record.withUnsafeBytes { try unsafe batch.append(rowid: rowid, record: $0) }
    }

    private func integer(_ place: Int, bytes: Int) -> Int {
        file[place..<place + bytes].reduce(0) { $0 << 8 | Int($1) }
    }

    private func varint(_ place: inout Int) -> Int {
        var value = 0
        for byte in 0..<9 {
            let next = Int(file[place])
            place += 1
            if byte == 8 { return value << 8 | next }
            value = value << 7 | next & 0x7f
            if next < 0x80 { break }
        }
        return value
    }
}
