import CausewayCheckpoint
import CausewayEngine
import CausewayPlanning
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import Testing

/// Sums over rows that find every change and don't depend on the order.
@Suite("Digests of passes", .timeLimit(.minutes(60)))
struct VerifDigestTests {
    private static let columns = ["Z_PK", "Z_ENT", "A", "B"]

    /// A table of four carried columns, with a key or as whole rows.
    private static func pass(keyed: Bool = true, recipes: [CellRecipe]? = nil) throws -> RowPass {
        var shape = RowShape(table: try SQLIdentifier("T"))
        for name in columns { _ = shape.index(of: .column(try SQLIdentifier(name))) }
        let cells = recipes ?? [.carry(0), .literal(.integer(1)), .carry(2), .carry(3)]
        return RowPass(
            kind: .entity, title: "T", shape: shape, destinationTable: "T",
            destinationColumns: columns, key: keyed ? 0 : nil, discriminator: nil,
            projections: [0: RowProjection(entity: "Thing", cells: cells)])
    }

    /// A digest of a table without affinities, so that every storage class stays.
    private static func digest(_ rows: String..., pass: RowPass) throws -> PassDigest {
        let connection = try Connection.inMemory()
        try connection.execute("CREATE TABLE T (Z_PK INTEGER PRIMARY KEY, Z_ENT, A, B)")
        for row in rows { try connection.execute("INSERT INTO T VALUES (\(row))") }
        return try PassDigest(rereading: pass, in: connection, isUTF8: true)
    }

    private static func differs(_ left: PassDigest, _ right: PassDigest) -> [String] {
        PassDigest.difference(left, .source, right, .source)
    }

    @Test("parts merge to the whole in any order")
    func merging() throws {
        for keyed in [true, false] {
            let pass = try Self.pass(keyed: keyed)
            let (one, two, three) = ("1, 1, 'a', 1", "2, 1, x'00', 2.5", "3, 1, NULL, NULL")
            var forwards = try Self.digest(one, pass: pass)
            forwards.merge(try Self.digest(two, three, pass: pass))
            var backwards = PassDigest(pass)
            for row in [three, two, one] { backwards.merge(try Self.digest(row, pass: pass)) }
            let whole = try Self.digest(one, two, three, pass: pass)
            #expect(forwards == whole && backwards == whole)
            #expect(whole.rows(.source) == 3 && whole.rows(.destination) == 3)
            #expect(whole.differenceOfSides().isEmpty)
        }
    }

    /// Values that differ in class, in one bit, in length, in one byte of a long text.
    private static let values = [
        "NULL", "0", "1", "-1", "9223372036854775807", "0.0", "-0.0", "1.0", "1.0000000000000002", "''", "x''", "'1'",
        "x'31'", "'a'", "'b'", "'ab'", "'ba'", "x'00'", "x'0000'", "'abcdefg'", "'abcdefgh'", "'abcdefghi'",
        "'abcdefghijklmnop'", "'abcdefghijklmnoq'", "'bbcdefghijklmnop'", "'abcdefghijklmnopq'",
        "zeroblob(31)", "zeroblob(32)", "zeroblob(33)", "zeroblob(100000)", "zeroblob(100001)",
        "CAST(zeroblob(49999) || x'01' || zeroblob(50000) AS BLOB)", "CAST(zeroblob(100000) AS TEXT)",
    ]

    @Test("no two of many similar values have one digest, with a key or without")
    func values() throws {
        for keyed in [true, false] {
            let pass = try Self.pass(keyed: keyed)
            let digests = try Self.values.map { try Self.digest("7, 1, \($0), 'same'", pass: pass) }
            for (index, digest) in digests.enumerated() {
                for (place, other) in digests.enumerated() where place != index {
                    #expect(digest != other, "\(Self.values[index]) and \(Self.values[place])")
                }
            }
        }
    }

    @Test("small numbers of many rows don't clash: every pair of 60 keys and 10 values")
    func smallNumbers() throws {
        let pass = try Self.pass()
        var seen: Set<[UInt8]> = []
        for key in 1...60 {
            for value in 0..<10 {
                var writer = FieldWriter()
                try Self.digest("\(key), 1, \(value), NULL", pass: pass).write(to: &writer)
                #expect(seen.insert(writer.bytes).inserted, "\(key), \(value)")
            }
        }
    }

    @Test("swapped values are found, and the column is named by entity and name")
    func swapped() throws {
        let pass = try Self.pass()
        let before = try Self.digest("1, 1, 'x', 5", "2, 1, 'y', 6", pass: pass)
        let after = try Self.digest("1, 1, 'y', 5", "2, 1, 'x', 6", pass: pass)
        #expect(Self.differs(before, after) == ["Thing: the digests of column A differ"])
        // The same values in two columns of one row.
        let crossed = try Self.digest("1, 1, 5, 'x'", "2, 1, 'y', 6", pass: pass)
        #expect(Self.differs(before, crossed).count == 2)
    }

