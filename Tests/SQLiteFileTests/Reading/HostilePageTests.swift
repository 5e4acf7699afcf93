import CausewayPlatform
import CausewaySQLite
import CausewaySQLiteFile
import Foundation
import Testing

/// Damaged files: readers end with an error or give the rows that SELECT gives.
///
/// The rule that is tested, for a file whose schema is still as it was:
/// - a reader gives rows without an error: SELECT gives the same rows, or fails;
/// - a reader gives an error: `PRAGMA quick_check` reports damage, or SELECT fails;
/// - a record can't be read: `PRAGMA integrity_check` reports damage, or SELECT fails. `quick_check` doesn't look into
///   the entries of an index. Serial types that the format reserves, and more cells than the table has columns, are
///   left out of this rule: SQLite reads the former as NULL and leaves out the latter.
///
/// So no reader fails on pages that SQLite calls sound. The reverse doesn't hold: `quick_check` looks at
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
        let stride = Self.stride ?? 97
        // Every mask meets every kind of byte, though not every byte.
        for (index, offset) in Swift.stride(from: 0, to: subject.sound.count, by: stride).enumerated() {
            for mask in stride == 1 ? Self.masks : [Self.masks[index % Self.masks.count]] {
                try subject.examine("byte \(offset) ^ \(mask)") { $0[offset] ^= mask }
            }
        }
        // Bytes that aren't content: the pages' headers, the cell pointers and the first cells.
        for (index, offset) in subject.structure.enumerated() where stride == 1 || index % 5 == 0 {
            let mask = Self.masks[index % Self.masks.count]
            try subject.examine("byte \(offset) ^ \(mask)") { $0[offset] ^= mask }
        }
        expectWorth(of: subject)
    }

    private static let masks: [UInt8] = [0x01, 0x80, 0xff, 0x10]

    @Test("swapped pages give the rows of SELECT or an error", arguments: Shape.allCases)
    func swaps(shape: Shape) throws {
        let subject = try HostileSubject(shape)
        let pairs = subject.pageCount * (subject.pageCount - 1) / 2
        var count = 0
        for first in 1..<subject.pageCount {
            for second in 0..<first {
                count += 1
                // Small files have few pairs: all of them.
                guard Self.stride == 1 || pairs < 40 || count % 13 == 0 else { continue }
                try subject.examine("pages \(first + 1) and \(second + 1) swapped") { bytes in
                    for offset in 0..<subject.pageSize {
                        bytes.swapAt(first * subject.pageSize + offset, second * subject.pageSize + offset)
                    }
                }
            }
        }
        expectWorth(of: subject)
    }

    @Test("pointers to other pages give the rows of SELECT or an error", arguments: Shape.allCases)
    func pointers(shape: Shape) throws {
        let subject = try HostileSubject(shape)
        var numbers = SeededNumbers(1)
        for offset in subject.pointers {
            let targets =
                Self.stride == 1
                ? Array(0...subject.pageCount + 1)
                : (0..<2).map { _ in Int.random(in: 0...subject.pageCount + 1, using: &numbers) }
            for target in targets {
                try subject.examine("pointer at \(offset) to \(target)") { bytes in
                    bytes[offset + 2] = UInt8(target >> 8)
                    bytes[offset + 3] = UInt8(target & 0xff)
                }
            }
        }
        expectWorth(of: subject)
    }

    @Test("a file that ends earlier gives the rows of SELECT or an error", arguments: Shape.allCases)
    func truncated(shape: Shape) throws {
        let subject = try HostileSubject(shape)
        for pages in 1..<subject.pageCount {
            try subject.examine("cut to \(pages) pages") { $0.removeLast($0.count - pages * subject.pageSize) }
            try subject.examine("of \(pages) pages") { bytes in
                bytes.removeLast(bytes.count - pages * subject.pageSize)
                bytes[30] = UInt8(pages >> 8)
                bytes[31] = UInt8(pages & 0xff)
            }
            try subject.examineCut(to: pages)
        }
        expectWorth(of: subject)
    }

    /// Trials that read nothing, or in which nothing was wrong, would prove nothing.
    private func expectWorth(of subject: HostileSubject) {
        subject.report()
        #expect(subject.hasReadDamaged)
        #expect(subject.hasFoundDamage)
    }
}
