import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewaySQLiteFile
import CausewayStores
import Testing

@testable import CausewayEngine

/// A pass whose rows are spliced packs what one packs that makes them cell by cell, and counts the same.
@Suite("Rows of a pass are spliced", .timeLimit(.minutes(60)))
struct PassSpliceTests {
    private static let cells: [RowMap.Cell] = [.rowid, .column(1), .column(2), .column(3)]

    private static let spliced: [CellRecipe] = [
        .carry(0), .literal(.integer(5)), .carry(2), .carry(3), .key(3, entity: 2, dropped: [7]),
        .carryOr(2, .text("none")), .entityNumber(1, numbers: [1: 4, 300: 2]), .literal(.real(2)),
    ]

    private static let rows: [[CellValue]] = (0..<300).map { row in
        let values: [CellValue] = [
            .null, .integer(7), .integer(8), .real(3), .real(0.5), .text("text"),
            .blob(Array(repeating: 9, count: 900)),
        ]
        // The third column has entity numbers.
        return [.null, .integer(row % 9 == 0 ? 300 : 1), values[row % 3], values[row / 3 % 7]]
    }

    private struct Made {
        var rows: MadeRows
        var leaves: PackedLeaves
        var digest: PassDigest
        var dropped: Int
    }

    private static func make(
        _ pass: RowPass, _ rows: RowBatch, splices: Bool, takesSums: Bool = true
    ) throws -> Made {
        let columns = pass.destinationColumns.indices.map { column -> RecordForm.Column in
            column == 0 ? .null : .cell(column, column % 2 == 0 ? .numeric : .asMade)
        }
        let splice = try PassSplice(pass, from: cells, to: columns, of: 4)
        #expect(splice != nil)
        let packing = LeafPacking(
            pageSize: 512, columns: 4, form: RecordForm(columns, cells: columns.count), splice: splices ? splice : nil,
            takesSums: takesSums, carried: [], title: pass.title)
        let map = try RowMap(cells, defaults: Array(repeating: .null, count: 4))
        let projector = try RowProjector(pass, map: map, external: RowFixture.external, takesSums: takesSums)
        let packed = packing.makePacked()
        let made = try packing.makePacker().make(rows, with: projector, through: RowBatch(), into: packed)
        return Made(
            rows: made, leaves: packed.leaves, digest: projector.takeDigest(), dropped: projector.dropped)
    }

    private static func pass(keyed: Bool = true) throws -> RowPass {
        var pass = try RowFixture.pass(spliced, keyed: keyed, number: 1)
        pass.projections[300] = RowProjection(
            entity: "Other",
            cells: spliced.map { recipe in
                if case .carryOr(let cell, _) = recipe {
                    .converted(cell, NumericConversion(from: .integer64, to: .double), ifNull: nil)
                } else {
                    recipe
                }
            })
        return pass
    }

    @Test("the same rows, pages and counts as cell by cell", arguments: [true, false], [true, false])
    func same(keyed: Bool, takesSums: Bool) throws {
        var pass = try Self.pass(keyed: keyed)
        pass.dropped = [2]
        let rows = try RowFixture.batch(Self.rows + [[.null, .integer(2), .null, .null]])
        let one = try Self.make(pass, rows, splices: true, takesSums: takesSums)
        let other = try Self.make(pass, rows, splices: false, takesSums: takesSums)
        #expect(one.rows.count == 300 && other.rows.count == 300 && one.dropped == 1 && other.dropped == 1)
        #expect(one.leaves.pageCount == other.leaves.pageCount && one.leaves.leafCount == other.leaves.leafCount)
        #expect(!one.digest.isSummed && other.digest.isSummed == takesSums)
        #expect(one.digest.records.count == (takesSums ? 300 : 0) && other.digest.records.count == 0)
        #expect(one.digest.differenceOfSides().isEmpty)
        var counted = one.digest
        counted.adoptSums(of: other.digest)
        #expect(PassDigest.difference(counted, .source, other.digest, .source).isEmpty)
        #expect(PassDigest.difference(counted, .destination, other.digest, .destination).isEmpty)
    }

    @Test("bad and damaged rows stop the run with the same error as cell by cell", arguments: [true, false])
    func bad(keyed: Bool) throws {
        let pass = try Self.pass(keyed: keyed)
        for row: [CellValue] in [
            [.null, .integer(3), .null, .null], [.null, .null, .null, .null], [.null, .text("1"), .null, .null],
            [.null],
            [.null, .integer(1), .null, .null, .null],
            [.null, .integer(1), .text("7"), .null], [.null, .integer(1), .real(7.5), .null],
        ] {
            let rows = try RowFixture.batch(Array(Self.rows.prefix(20)) + [row])
            let errors = [true, false].map { splices in
                #expect(throws: EngineError.self) { _ = try Self.make(pass, rows, splices: splices) }
            }
            #expect(errors[0]?.message == errors[1]?.message && errors[0]?.kind == errors[1]?.kind, "\(row)")
        }
    }

    @Test("a pass that needs more than splicing has no programs")
    func others() throws {
        for recipe: CellRecipe in [
            .prefixed(2, attribute: "v"), .first(.carry(2), position: 3), .literalIfPresent(2, .null),
        ] {
            let pass = try RowFixture.pass([.carry(0), recipe])
            #expect(try PassSplice(pass, from: Self.cells, to: [.null, .cell(1)], of: 4) == nil)
        }
        // Z_ENT can't be read from a column of reals.
        let pass = try RowFixture.pass([.carry(0), .carry(2)], number: 1)
        var cells = Self.cells
        cells[1] = .column(1, isReal: true)
        #expect(try PassSplice(pass, from: cells, to: [.null, .cell(1)], of: 4) == nil)
    }
}