    @Test("values that became NULL, and lost or duplicate rows, are counted")
    func lost() throws {
        let pass = try Self.pass()
        let before = try Self.digest("1, 1, 'x', 5", "2, 1, 'y', 6", pass: pass)
        #expect(
            Self.differs(before, try Self.digest("1, 1, NULL, 5", "2, 1, 'y', 6", pass: pass)) == [
                "Thing: the digests of column A differ, 2 values expected and 1 found"
            ])
        #expect(
            Self.differs(before, try Self.digest("1, 1, 'x', 5", pass: pass)).first
                == "Thing: 2 rows expected, 1 found")
        let keyless = try Self.pass(keyed: false)
        let row = try Self.digest("1, 1, 'x', 5", pass: keyless)
        var doubled = row
        doubled.merge(row)
        #expect(Self.differs(row, doubled).first == "Thing: 1 rows expected, 2 found")
    }

    /// Projections 1 and 2 both write entity 7. Only the second carries B; the first makes C's values itself.
    private static func mergingPass() throws -> RowPass {
        var pass = try Self.pass()
        pass.discriminator = 1
        let seven = CellRecipe.literal(.integer(7))
        pass.projections = [
            1: RowProjection(entity: "Thing", cells: [.carry(0), seven, .carry(2), .literal(.null)]),
            2: RowProjection(entity: "Thing", cells: [.carry(0), seven, .carry(2), .carry(3)]),
            3: RowProjection(
                entity: "Other", cells: [.carry(0), .literal(.integer(8)), .carry(2), .literal(.integer(1))]),
        ]
        return pass
    }

    @Test("rows of two entities that become one are digested together")
    func together() throws {
        let pass = try Self.mergingPass()
        func result(_ rows: String...) throws -> PassDigest {
            let connection = try Connection.inMemory()
            try connection.execute("CREATE TABLE T (Z_PK INTEGER PRIMARY KEY, Z_ENT, A, B)")
            for row in rows { try connection.execute("INSERT INTO T VALUES (\(row))") }
            return try PassDigest(rereadingDestinationOf: pass, in: connection)
        }
        let source = try Self.digest("1, 1, 'x', 9", "2, 2, 'y', 5", "3, 3, 'z', 4", pass: pass)
        #expect(source.rows(.source) == 3)
        func differences(_ rows: PassDigest) -> [String] {
            PassDigest.difference(source, .source, rows, .destination)
        }
        #expect(try differences(result("1, 7, 'x', NULL", "2, 7, 'y', 5", "3, 8, 'z', 1")).isEmpty)
        #expect(
            try differences(result("1, 7, 'x', NULL", "2, 7, 'y', 6", "3, 8, 'z', 1")) == [
                "Thing: the digests of column B differ"
            ])
        #expect(
            try differences(result("1, 7, 'x', NULL", "2, 8, 'y', NULL", "3, 8, 'z', 1"))
                .contains("Other: 1 rows expected, 2 found"))
    }

    @Test("newly made values aren't digested; conditionally carried ones are, as they are carried")
    func recipes() throws {
        let pass = try Self.pass(
            recipes: [
                .carry(0), .literal(.integer(9)), .carryOr(2, .text("default")), .key(3, entity: 1, dropped: [4]),
            ]
        )
        let plain = try Self.pass()
        // NULL is replaced; a link to a dropped entity ends.
        let carried = try Self.digest("1, 4, NULL, 77", "2, 5, 'own', 78", pass: pass)
        let expected = try Self.digest("1, 4, 'default', NULL", "2, 5, 'own', 78", pass: plain)
        #expect(Self.differs(carried, expected).isEmpty)
        #expect(Self.differs(carried, try Self.digest("1, 4, NULL, NULL", "2, 5, 'own', 78", pass: plain)).count == 1)
        let listed = try Self.pass(
            recipes: [.carry(0), .literal(.null), .first(.carry(2), position: 3), .literal(.null)])
        let first = try Self.digest("1, 1, 'x', 2048", "2, 1, 'y', 3072", pass: listed)
        let only = try Self.pass(recipes: [.carry(0), .literal(.null), .carry(2), .literal(.null)])
        #expect(Self.differs(first, try Self.digest("1, 1, 'x', 1", "2, 1, NULL, 1", pass: only)).isEmpty)
    }

    @Test("a digest survives a checkpoint, and bytes cut anywhere are refused", arguments: [true, false])
    func coding(keyed: Bool) throws {
        let pass = try Self.pass(keyed: keyed)
        let digest = try Self.digest("1, 1, 'x', 5", "2, 1, NULL, 6", pass: pass)
        var writer = FieldWriter()
        digest.write(to: &writer)
        var reader = FieldReader(writer.bytes)
        #expect(try PassDigest(pass, from: &reader) == digest)
        #expect(reader.isAtEnd)
        for count in 0..<writer.bytes.count {
            var short = FieldReader(Array(writer.bytes.prefix(count)))
            #expect(throws: CheckpointError.self) { _ = try PassDigest(pass, from: &short) }
        }
        var empty = FieldWriter()
        PassDigest(pass).write(to: &empty)
        var emptyReader = FieldReader(empty.bytes)
        #expect(try PassDigest(pass, from: &emptyReader) == PassDigest(pass))
    }
}
