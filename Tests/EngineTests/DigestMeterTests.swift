import CausewayPlanning
import CausewaySQLiteFile
import CausewayStoreFormat
import Testing

@testable import CausewayEngine

/// What one meter records of source rows and of the rows made from them.
@Suite("Digests of source rows and made rows", .timeLimit(.minutes(60)))
struct DigestMeterTests {
    /// Two carried cells, a literal, a carried cell, a key that ends where the entity is 4, a default for NULL.
    private static let recipes: [CellRecipe] = [
        .carry(0), .carry(1), .literal(.integer(7)), .carry(3), .key(2, entity: 1, dropped: [4]),
        .carryOr(2, .text("d")),
    ]

    /// The meter of rows with a key, an entity, a value and a place, and of the rows made from them.
    private static func digest(
        _ rows: [(row: [CellValue], made: [CellValue])], keyed: Bool
    ) throws -> PassDigest? {
        let meter = DigestMeter(DigestShape(try RowFixture.pass(recipes, keyed: keyed)))
        let (source, made) = (RowView(capacity: 4), RowView(capacity: recipes.count))
        let batches = (try RowFixture.batch(rows.map(\.row)), try RowFixture.batch(rows.map(\.made)))
        for index in rows.indices {
            try source.load(index, of: batches.0)
            try made.load(index, of: batches.1)
            guard case .integer(let key) = rows[index].row[0] else { return nil }
            guard meter.add(source, made: made, key: key, group: 0) else { return nil }
        }
        let digest = meter.take()
        #expect(meter.take().rows(.source) == 0)
        return digest
    }

    private static func row(
        _ key: Int64, entity: Int64 = 1, _ value: CellValue, _ place: CellValue
    ) -> (row: [CellValue], made: [CellValue]) {
        let row: [CellValue] = [.integer(key), .integer(entity), value, place]
        let link = entity == 4 ? .null : value
        return (row, [row[0], row[1], .integer(7), place, link, value == .null ? .text("d") : value])
    }

    private static let long = CellValue.text(String(repeating: "long ", count: 2_000))
    private static let good = [
        row(1, .integer(5), .real(0.5)), row(2, entity: 4, .null, .null), row(3, long, .blob([1])),
    ]

    @Test("correctly carried rows have equal digests on both sides, in any order", arguments: [true, false])
    func equal(keyed: Bool) throws {
        let digest = try #require(try Self.digest(Self.good, keyed: keyed))
        #expect(digest.differenceOfSides().isEmpty && digest.rows(.source) == 3 && digest.rows(.destination) == 3)
        #expect(try Self.digest(Self.good.reversed(), keyed: keyed) == digest)
        // Newly made cells count on neither side.
        var other = Self.good
        other[0].made[2] = .integer(8)
        #expect(try Self.digest(other, keyed: keyed) == digest)
    }

    /// Another class, another bit, another length, NULL.
    static let changes: [CellValue] = [.null, .integer(6), .real(5), .text("5"), .blob([5])]

    @Test("a made row that doesn't hold a carried cell is refused", arguments: changes, [0, 1, 3])
    func refused(change: CellValue, cell: Int) throws {
        for keyed in [true, false] {
            for row in Self.good.indices {
                var rows = Self.good
                guard rows[row].made[cell] != change else { continue }
                rows[row].made[cell] = change
                #expect(try Self.digest(rows, keyed: keyed) == nil, "row \(row)")
            }
        }
    }

    @Test("a cell that a recipe makes wrongly gives different digests", arguments: changes, [4, 5])
    func different(change: CellValue, cell: Int) throws {
        for keyed in [true, false] {
            for row in Self.good.indices {
                var rows = Self.good
                guard rows[row].made[cell] != change else { continue }
                rows[row].made[cell] = change
                let digest = try #require(try Self.digest(rows, keyed: keyed))
                let differences = digest.differenceOfSides()
                #expect(differences.count == 1, "row \(row)")
                #expect(differences.first?.contains(keyed ? "column C\(cell)" : "table D") == true)
            }
        }
    }

    @Test("every change of the rows changes the digest: of a cell or key, swapped values, a row more or less")
    func changed() throws {
        for keyed in [true, false] {
            var seen = [try #require(try Self.digest(Self.good, keyed: keyed))]
            func expectNew(_ rows: [(row: [CellValue], made: [CellValue])], _ what: String) throws {
                let digest = try #require(try Self.digest(rows, keyed: keyed))
                #expect(!seen.contains(digest), "\(what)")
                seen.append(digest)
            }
            for change in Self.changes {
                try expectNew([Self.row(1, change, .real(0.5))] + Self.good.dropFirst(), "\(change)")
                try expectNew([Self.row(1, .integer(5), change)] + Self.good.dropFirst(), "place \(change)")
            }
            try expectNew([Self.row(9, .integer(5), .real(0.5))] + Self.good.dropFirst(), "key")
            try expectNew([Self.row(1, entity: 2, .integer(5), .real(0.5))] + Self.good.dropFirst(), "entity")
            try expectNew([Self.row(1, .real(0.5), .integer(5))] + Self.good.dropFirst(), "crossed in the row")
            try expectNew(
                [Self.row(1, Self.long, .real(0.5)), Self.good[1], Self.row(3, .integer(5), .blob([1]))], "swapped")
            try expectNew(Array(Self.good.dropLast()), "lost")
            try expectNew(Self.good + [Self.good[2]], "doubled")
        }
    }
}
