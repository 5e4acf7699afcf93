import CausewayPlanning
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import Testing

/// The identity by which unfinished work is recognised.
@Suite("Identity of planned work", .timeLimit(.minutes(60)))
struct PlanIdentityTests {
    private func pass() throws -> RowPass {
        let key = RowShape.RelatedKey(
            table: try SQLIdentifier("Z_1X"), key: try SQLIdentifier("a"), value: try SQLIdentifier("b"))
        let shape = RowShape(
            table: try SQLIdentifier("ZA"),
            cells: [.column(try SQLIdentifier("Z_PK")), .column(try SQLIdentifier("Z_ENT")), .related(key)],
            conditions: [.oneOf(try SQLIdentifier("Z_ENT"), [1, 2])])
        var pass = RowPass(
            kind: .entity, title: "A", shape: shape, destinationTable: "ZB",
            destinationColumns: ["Z_PK", "Z_ENT", "ZC"], key: 0, discriminator: 1,
            projections: [
                1: RowProjection(
                    entity: "A", cells: [.carry(0), .literal(.integer(2)), .key(2, entity: 1, dropped: [3])]),
                2: RowProjection(entity: "B", cells: [.carry(0), .literal(.integer(3)), .literal(.text("x"))]),
            ])
        pass.id = "pass 0"
        return pass
    }

    private func identity(_ change: (inout RowPass) throws -> Void) throws -> String {
        var pass = try pass()
        try change(&pass)
        return TableWork(table: pass.destinationTable, method: .statements, passes: [pass], indexes: []).identity
    }

    @Test("every change to what happens to the rows gives another identity")
    func changes() throws {
        let changes: [(inout RowPass) throws -> Void] = [
            { _ in },
            { $0.id = "pass 1" },
            { $0.kind = .links },
            { $0.shape.table = try SQLIdentifier("ZX") },
            { $0.destinationColumns[2] = "ZD" },
            { $0.key = nil },
            { $0.discriminator = nil },
            { $0.dropped = [3] },
            { $0.elsewhere = [3] },
            { $0.dropsUnknown = true },
            { $0.shape.conditions = [] },
            { $0.shape.conditions = [.oneOf(try SQLIdentifier("Z_ENT"), [1])] },
            { $0.shape.order = [0] },
            { $0.shape.rowOrder = .rowID(try SQLIdentifier("oid")) },
            { $0.shape.cells[2] = .column(try SQLIdentifier("ZC")) },
            { $0.projections[2]?.entity = "C" },
            { $0.projections[2]?.cells[2] = .literal(.text("y")) },
            { $0.projections[2]?.cells[2] = .literal(.null) },
            { $0.projections[1]?.cells[2] = .key(2, entity: 1, dropped: [4]) },
            { $0.projections[1]?.cells[2] = .carry(2) },
            { $0.projections[1] = nil },
        ]
        let identities = try changes.map(identity)
        #expect(Set(identities).count == changes.count)
    }

    @Test("titles and the wording of statements aren't part of it")
    func wording() throws {
        #expect(try identity { $0.title = "another title" } == identity { _ in })
        #expect(try !identity { _ in }.contains("SELECT"))
    }

    @Test("names that are joined differently give different identities")
    func borders() throws {
        #expect(
            try identity { $0.destinationColumns = ["a b", "c", "d"] }
                != identity { $0.destinationColumns = ["a", "b c", "d"] })
    }

    @Test("carried cells are those that the rows of every entity carry from the same column")
    func carried() throws {
        #expect(try pass().carried == [RowPass.CarriedCell(cell: 0, column: 0)])
    }
}
