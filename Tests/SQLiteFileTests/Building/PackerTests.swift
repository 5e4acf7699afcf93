import CausewaySQLite
import CausewaySQLiteFile
import Foundation
import Synchronization
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
        #expect(files[0] == files[1])
        #expect(files[0] == files[2])
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
        #expect(files[0] == files[1])
    }

    @Test("a packer that threw can begin anew")
    func beginsAnew() throws {
        let packer = LeafPacker(pageSize: 512)
        let leaves = PackedLeaves(pageSize: 512)
        let bad = RowBatch()
        for rowid: Int64 in [5, 4] { try MadeRow(rowid, payload: 90).append(to: bad) }
        #expect(throws: PageError.self) { try packer.pack(bad, into: leaves) }
        let good = RowBatch()
        for rowid: Int64 in [4, 5] { try MadeRow(rowid, payload: 90).append(to: good) }
        try packer.pack(good, into: leaves)
        #expect(leaves.leafCount == 1)
        #expect(leaves.rowCount == 2)
    }

    @Test("a buffer keeps its memory when emptied, unless it is over what may be kept")
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
}
