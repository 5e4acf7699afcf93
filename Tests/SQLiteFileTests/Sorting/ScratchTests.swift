import CausewayPlatform
import CausewaySQLite
import CausewaySQLiteFile
import Foundation
import Testing

@Suite("The file for sorting", .timeLimit(.minutes(60))) struct ScratchTests {
    private static let key = IndexKey([.init(.cell(0))])

    /// A sorter with many runs in its file.
    private static func sorter(_ path: String, rows: Int = 3_000) throws -> SorterBox {
        var numbers = SeededNumbers(4)
        let box = SorterBox(try IndexSorter(key, memory: 2_000, scratchPath: path))
        let batch = RowBatch()
        for row in 0..<rows {
            try MadeRow(Int64(row), [.text("key \(numbers.next() % 700)")]).append(to: batch)
        }
        try box.add(batch)
        return box
    }

    /// Bytes of all pages.
    private static func pages(_ box: SorterBox) throws -> Int {
        var sorted = try box.take().sorted(pageSize: 512)
        let leaves = PackedLeaves(pageSize: 512)
        var bytes = 0
        var hasMore = true
        while hasMore {
            hasMore = try sorted.fill(leaves)
            bytes += leaves.byteCount
        }
        return bytes
    }

    /// Noncopyable values can't be given by a function that throws after they exist.
    private final class SorterBox {
        private var sorter: IndexSorter?

        init(_ sorter: consuming IndexSorter) {
            self.sorter = consume sorter
        }

        func add(_ batch: RowBatch) throws {
            try sorter?.add(batch)
        }

        func take() throws -> IndexSorter {
            var taken: IndexSorter?
            swap(&taken, &sorter)
            guard let taken else { throw CocoaError(.featureUnsupported) }
            return taken
        }
    }

    private static func folder() throws -> NewStore {
        try NewStore(pageSize: 512, autoVacuum: 0, "CREATE TABLE t(a)")
    }

    @Test("any changed byte of it is an error, and is never read past")
    func damage() throws {
        let folder = try Self.folder()
        let path = folder.path + "-sort"
        let length = try {
            let box = try Self.sorter(path)
            _ = try Self.pages(box)
            let box2 = try Self.sorter(path)
            let size = try Files.status(of: path).size
            withExtendedLifetime(box2) {}
            return size
        }()
        #expect(length > 10_000)
        for place in stride(from: 0, to: length, by: 211) {
            let box = try Self.sorter(path)
            let file = try OpenFile(path, mode: .readWrite)
            var byte = try file.prefix(Int(place) + 1)[Int(place)]
            byte ^= place % 2 == 0 ? 0x10 : 0xff
            try unsafe withUnsafeBytes(of: byte) { try unsafe file.write($0, at: place) }
            let error = #expect(throws: IndexSortError.self, "byte \(place)") { try Self.pages(box) }
            #expect(error?.code == .scratchDamaged, "byte \(place)")
        }
    }

    @Test("one that has become shorter is an error")
    func truncated() throws {
        let folder = try Self.folder()
        let path = folder.path + "-sort"
        let box = try Self.sorter(path)
        let file = try OpenFile(path, mode: .readWrite)
        try file.truncate(to: file.status().size - 1)
        let error = #expect(throws: IndexSortError.self) { try Self.pages(box) }
        #expect(error?.code == .scratchDamaged)
    }

    @Test("what an earlier process left in it counts for nothing")
    func leftOver() throws {
        let folder = try Self.folder()
        let path = folder.path + "-sort"
        let wanted = try Self.pages(Self.sorter(path))
        try Data(repeating: 7, count: 300_000).write(to: URL(filePath: path))
        #expect(try Self.pages(Self.sorter(path)) == wanted)
    }

    @Test("it isn't made where the memory is enough, and a path that can't be opened is an error where it isn't")
    func path() throws {
        let folder = try Self.folder()
        let path = folder.path + "-none/sort"
        #expect(throws: IndexSortError.self) { try Self.sorter(path) }
        let box = try Self.sorter(path, rows: 20)
        #expect(try Self.pages(box) == 512)
    }
}
