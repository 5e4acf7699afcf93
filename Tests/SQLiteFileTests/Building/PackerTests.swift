import CausewaySQLite
import CausewaySQLiteFile
import Foundation
import Testing

@Suite("Leaves are packed", .timeLimit(.minutes(60))) struct PackerTests {
    private static let rows = (0..<2_000).map {
        MadeRow(Int64($0), payload: 2 + $0 * 71 % 500 + ($0 % 40 == 3 ? 9_000 : 0))
    }

    @Test("any number of packers makes the same bytes", arguments: [0, 1])
    func packers(autoVacuum: Int) throws {
        let empty = try NewStore(pageSize: 512, autoVacuum: autoVacuum, "CREATE TABLE t(a)")
        let files = try [1, 2, 5].map { count in
            let store = try NewStore(copying: empty)
            let packers = (0..<count).map { _ in LeafPacker(pageSize: 512) }
            // Recycled, as a pipeline does.
            let buffers = (0..<count).map { _ in PackedLeaves(pageSize: 512, pages: 1) }
            let root = try store.root("t")
            var writer = try DatabaseWriter(store.file())
            var tree = try TreeBuilder(.table, root: root, on: writer)
            for (number, start) in stride(from: 0, to: Self.rows.count, by: 150).enumerated() {
                let batch = RowBatch()
                for row in Self.rows[start..<min(start + 150, Self.rows.count)] { try row.append(to: batch) }
                try packers[number % count].pack(batch, into: buffers[number % count])
                try tree.add(buffers[number % count], to: &writer)
            }
            try tree.finish(with: &writer)
            try writer.finish(syncs: false)
            #expect(try store.check() == "ok")
            return try store.bytes
        }
        // Not in `#expect`, which takes minutes to compare two long files.
        let isSame = files[0] == files[1] && files[0] == files[2]
        #expect(isSame)
    }

    @Test("one row at a time gives what a whole batch gives")
    func single() throws {
        let empty = try NewStore(pageSize: 1_024, autoVacuum: 1, "CREATE TABLE t(a)")
        let batch = RowBatch()
        for row in Self.rows { try row.append(to: batch) }
        let packer = LeafPacker(pageSize: 1_024)
        let files = try [true, false].map { isWhole in
            let store = try NewStore(copying: empty)
            let leaves = PackedLeaves(pageSize: 1_024)
            packer.begin(leaves)
            if isWhole {
                try packer.append(batch)
            } else {
                for index in 0..<batch.count {
                    unsafe try packer.append(rowid: batch.rowid(at: index), record: batch.record(at: index))
                }
            }
            packer.finish()
            #expect(leaves.rowCount == Self.rows.count)
            let root = try store.root("t")
            var writer = try DatabaseWriter(store.file())
            var tree = try TreeBuilder(.table, root: root, on: writer)
            try tree.add(leaves, to: &writer)
            try tree.finish(with: &writer)
            try writer.finish(syncs: true)
            return try store.bytes
        }
        let isSame = files[0] == files[1]
        #expect(isSame)
    }

    @Test("a packer that threw can start over")
    func beginsAnew() throws {
        let packer = LeafPacker(pageSize: 512)
        let leaves = PackedLeaves(pageSize: 512)
        let bad = RowBatch()
        for rowid: Int64 in [5, 4] { try MadeRow(rowid, payload: 90).append(to: bad) }
        #expect(throws: PageBuildError.self) { try packer.pack(bad, into: leaves) }
        let good = RowBatch()
        for rowid: Int64 in [4, 5] { try MadeRow(rowid, payload: 90).append(to: good) }
        try packer.pack(good, into: leaves)
        #expect(leaves.leafCount == 1)
        #expect(leaves.rowCount == 2)
    }

    @Test("an emptied buffer keeps its memory, up to a limit")
    func memory() throws {
        let packer = LeafPacker(pageSize: 512)
        let leaves = PackedLeaves(pageSize: 512, pages: 1)
        let batch = RowBatch()
        try MadeRow(1, payload: 1_000_000).append(to: batch)
        try packer.pack(batch, into: leaves)
        let footprint = leaves.footprint
        #expect(footprint > 1_000_000)
        leaves.removeAll()
        #expect(leaves.footprint == footprint)
        #expect(leaves.isEmpty && leaves.pageCount == 0 && leaves.rowCount == 0)
        leaves.removeAll(keepingCapacity: 20_000)
        #expect(leaves.footprint <= 20_480)
    }

    /// Recycled buffers and pages keep no bytes of other rows, also where an interior page's last cell moved up.
    @Test("unused bytes are zero", arguments: [0, 30, 34, 35, 36, 68, 69, 70, 100, 124, 125, 149])
    func zeros(count: Int) throws {
        let store = try NewStore(pageSize: 512, autoVacuum: 0, "CREATE TABLE t(a); CREATE INDEX i ON t(a)")
        let (table, index) = (try store.root("t"), try store.root("i"))
        let rows = (0..<count).map { row in
            MadeRow(Int64(row) - 5_000, [.blob([UInt8(row)] + [UInt8](repeating: 0xee, count: 391 + row % 9))])
        }
        let packer = LeafPacker(pageSize: 512)
        let leaves = PackedLeaves(pageSize: 512, pages: 3)
        var writer = try DatabaseWriter(store.file())
        var tree = try TreeBuilder(.table, root: table, on: writer)
        for start in stride(from: 0, to: count, by: 10) {
            let batch = RowBatch()
            for row in rows[start..<min(start + 10, count)] { try row.append(to: batch) }
            try packer.pack(batch, into: leaves)
            try tree.add(leaves, to: &writer)
        }
        try tree.finish(with: &writer)
        let entries = rows.map { $0.cells + [.integer($0.rowid)] }
        var other = try TreeBuilder(.index, root: index, on: writer)
        for leaves in try NewStore.pack(entries, pageSize: 512, pagesPerBatch: 3) { try other.add(leaves, to: &writer) }
        try other.finish(with: &writer)
        try writer.finish(syncs: false)
        #expect(try store.check() == "ok")
        let bytes = try [UInt8](store.bytes)
        for start in stride(from: 512, to: bytes.count, by: 512) where [2, 5, 10, 13].contains(bytes[start]) {
            let header = bytes[start] < 10 ? 12 : 8
            let pointers = header + 2 * (Int(bytes[start + 3]) << 8 | Int(bytes[start + 4]))
            let content = Int(bytes[start + 5]) << 8 | Int(bytes[start + 6])
            let isZero = bytes[start + pointers..<start + content].allSatisfy { $0 == 0 }
            #expect(isZero, "page \(start / 512 + 1)")
            #expect(bytes[start + 1] == 0 && bytes[start + 2] == 0 && bytes[start + 7] == 0)
        }
    }

    @Test("cells of three bytes are filled up to four with zero, whatever was in the buffer")
    func shortCells() throws {
        let store = try NewStore(
            pageSize: 512, autoVacuum: 0, "CREATE TABLE t(a); CREATE TABLE w(a PRIMARY KEY) WITHOUT ROWID")
        let (table, index) = (try store.root("t"), try store.root("w"))
        let rubbish = RowBatch()
        try MadeRow(1, [.blob([UInt8](repeating: 0xee, count: 90))]).append(to: rubbish)
        var writer = try DatabaseWriter(store.file())

        let packer = LeafPacker(pageSize: 512)
        let leaves = PackedLeaves(pageSize: 512)
        try packer.pack(rubbish, into: leaves)
        packer.begin(leaves)
        // A record without cells is only its header's length. SQLite writes no such record and reports it as damage.
        try unsafe [UInt8(1)].withUnsafeBytes { try unsafe packer.append(rowid: 1, record: $0) }
        packer.finish()
        var tree = try TreeBuilder(.table, root: table, on: writer)
        try tree.add(leaves, to: &writer)
        try tree.finish(with: &writer)

        let entries = IndexPacker(pageSize: 512)
        entries.begin(leaves)
        _ = try unsafe entries.append(rubbish.record(at: 0))
        entries.finish()
        entries.begin(leaves)
        _ = try unsafe [UInt8(2), 8].withUnsafeBytes { try unsafe entries.append($0) }
        entries.finish()
        var other = try TreeBuilder(.index, root: index, on: writer)
        try other.add(leaves, to: &writer)
        try other.finish(with: &writer)
        try writer.finish(syncs: false)

        #expect(try store.rows("PRAGMA integrity_check(w)") == [[.text("ok")]])
        #expect(try store.rows("SELECT a FROM w") == [[.integer(0)]])
        let bytes = try [UInt8](store.bytes)
        #expect(Array(bytes[table * 512 - 4..<table * 512]) == [1, 1, 1, 0])
        #expect(Array(bytes[index * 512 - 4..<index * 512]) == [2, 2, 8, 0])
    }

    @Test("a row over SQLite's limit is refused before its bytes are read")
    func tooLong() throws {
        let packer = LeafPacker(pageSize: 512)
        packer.begin(PackedLeaves(pageSize: 512))
        let byte: [UInt8] = [0]
        let error = #expect(throws: PageBuildError.self) {
            try unsafe byte.withUnsafeBytes { byte in
                try unsafe packer.append(
                    rowid: 1, record: UnsafeRawBufferPointer(start: byte.baseAddress, count: 1 << 31))
            }
        }
        #expect(error?.code == .tooLong)
        #expect(error?.message.contains("2147483647 bytes: shorten its values") == true)
    }
}
