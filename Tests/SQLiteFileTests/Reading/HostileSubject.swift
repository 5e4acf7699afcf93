import CausewaySQLite
import CausewaySQLiteFile
import Testing

/// A small store, damaged in one way after another.
final class HostileSubject {
    let sound: [UInt8]
    let pageSize: Int
    private let fixture: PageFixture
    private let hasIndex: Bool
    private let tableRoot: Int
    private let indexRoot: Int?
    private let schema: [PlainRow]
    private let expectedCount: Int
    private let title: String
    private var figures = Figures()

    struct Figures {
        var refused = 0
        var otherSchema = 0
        var sameRows = 0
        var selectFails = 0
        var pageErrors = 0
        var recordErrors = 0
    }

    private static let schemaQuery = "SELECT rowid, type, name, rootpage, sql FROM sqlite_schema"

    init(_ shape: HostilePageTests.Shape) throws {
        fixture = try PageFixture(shape.script)
        hasIndex = shape.hasIndex
        sound = try fixture.bytes
        tableRoot = try fixture.root(of: "t")
        indexRoot = hasIndex ? try fixture.root(of: "ti") : nil
        pageSize = try fixture.pages().layout.pageSize
        schema = try fixture.select(Self.schemaQuery)
        expectedCount = try fixture.select("SELECT rowid FROM t").count
        title = shape.rawValue
        try examine("sound") { _ in }
        #expect(figures.sameRows == (hasIndex ? 2 : 1))
    }

    var pageCount: Int { sound.count / pageSize }

    /// Bytes of pages that aren't content of rows: of b-tree headers, of cell pointers, and the first eight of cells.
    var structure: [Int] {
        (0..<pageCount).flatMap { page -> [Int] in
            let header = page * pageSize + (page == 0 ? DatabaseHeader.length : 0)
            guard [2, 5, 10, 13].contains(sound[header]) else { return Array(header..<header + 8) }
            let pointers = header + (sound[header] < 10 ? 12 : 8)
            let count = Int(sound[header + 3]) << 8 | Int(sound[header + 4])
            let cells = (0..<count).flatMap { cell -> Range<Int> in
                let place = pointers + cell * 2
                let start = page * pageSize + (Int(sound[place]) << 8 | Int(sound[place + 1]))
                return start..<min(start + 8, (page + 1) * pageSize)
            }
            return Array(header..<pointers + count * 2) + cells
        }
    }

    /// Where four bytes look like the number of a page.
    var pointers: [Int] {
        (DatabaseHeader.length..<sound.count - 3).filter { offset in
            guard sound[offset] == 0, sound[offset + 1] == 0, offset % pageSize <= pageSize - 4 else { return false }
            let number = Int(sound[offset + 2]) << 8 | Int(sound[offset + 3])
            return (2...pageCount).contains(number)
        }
    }

    /// Whether a tree of a damaged file was read; the sound file counts once for each tree.
    var hasReadDamaged: Bool { figures.sameRows + figures.selectFails + figures.pageErrors > (hasIndex ? 2 : 1) }
    /// Whether damage was found: by a reader, in a record, or in the header.
    var hasFoundDamage: Bool { figures.pageErrors + figures.recordErrors + figures.refused > 0 }

    func report() {
        if HostilePageTests.stride != nil { print(title, sound.count, figures) }
    }

    /// Cuts the file after it was checked.
    func examineCut(to pages: Int) throws {
        try fixture.overwrite(sound)
        let file = try fixture.pages()
        try fixture.overwrite(Array(sound.prefix(pages * pageSize)))
        let claims = PageClaims(pageCount: file.layout.pageCount)
        let rows = Result { try read(table: tableRoot, of: file, claims: claims, width: 2) }
        switch rows {
        case .success(let rows): #expect(rows.count == expectedCount, "the pages after the cut aren't the table's")
        case .failure(let error as PageReadError): #expect(error.code == .missing && error.page > pages)
        case .failure(let error): throw error
        }
    }

    func examine(_ change: String, _ damage: (inout [UInt8]) -> Void) throws {
        let title = "\(title): \(change)"
        var bytes = sound
        damage(&bytes)
        try fixture.overwrite(bytes)
        let file: PageFile
        do {
            file = try fixture.pages()
        } catch is SourceRefusal {
            figures.refused += 1
            return
        }
        let claims = PageClaims(pageCount: file.layout.pageCount)
        try compare(
            Result { try read(table: tableRoot, of: file, claims: claims, width: 2) }, "SELECT rowid, a, b FROM t",
            title + ", table")
        guard let indexRoot else { return }
        try compare(
            Result { try read(index: indexRoot, of: file, claims: claims, width: 2) },
            "SELECT 0, a, rowid FROM t INDEXED BY ti ORDER BY a, rowid", title + ", index")
    }

    private func compare(
        _ outcome: Result<[PlainRow], any Error>, _ query: String, _ title: String
    ) throws {
        let connection = try fixture.connection(.immutable)
        guard (try? PageFixture.rows(of: Self.schemaQuery, in: connection)) == schema else {
            figures.otherSchema += 1
            return
        }
        let selected = Result { try PageFixture.rows(of: query, in: connection) }
        switch outcome {
        case .success(let rows):
            guard case .success(let expected) = selected else {
                figures.selectFails += 1
                return
            }
            figures.sameRows += 1
            // SQLite reads missing cells as NULL.
            let full = rows.map { row in
                PlainRow(rowid: row.rowid, cells: row.cells + Array(repeating: .null, count: 2 - row.cells.count))
            }
            #expect(full == expected, "\(title)")
        case .failure(let error):
            var check = "PRAGMA quick_check"
            switch error {
            case is PageReadError: figures.pageErrors += 1
            case let error as RecordError:
                figures.recordErrors += 1
                if error.code == .badSerialType || error.code == .tooManyCells { return }
                check = "PRAGMA integrity_check"
            default: throw error
            }
            guard case .success = selected else { return }
            let lines = try? PageFixture.rows(of: check, hasRowid: false, in: connection)
            #expect(lines?.first?.cells != [.text("ok")], "\(title): \(error)")
        }
    }
}
