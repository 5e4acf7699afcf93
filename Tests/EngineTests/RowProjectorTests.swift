import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores
import Foundation
import Testing

@testable import CausewayEngine

/// The rows that a pass's recipes make, without a store around them.
@Suite("The projector alone", .timeLimit(.minutes(60)))
struct RowProjectorTests {
    /// Every storage class, as SQL and as a value.
    private static let values: [(sql: String, value: CellValue)] = [
        ("NULL", .null), ("0", .integer(0)), ("1", .integer(1)), ("-300", .integer(-300)), ("1.5", .real(1.5)),
        ("4.0", .real(4)), ("''", .text("")), ("'word'", .text("word")), ("x''", .blob([])),
        ("x'01ff'", .blob([1, 255])),
    ]
    /// Columns of the recipes: the key, the value, another one after it.
    private static func recipes(_ recipe: CellRecipe) -> [CellRecipe] {
        [.carry(0), recipe, .literal(.integer(7)), .carry(3)]
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let recipe: CellRecipe
        var entity = "1"
        var position = "NULL"
        /// nil: the row is bad.
        let expected: @Sendable (CellValue) -> CellValue?
        var testDescription: String { name }
    }

    private static func number(_ value: CellValue) -> StoredNumberText {
        switch value {
        case .integer(let value): .integer(value)
        case .real(let value): .real(value)
        default: .none
        }
    }

    private enum StoredNumberText {
        case integer(Int64), real(Double), none
    }

    private static let toReal = NumericConversion(from: .integer32, to: .double)
    private static let toWhole = NumericConversion(from: .double, to: .integer64)
    /// Two bits that change places.
    private static let swap = HistoryColumnsMap(
        from: HistoryPositions(positions: [.attribute("a"), .attribute("b")], isKnown: true),
        to: HistoryPositions(positions: [.attribute("b"), .attribute("a")], isKnown: true), identity: { $0 })

    static let cases: [Case] = [
        Case(name: "carried", recipe: .carry(2)) { $0 },
        Case(name: "a literal", recipe: .literal(.text("new"))) { _ in .text("new") },
        Case(name: "carried, or the default", recipe: .carryOr(2, .integer(9))) { $0 == .null ? .integer(9) : $0 },
        Case(name: "converted to a real", recipe: .converted(2, toReal, ifNull: nil)) {
            if case .integer(let value) = number($0) { .real(Double(value)) } else { $0 }
        },
        Case(name: "converted to an integer", recipe: .converted(2, toWhole, ifNull: nil)) {
            if case .real(let value) = number($0), let whole = Int64(exactly: value) { .integer(whole) } else { $0 }
        },
        Case(name: "converted, or the default", recipe: .converted(2, toReal, ifNull: .real(0.5))) {
            if case .integer(let value) = number($0) { .real(Double(value)) } else { $0 == .null ? .real(0.5) : $0 }
        },
        Case(name: "a key to an entity that stays", recipe: .key(2, entity: 1, dropped: [4, 5])) { $0 },
        Case(name: "a key to a dropped entity", recipe: .key(2, entity: 1, dropped: [4, 5]), entity: "4") { _ in .null
        },
        Case(name: "a key to who knows what", recipe: .key(2, entity: 1, dropped: [4]), entity: "'4'") { _ in nil },
        Case(name: "a key to no known entity", recipe: .key(2, entity: 1, dropped: [4]), entity: "NULL") { $0 },
        Case(name: "an entity's number", recipe: .entityNumber(2, numbers: [1: 12, -300: 2])) {
            switch $0 {
            case .integer(1): .integer(12)
            case .integer(-300): .integer(2)
            case .integer, .null: .null
            case .real, .text, .blob: nil
            }
        },
        Case(name: "a literal beside a value", recipe: .literalIfPresent(2, .integer(3))) {
            $0 == .null ? .null : .integer(3)
        },
        Case(name: "a list's first row", recipe: .first(.carry(2), position: 3), position: "2048") { $0 },
        Case(name: "a list's second row", recipe: .first(.carry(2), position: 3), position: "3072") { _ in .null },
        Case(name: "no list's row", recipe: .first(.carry(2), position: 3)) { _ in .null },
        Case(
            name: "a first row's key to a dropped entity",
            recipe: .first(.key(2, entity: 1, dropped: [4]), position: 3), entity: "4", position: "2048"
        ) { _ in .null },
        Case(name: "external storage begins", recipe: .prefixed(2, attribute: "v")) {
            switch $0 {
            case .null: .null
            case .text(let text): .blob([1] + Array(text.utf8))
            case .blob(let bytes): .blob([1] + bytes)
            case .integer, .real: nil
            }
        },
        Case(name: "external storage ends", recipe: .inlined(2, attribute: "v")) {
            switch $0 {
            case .null: .null
            case .blob([1, 255]): .blob([255])
            default: nil
            }
        },
        Case(name: "a history's bitmap", recipe: .historyBitmap(2, swap)) {
            switch $0 {
            case .integer, .real: nil
            default: .null
            }
        },
    ]

