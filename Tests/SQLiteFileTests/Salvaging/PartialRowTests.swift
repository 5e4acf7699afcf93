import CausewaySQLite
import CausewaySQLiteFile
import Testing

/// Rows that a damaged file doesn't have as a whole.
@Suite("Rows that aren't whole", .timeLimit(.minutes(60)))
struct PartialRowTests {
    private static let pageSize = 512

    /// One row of six texts of 400 letters and a number, on one leaf and four overflow pages, the last of the file.
    private static func fixture() throws -> (file: PageFixture, chain: [Int]) {
        let letters = ["a", "b", "c", "d", "e", "f"].map { "'\(String(repeating: $0, count: 400))'" }
        let file = try PageFixture([
            "PRAGMA page_size = \(pageSize)", "CREATE TABLE t(k INTEGER PRIMARY KEY, a, b, c, d, e, f, n)",
            "INSERT INTO t VALUES(7, \(letters.joined(separator: ", ")), 70000)",
        ])
        let count = try file.bytes.count / pageSize
        // The schema, the leaf, and then the chain.
        try #require(count >= 6)
        return (file, Array(3...count))
    }

    private static func row(_ file: PageFixture) throws -> SalvagedRow {
        let salvage = try SalvageFile(file.path, wal: file.path + "-wal")
        let page = try #require(salvage.page(2))
        let rows = salvage.rows(of: page)
        try #require(rows.count == 1)
        return rows[0]
    }

    /// `a400 b400 c177 - e400 f400 70000`
    private static func words(_ cells: [CellValue]?) -> String {
        (cells ?? []).dropFirst().map { cell in
            switch cell {
            case .text(let text): Set(text).count == 1 ? "\(text.prefix(1))\(text.count)" : "made up"
            case .integer(let number): String(number)
            case .null: "-"
            default: "made up"
            }
        }.joined(separator: " ")
    }

    /// Writes a page's number of the next one.
    private static func link(_ page: Int, to next: Int, in bytes: inout [UInt8]) {
        let start = (page - 1) * pageSize
        for place in 0..<4 { bytes[start + place] = UInt8(truncatingIfNeeded: next >> (24 - 8 * place)) }
    }

    @Test("a row whose chain is whole has all cells")
    func whole() throws {
        let (file, _) = try Self.fixture()
        let row = try Self.row(file)
        #expect(row.rowid == 7 && row.part == nil)
        #expect(Self.words(row.cells) == "a400 b400 c400 d400 e400 f400 70000")
    }

    @Test("a chain that breaks gives what comes before: at its first page, and at every later one")
    func broken() throws {
        let (file, chain) = try Self.fixture()
        let whole = try file.bytes
        var lengths: [Int] = []
        for page in chain.dropLast() {
            var bytes = whole
            Self.link(page, to: 99, in: &bytes)
            try file.write(bytes)
            let row = try Self.row(file)
            #expect(row.rowid == 7 && row.cells == nil)
            let words = Self.words(row.part)
            #expect(words.hasSuffix(" -") && !words.contains("made up"), "\(words)")
            lengths.append(words.split(separator: " ").compactMap { Int($0.dropFirst()) }.reduce(0, +))
        }
        #expect(lengths.first ?? 0 > 500 && lengths == lengths.sorted() && Set(lengths).count == lengths.count)
    }

    @Test("a file that ends inside of the chain, at any byte, makes nothing up")
    func cut() throws {
        let (file, chain) = try Self.fixture()
        let whole = try file.bytes
        var last = 0
        for length in stride(from: (chain[0] - 1) * Self.pageSize, to: whole.count, by: 37) {
            try file.write(Array(whole.prefix(length)))
            let row = try Self.row(file)
            #expect(row.rowid == 7)
            // What follows the last page's content may be missing.
            let words = Self.words(row.cells ?? row.part)
            #expect(!words.contains("made up"), "\(length): \(words)")
            let count = words.split(separator: " ").compactMap { Int($0.dropFirst()) }.reduce(0, +)
            #expect(count >= last)
            last = count
        }
    }

    @Test("where the file's last page is one within the chain, what comes after it is there")
    func hole() throws {
        let (file, chain) = try Self.fixture()
        var bytes = try file.bytes
        // The chain's second page changes places with its last one.
        let (second, last) = (chain[1], chain[chain.count - 1])
        for place in 0..<Self.pageSize {
            bytes.swapAt((second - 1) * Self.pageSize + place, (last - 1) * Self.pageSize + place)
        }
        Self.link(chain[0], to: last, in: &bytes)
        Self.link(chain[chain.count - 2], to: second, in: &bytes)
        try file.write(bytes)
        #expect(Self.words(try Self.row(file).cells) == "a400 b400 c400 d400 e400 f400 70000")
        try file.write(Array(bytes.dropLast(400)))
        let words = Self.words(try Self.row(file).part).split(separator: " ")
        #expect(words.count == 7 && words.prefix(2) == ["a400", "b400"], "\(words)")
        #expect(words.suffix(2) == ["f400", "70000"], "\(words)")
        #expect(words.contains("-") && !words.contains("made up"), "\(words)")
    }

    @Test("a leaf that is cut gives a row with its key and header, and no other")
    func leaf() throws {
        let file = try PageFixture([
            "PRAGMA page_size = \(Self.pageSize)", "CREATE TABLE t(k INTEGER PRIMARY KEY, a, b, c)",
            "INSERT INTO t VALUES(7, '\(String(repeating: "a", count: 30))', 'bbbbbbbbbb', 70000)",
        ])
        let whole = try file.bytes
        var seen: Set<String> = []
        for missing in 1...60 {
            try file.write(Array(whole.dropLast(missing)))
            let salvage = try SalvageFile(file.path, wal: file.path + "-wal")
            let rows = salvage.rows(of: try #require(salvage.page(2)))
            #expect(rows.count == 1 && rows.allSatisfy { $0.cells == nil })
            for row in rows {
                let words = Self.words(row.part)
                #expect(!words.contains("made up") && (row.part == nil || row.rowid == 7))
                seen.insert(words)
            }
        }
        // The number's three bytes; then the texts, one byte after the other; then the header.
        #expect(seen.contains("a30 b10 -") && seen.contains("a30 b1 -") && seen.contains("a29 - -"))
        #expect(seen.contains("- - -") && seen.contains(""))
    }
}
