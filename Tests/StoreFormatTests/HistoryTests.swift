import CausewayModel
import CausewaySQLite
import CausewayStoreFormat
import Testing

@Suite(.timeLimit(.minutes(60))) struct HistoryTests {
    private static let entities = """
        <entity name="Base">
            <attribute name="zeta" attributeType="String" preserveAfterDeletion="YES"/>
            <attribute name="alpha" attributeType="String"/>
            <relationship name="parts" toMany="YES" destinationEntity="Part" inverseName="whole" inverseEntity="Part"/>
        </entity>
        <entity name="Sub" parentEntity="Base">
            <attribute name="beta" attributeType="Integer 16" preserveAfterDeletion="YES"/>
            <attribute name="gone" attributeType="String" transient="YES"/>
            <relationship name="friend" maxCount="1" destinationEntity="Base"/>
            <relationship name="list" maxCount="1" destinationEntity="Part" inverseName="subs" inverseEntity="Part"/>
        </entity>
        <entity name="Part">
            <relationship name="whole" maxCount="1" destinationEntity="Base" inverseName="parts" inverseEntity="Base"/>
            <relationship name="subs" toMany="YES" ordered="YES" destinationEntity="Sub" inverseName="list" \
        inverseEntity="Sub"/>
        </entity>
        """

    @Test("history tables have one tombstone column per preserved attribute of the largest entity")
    func tables() throws {
        let layout = try TestModels.layout(Self.entities)
        let statements = layout.historyStatements
        #expect(
            statements.first?.sql == "CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
                + "ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB, "
                + "ZTOMBSTONE0 BLOB, ZTOMBSTONE1 BLOB )")
        #expect(statements.count == 11)
        let schema = try StoreSchema(reading: try TestModels.store(layout, history: true))
        #expect(schema.history == HistoryLayout(layout))
    }

    @Test("before 865 there is no string table")
    func oldTables() throws {
        let layout = try TestModels.layout(Self.entities, frameworkVersion: 851)
        #expect(
            layout.historyStatements.map(\.name) == [
                "ACHANGE", "ATRANSACTION", "ACHANGE_ZTRANSACTIONID_INDEX", "Z_TRANSACTION_TransactionAuthorIndex",
                "Z_TRANSACTION_TransactionTimestampIndex",
            ])
        #expect(HistoryLayout(layout).columns(of: .transactionString).isEmpty)
    }

    @Test("bits: to-ones, their entity numbers, their order keys, attributes superclass first, to-manys")
    func positions() throws {
        let layout = try TestModels.layout(Self.entities)
        let positions = HistoryPositions(of: "Sub", in: layout)
        #expect(
            positions.positions == [
                .toOne("friend"), .toOne("list"), .toOneEntity("friend"), .orderKey("list"), .attribute("alpha"),
                .attribute("zeta"), .attribute("beta"), .toMany("parts"),
            ])
        #expect(positions.isKnown)
        #expect(positions.byteCount == 1)
    }

    @Test("bits move with their properties; those of dropped properties are cleared")
    func remap() {
        let source = HistoryPositions(
            positions: (0..<9).map { .attribute("a\($0)") } + [.toMany("m")], isKnown: true)
        let destination = HistoryPositions(
            positions: [.toOne("new"), .toMany("m"), .attribute("b"), .attribute("a8")], isKnown: true)
        let map = HistoryColumnsMap(from: source, to: destination) { position in
            position == .attribute("a0") ? .attribute("b") : position
        }
        #expect(map([0b1000_0000, 0b0000_0000]) == [0b0010_0000])
        #expect(map([0b0100_0000, 0b1100_0000]) == [0b0101_0000])
        #expect(map([0, 0]) == [0])
        // Padding bits mean nothing, and a bitmap of another length isn't this entity's.
        #expect(map([0, 0b0011_1111]) == [0])
        #expect(map([0]) == nil)
        #expect(map([]) == nil)
        #expect(map([0, 0, 0]) == nil)
    }

    @Test("with unknown positions a bitmap can be kept, but not rearranged")
    func unknown() throws {
        let layout = try TestModels.layout(
            """
            <entity name="Album"><relationship name="stickers" toMany="YES" destinationEntity="Sticker"/></entity>
            <entity name="Sticker"><attribute name="a" attributeType="String"/></entity>
            """)
        let positions = HistoryPositions(of: "Sticker", in: layout)
        #expect(!positions.isKnown)
        #expect(HistoryColumnsMap(from: positions, to: positions, identity: { $0 })([0x40]) == [0x40])
        let other = HistoryPositions(positions: [.attribute("a")], isKnown: true)
        #expect(HistoryColumnsMap(from: positions, to: other, identity: { $0 })([0x40]) == nil)
    }
}