    private static func project(
        _ pass: RowPass, _ rows: [String], screening: RowScreening? = nil
    ) throws -> (output: RowBatch, projector: RowProjector, digest: PassDigest) {
        let connection = try RowFixture.connection(rows)
        let projector = try RowProjector(pass, external: RowFixture.external, screening: screening)
        let output = RowBatch()
        try projector.project(try RowFixture.batch(pass, in: connection), into: output)
        let digest = projector.takeDigest()
        let result = try RowFixture.store(output, of: pass)
        #expect(digest.differenceOfSides().isEmpty)
        if projector.quarantined.count == 0, projector.dropped + projector.elsewhere == 0 {
            #expect(try digest == PassDigest(rereading: pass, in: connection, isUTF8: true))
        }
        let again = try PassDigest(rereadingDestinationOf: pass, in: result)
        #expect(PassDigest.difference(digest, .destination, again, .destination).isEmpty)
        return (output, projector, digest)
    }

    private static func screening(
        _ pass: RowPass, _ demands: [RowScreening.Demand] = [], takesStrangers: Bool = true
    ) -> RowScreening {
        RowScreening(
            pass: pass, demands: [pass.discriminator == nil ? 0 : 1: demands], takesStrangers: takesStrangers,
            columns: zip(RowFixture.columns, 0...).map { ($0, $1) }, entities: [1: "Old"], storeUUID: "UUID")
    }

