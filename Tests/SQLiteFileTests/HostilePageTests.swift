import CausewayPlatform
import CausewaySQLite
import CausewaySQLiteFile
import Foundation
import Testing

/// Damaged files: readers end with an error or give the rows that SELECT gives.
///
/// The rule that is tested, for a file whose schema is still as it was:
/// - a reader gives rows without an error: SELECT gives the same rows, or fails;
/// - a reader gives an error: `PRAGMA quick_check` reports damage, or SELECT fails.
///
/// So a reader's error never stops on a file that SQLite calls sound. The reverse doesn't hold: `quick_check` looks at
/// more than one tree (free pages, the pointer map), and SELECT looks at less than both.
///
/// `CAUSEWAY_HOSTILE_STRIDE=1` flips every byte; else every so many.
@Suite("Damaged pages", .timeLimit(.minutes(60)))
struct HostilePageTests {
    enum Shape: String, CaseIterable {
        case rows, deep, overflow, holes, vacuum, index, large

        var script: [String] {
            switch self {
            case .rows: Self.start(512) + [Self.fill(40, "'row ' || i, i * i")]
            case .deep:
                Self.start(512) + [Self.fill(70, "4611686018427387904 + i, zeroblob(240), i", columns: "rowid, a, b")]
            case .overflow: Self.start(512) + [Self.fill(6, "printf('%.*c', i * 300, 'x'), i")]
            case .holes:
                Self.start(512) + [
                    Self.fill(60, "printf('%.*c', i % 50, 'y'), i"), "DELETE FROM t WHERE a % 3 = 1 OR rowid % 4 = 2",
                    "UPDATE t SET a = 'zz' WHERE rowid % 5 = 1", "INSERT INTO t VALUES(NULL, 1)",
                ]
            case .vacuum:
                ["PRAGMA auto_vacuum = 1"] + Self.start(512)
                    + [Self.fill(16, "printf('%.*c', i * 61, 'x'), i"), "DELETE FROM t WHERE rowid % 7 = 3"]
            case .index:
                Self.start(512) + [
                    "CREATE INDEX ti ON t(a)", Self.fill(90, "printf('%.*c', i * 37 % 97, 'k') || i, i"),
                    "INSERT INTO t VALUES(printf('%.*c', 700, 'm'), 1), (printf('%.*c', 1800, 'a'), 2)",
                ]
            case .large: Self.start(4_096) + [Self.fill(70, "printf('%.*c', i * 3, 'l'), -i")]
            }
        }

        var hasIndex: Bool { self == .index }

        private static func start(_ pageSize: Int) -> [String] {
            ["PRAGMA page_size = \(pageSize)", "CREATE TABLE t(a, b)"]
        }

        private static func fill(_ count: Int, _ values: String, columns: String = "a, b") -> String {
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
            INSERT INTO t(\(columns)) SELECT \(values) FROM n
            """
        }
    }

    static var stride: Int? { ProcessInfo.processInfo.environment["CAUSEWAY_HOSTILE_STRIDE"].flatMap { Int($0) } }

    @Test("a flipped bit gives the rows of SELECT or an error", arguments: Shape.allCases)
    func flips(shape: Shape) throws {
        let subject = try HostileSubject(shape)
        let stride = Self.stride ?? 61
        // Every mask meets every kind of byte, though not every byte.
        for (index, offset) in Swift.stride(from: 0, to: subject.sound.count, by: stride).enumerated() {
            let masks: [UInt8] = stride == 1 ? [0x01, 0x80, 0xff, 0x10] : [[0x01, 0x80, 0xff, 0x10][index % 4]]
            for mask in masks {
                var bytes = subject.sound
                bytes[offset] ^= mask
                try subject.examine(bytes, "\(shape): byte \(offset) ^ \(mask)")
            }
        }
        print(shape, subject.sound.count, subject.figures)
    }
}

/// A small store, damaged in one way after another.
final class HostileSubject {
    let sound: [UInt8]
    let pageSize: Int
    private let fixture: PageFixture
    private let hasIndex: Bool
    private let tableRoot: Int
    private let indexRoot: Int?
    private let schema: [PlainRow]
    private(set) var figures = Figures()

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
        try examine(sound, "sound")
        #expect(figures.sameRows == (hasIndex ? 2 : 1))
    }

    func examine(_ bytes: [UInt8], _ title: String) throws {
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
            // SQLite takes missing cells as NULL.
            let full = rows.map { row in
                PlainRow(rowid: row.rowid, cells: row.cells + Array(repeating: .null, count: 2 - row.cells.count))
            }
            #expect(full == expected, "\(title)")
        case .failure(let error as PageReadError):
            figures.pageErrors += 1
            guard case .success = selected else { return }
            let lines = try? PageFixture.rows(of: "PRAGMA quick_check", hasRowid: false, in: connection)
            #expect(lines?.first?.cells != [.text("ok")], "\(title): \(error)")
        case .failure(is RecordError): figures.recordErrors += 1
        case .failure(let error): throw error
        }
    }
}
