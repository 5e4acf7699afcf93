import CausewayPlatform
import CausewaySQLite
import CausewaySQLiteFile
import Foundation
import Testing

/// An index of a test: its name in the schema, and what the sorter is told about it.
struct MadeIndex: Sendable {
    let name: String
    let columns: [(name: String, isDescending: Bool)]
    var isUnique = false

    var sql: String {
        let list = columns.map { $0.name + ($0.isDescending ? " DESC" : "") }.joined(separator: ", ")
        return "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(name) ON t(\(list))"
    }

    /// `sources`: of the table's columns.
    func key(_ sources: [String: IndexKey.Source]) throws -> IndexKey {
        let columns = try columns.map { column in
            IndexKey.Column(try #require(sources[column.name]), isDescending: column.isDescending)
        }
        return IndexKey(columns, isUnique: isUnique)
    }
}

/// A table of stock SQLite, and a new file with the same rows and with sorted indexes.
struct SortedStore {
    /// Made by SQLite, with the indexes that CREATE INDEX gives.
    let stock: PageFixture
    let table: String
    let sources: [String: IndexKey.Source]
    let indexes: [MadeIndex]

    /// All bytes of an index's entries, as the file has them.
    static func entries(_ index: String, of store: PageFixture) throws -> [[UInt8]] {
        try entries(root: store.root(of: index), of: store.pages())
    }

    static func entries(root: Int, of file: PageFile) throws -> [[UInt8]] {
        var reader = IndexReader(file, root: root, claims: PageClaims(pageCount: file.layout.pageCount))
        let batch = RowBatch()
        var entries: [[UInt8]] = []
        var hasMore = true
        while hasMore {
            batch.removeAll()
            hasMore = try reader.fill(batch, rows: 1_000, bytes: 1 << 20)
            for index in 0..<batch.count { entries.append(unsafe Array(batch.record(at: index))) }
        }
        return entries
    }

    /// Calls `body` with the rows of a table, batch by batch.
    static func rows(root: Int, of file: PageFile, batch rows: Int, _ body: (RowBatch) throws -> Void) throws {
        var reader = TableReader(file, root: root, claims: PageClaims(pageCount: file.layout.pageCount))
        let batch = RowBatch()
        var hasMore = true
        while hasMore {
            batch.removeAll()
            hasMore = try reader.fill(batch, rows: rows, bytes: 1 << 20)
            try body(batch)
        }
    }

    /// A new file with the table's rows and the sorted indexes; `memory` is that of a sorter, `batch` the rows that are
    /// added at once.
    func build(pageSize: Int, autoVacuum: Int, memory: Int, batch: Int = 500) throws -> NewStore {
        let store = try NewStore(
            pageSize: pageSize, autoVacuum: autoVacuum,
            ([table] + indexes.map(\.sql)).joined(separator: "; "))
        let roots = try indexes.map { try store.root($0.name) }
        let root = try store.root("t")
        var writer = try DatabaseWriter(store.file())
        var tree = try TreeBuilder(.table, root: root, on: writer)
        let packer = LeafPacker(pageSize: pageSize)
        try Self.rows(root: stock.root(of: "t"), of: stock.pages(), batch: 1_000) { rows in
            let leaves = PackedLeaves(pageSize: pageSize, pages: 1)
            try packer.pack(rows, into: leaves)
            try tree.add(leaves, to: &writer)
        }
        try tree.finish(with: &writer)
        for (index, indexRoot) in zip(indexes, roots) {
            let layout = try DatabaseLayout(building: store.file(), pageCount: writer.pageCount)
            let rows = PageFile(try store.file(), layout)
            let scratch = store.path + "-sort"
            var sorter = try IndexSorter(index.key(sources), memory: memory, scratchPath: scratch)
            let sums = try EntrySummer([index.key(sources)])
            try Self.rows(root: root, of: rows, batch: batch) {
                try sorter.add($0)
                try sums.add($0)
            }
            #expect([sorter.sum] == sums.take())
            let sorted = try sorter.sorted(pageSize: pageSize)
            try Self.build(sorted, root: indexRoot, with: &writer)
            #expect(try Files.statusIfExists(scratch)?.size ?? 0 == 0)
        }
        try writer.finish(syncs: false)
        return store
    }

    private static func build(
        _ sorted: consuming SortedIndex, root: Int, with writer: inout DatabaseWriter
    ) throws {
        var tree = try TreeBuilder(.index, root: root, on: writer)
        var hasMore = true
        while hasMore {
            let leaves = PackedLeaves(pageSize: writer.pageSize, pages: 1)
            hasMore = try sorted.fill(leaves)
            try tree.add(leaves, to: &writer)
        }
        try tree.finish(with: &writer)
        sorted.discard()
    }

    /// That a new file's indexes are those of CREATE INDEX, byte for byte, and that SQLite finds it whole.
    func check(_ store: NewStore, _ note: Comment) throws {
        #expect(try store.check() == "ok", note)
        let file = try store.file()
        let layout = try DatabaseLayout(of: file)
        let pages = PageFile(file, layout)
        for index in indexes {
            let found = try Self.entries(root: store.root(index.name), of: pages)
            let wanted = try Self.entries(index.name, of: stock)
            let isSame = found == wanted
            #expect(isSame, "\(index.sql), \(note)")
            var check = IndexOrderCheck(try index.key(sources))
            var reader = IndexReader(
                pages, root: try store.root(index.name), claims: PageClaims(pageCount: layout.pageCount))
            let batch = RowBatch()
            var hasMore = true
            while hasMore {
                batch.removeAll()
                hasMore = try reader.fill(batch, rows: 77, bytes: 1 << 20)
                try check.add(batch)
            }
            let sums = try EntrySummer([index.key(sources)])
            try Self.rows(root: store.root("t"), of: pages, batch: 100) { try sums.add($0) }
            #expect([check.sum] == sums.take(), "\(index.sql), \(note)")
        }
    }
}