    @Test("makes the recipe's value of each storage class, with a key or without", arguments: cases, [true, false])
    func recipes(_ test: Case, keyed: Bool) throws {
        let pass = try RowFixture.pass(Self.recipes(test.recipe), keyed: keyed)
        let good = Self.values.filter { test.expected($0.value) != nil }
        let rows = good.enumerated().map { "\($0 + 1), \(test.entity), \($1.sql), \(test.position)" }
        let made = try RowFixture.cells(try Self.project(pass, rows).output, columns: 4)
        let position: CellValue = Int64(test.position).map { .integer($0) } ?? .null
        #expect(
            made
                == good.enumerated().map { index, value in
                    [.integer(Int64(index + 1)), test.expected(value.value) ?? .null, .integer(7), position]
                })
        // Alone in its row, too.
        let alone = try RowFixture.pass([test.recipe], keyed: false)
        #expect(try RowFixture.cells(try Self.project(alone, rows).output, columns: 1) == made.map { [$0[1]] })
    }

    @Test("a bad row stops the run, or is quarantined", arguments: cases)
    func badRows(_ test: Case) throws {
        let pass = try RowFixture.pass(Self.recipes(test.recipe))
        let rows = Self.values.enumerated().map { "\($0 + 1), \(test.entity), \($1.sql), \(test.position)" }
        let bad = Self.values.indices.filter { test.expected(Self.values[$0].value) == nil }
        for index in bad {
            let error = #expect(throws: EngineError.self) { _ = try Self.project(pass, [rows[index]]) }
            #expect(error?.kind == .sourceData && error?.message.contains("row \(index + 1)") == true)
        }
        let (output, projector, digest) = try Self.project(pass, rows, screening: Self.screening(pass))
        #expect(projector.quarantined.count == bad.count && output.count == rows.count - bad.count)
        #expect(digest.rows(.source) == output.count && digest.rows(.destination) == output.count)
        let taken = projector.takeQuarantined()
        #expect(taken.keys.values.flatMap { $0 } == bad.map { Int64($0 + 1) })
        let lines = String(decoding: taken.lines, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == bad.count)
        for (line, index) in zip(lines, bad) { #expect(line.contains("\"key\":\(index + 1),")) }
        #expect(projector.takeQuarantined().count == 0)
    }

    /// Rows 1 to 4: two good ones, and one of each bad kind.
    static let demands: [(demand: RowScreening.Demand, bad: [Int64])] = [
        (.noRow(BadRow(code: .migration, property: nil, reason: "gone")), [1, 2, 3, 4]),
        (.notNull(cell: 2, BadRow(code: .missingMandatoryProperty, property: "v", reason: "NULL")), [3]),
        (
            .staying(key: 2, entity: nil, ended: [6], BadRow(code: .migration, property: "v", reason: "ends")),
            [1, 2, 4]
        ),
        (.staying(key: 2, entity: 3, ended: [6], BadRow(code: .migration, property: "v", reason: "ends")), [2]),
        (.converts(cell: 2, NumericConversion(from: .integer32, to: .boolean), attribute: "v", place: "V1"), [4]),
        (.reference(cell: 2, attribute: "v"), []), (.entityNumber(cell: 2, relationship: "v"), []),
    ]

    @Test("screening leaves out the rows that don't fulfil a demand, and only those", arguments: demands.indices)
    func screened(_ index: Int) throws {
        let (demand, bad) = Self.demands[index]
        let rows = ["1, 1, 1, 5", "2, 1, 0, 6", "3, 1, NULL, 6", "4, 1, 70, NULL"]
        let pass = try RowFixture.pass(Self.recipes(.carry(2)), number: 1)
        let (output, projector, _) = try Self.project(pass, rows, screening: Self.screening(pass, [demand]))
        let keys = (0..<output.count).map { output.rowid(at: $0) }
        #expect(keys == [1, 2, 3, 4].filter { !bad.contains($0) })
        #expect(projector.takeQuarantined().keys == (bad.isEmpty ? [:] : [1: bad]))
    }

    @Test("a reference without its file is written to the rejects file, and its row is kept")
    func references() throws {
        let pass = try RowFixture.pass(Self.recipes(.carry(2)), number: 1)
        let name = Data("0E1D2C3B-4A59-4687-8796-A5B4C3D2E1F0".utf8).map { String(format: "%02x", $0) }.joined()
        let rows = ["1, 1, x'02\(name)00', NULL", "2, 1, x'0100', NULL"]
        let screening = Self.screening(pass, [.reference(cell: 2, attribute: "photo")])
        let (output, projector, digest) = try Self.project(pass, rows, screening: screening)
        #expect(output.count == 2 && digest.rows(.destination) == 2)
        let taken = projector.takeQuarantined()
        #expect(taken.count == 0)
        let line = String(decoding: taken.lines, as: UTF8.self)
        #expect(line.hasPrefix("{\"uri\":\"x-coredata://UUID/Old/p1\"") && line.contains("\"kept\":true"))
    }

    @Test("an optional value without its file becomes NULL, and is written to the rejects file; its row is kept")
    func setAside() throws {
        let pass = try RowFixture.pass(Self.recipes(.inlined(2, attribute: "photo")), number: 1)
        let name = Data("0E1D2C3B-4A59-4687-8796-A5B4C3D2E1F0".utf8).map { String(format: "%02x", $0) }.joined()
        let rows = ["1, 1, x'02\(name)00', NULL", "2, 1, x'0107', NULL", "3, 1, 5, NULL"]
        var screening = Self.screening(pass)
        screening.optional = [1: [2]]
        let (output, projector, digest) = try Self.project(pass, rows, screening: screening)
        #expect(try RowFixture.cells(output, columns: 4).map { $0[1] } == [.null, .blob([7]), .null])
        #expect(digest.rows(.destination) == 3)
        let taken = projector.takeQuarantined()
        #expect(taken.count == 0)
        let lines = String(decoding: taken.lines, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 2)
        for line in lines {
            #expect(line.contains("\"property\":\"photo\"") && line.contains("\"kept\":true"), "\(line)")
            #expect(line.contains("the value is set aside, the row is kept"), "\(line)")
        }
    }

    @Test("a row's Z_ENT decides what is done with it")
    func fates() throws {
        var pass = try RowFixture.pass(Self.recipes(.carry(2)), number: 1)
        pass.projections[3] = RowProjection(entity: "Other", cells: Self.recipes(.literal(.text("other"))))
        pass.dropped = [2]
        pass.elsewhere = [5]
        let rows = ["1, 1, 'a', 1", "2, 2, 'b', 1", "3, 3, 'c', 1", "4, 5, 'd', 1", "5, 1, 'e', 1"]
        let (output, projector, _) = try Self.project(pass, rows)
        #expect(projector.dropped == 1 && projector.elsewhere == 1)
        #expect(
            try RowFixture.cells(output, columns: 4).map { $0[1] } == [.text("a"), .text("other"), .text("e")])
        for stranger in ["0", "4", "6", "-1", "9223372036854775807", "NULL", "'1'", "1.0"] {
            let strange = rows + ["6, \(stranger), 'f', 1"]
            #expect(throws: EngineError.self) { _ = try Self.project(pass, strange) }
            let left = try Self.project(pass, strange, screening: Self.screening(pass))
            #expect(left.projector.takeQuarantined().keys == [QuarantinedRows.stranger: [6]])
            let passed = try Self.project(pass, strange, screening: Self.screening(pass, takesStrangers: false))
            #expect(passed.projector.elsewhere == 2 && passed.projector.quarantined.count == 0)
            var dropping = pass
            dropping.dropsUnknown = true
            #expect(try Self.project(dropping, strange).projector.dropped == 2)
        }
    }

    @Test("a history's bitmap is rearranged")
    func bitmap() throws {
        let pass = try RowFixture.pass([.historyBitmap(2, Self.swap), .carry(2)])
        let rows = ["1, 1, x'80', 1", "2, 1, x'40', 1", "3, 1, x'c0', 1", "4, 1, x'8000', 1"]
        let made = try RowFixture.cells(try Self.project(pass, rows).output, columns: 2)
        #expect(made.map { $0[0] } == [.blob([0x40]), .blob([0x80]), .blob([0xc0]), .null])
    }

    @Test("runs of carried cells in any order make the same row as single cells")
    func runs() throws {
        let rows = Self.values.enumerated().map { "\($0 + 1), \($0), \($1.sql), 'p\($0)'" }
        let orders = [[0, 1, 2, 3], [3, 2, 1, 0], [1, 2, 0, 1, 2, 3], [2, 2], [2, 3, 2, 3]]
        for order in orders {
            for keyed in [true, false] {
                let whole = try RowFixture.pass(order.map { .carry($0) }, keyed: keyed)
                let made = try RowFixture.cells(try Self.project(whole, rows).output, columns: order.count)
                let expected = Self.values.enumerated().map { index, value -> [CellValue] in
                    let row: [CellValue] = [
                        .integer(Int64(index + 1)), .integer(Int64(index)), value.value, .text("p\(index)"),
                    ]
                    return order.map { row[$0] }
                }
                #expect(made == expected)
            }
        }
    }
}
