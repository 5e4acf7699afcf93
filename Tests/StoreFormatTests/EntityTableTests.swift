import CausewayModel
import CausewayStoreFormat
import Testing

@Suite(.timeLimit(.minutes(60))) struct EntityTableTests {
    @Test("columns are in groups by type, inside a group by entity and name")
    func groups() throws {
        let layout = try TestModels.layout(
            """
            <entity name="Foo">
                <attribute name="blob" attributeType="Binary"/>
                <attribute name="color" attributeType="Transformable"/>
                <attribute name="link" attributeType="URI"/>
                <attribute name="id" attributeType="UUID"/>
                <attribute name="text" attributeType="String"/>
                <attribute name="price" attributeType="Decimal"/>
                <attribute name="when" attributeType="Date" usesScalarValueType="NO"/>
                <attribute name="size" attributeType="Double"/>
                <attribute name="flag" attributeType="Boolean"/>
                <attribute name="Count" attributeType="Integer 64"/>
                <attribute name="gone" attributeType="String" transient="YES"/>
            </entity>
            """)
        #expect(
            layout.tableText("Foo")
                == "CREATE TABLE ZFOO ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCOUNT INTEGER, "
                + "ZFLAG INTEGER, ZSIZE FLOAT, ZWHEN TIMESTAMP, ZPRICE DECIMAL, ZTEXT VARCHAR, ZID BLOB, ZLINK VARCHAR, "
                + "ZCOLOR BLOB, ZBLOB BLOB )")
        #expect(layout.column(of: "price", in: "Foo")?.role == .attribute(entity: "Foo", path: "price"))
        #expect(layout.column(of: "gone", in: "Foo") == nil)
    }

    @Test("roots are numbered without regard to case, each followed by its subentities; a subtree shares a table")
    func numbering() throws {
        let layout = try TestModels.layout(
            """
            <entity name="beta"/><entity name="Alpha"/><entity name="alphaChild" parentEntity="beta"/>
            <entity name="AlphaX" parentEntity="beta"/><entity name="Gamma" isAbstract="YES"/>
            """)
        #expect(layout.entities == ["Alpha", "beta", "alphaChild", "AlphaX", "Gamma"])
        #expect(layout.primaryKeyRows.map(\.parent) == [0, 0, 2, 2, 0])
        #expect(layout.tables.map(\.name) == ["ZALPHA", "ZBETA", "ZGAMMA"])
        #expect(layout.table(of: "AlphaX")?.rootEntity == "beta")
        #expect(layout.numbers(ofTree: "beta") == 2...4)
        #expect(try layout.sql(.index) == ["CREATE INDEX ZBETA_Z_ENT_INDEX ON ZBETA (Z_ENT)"])
    }

    @Test("columns after the first of a name get a number, group by group inside an entity")
    func clashes() throws {
        let layout = try TestModels.layout(
            """
            <entity name="Base"><attribute name="text" attributeType="String"/></entity>
            <entity name="A" parentEntity="Base"><attribute name="value" attributeType="String"/></entity>
            <entity name="B" parentEntity="Base"><attribute name="value" attributeType="Integer 16"/>
                <attribute name="Text" attributeType="Binary"/></entity>
            """)
        #expect(
            layout.tableText("Base")
                == "CREATE TABLE ZBASE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZVALUE1 INTEGER, "
                + "ZTEXT VARCHAR, ZVALUE VARCHAR, ZTEXT1 BLOB )")
        #expect(layout.column(of: "value", in: "B")?.name == "ZVALUE1")
    }

    @Test("a to-one to an entity with subentities has the target's Z_ENT beside it")
    func polymorphicToOne() throws {
        let layout = try TestModels.layout(
            """
            <entity name="Owner"><relationship name="pet" maxCount="1" destinationEntity="Pet"/></entity>
            <entity name="Pet"/><entity name="Cat" parentEntity="Pet"/>
            """)
        #expect(
            layout.tableText("Owner")
                == "CREATE TABLE ZOWNER ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZPET INTEGER, "
                + "Z2_PET INTEGER )")
        #expect(try layout.sql(.index).first == "CREATE INDEX ZOWNER_ZPET_INDEX ON ZOWNER (ZPET)")
    }

    @Test("the inverse of an ordered to-many has an order key, which a template store may reorder")
    func orderKeys() throws {
        let entities = """
            <entity name="Item"><attribute name="n" attributeType="Double"/>
                <relationship name="list" maxCount="1" destinationEntity="List" inverseName="items" inverseEntity="List"/>
                <relationship name="bin" maxCount="1" destinationEntity="List" inverseName="trash" inverseEntity="List"/>
            </entity>
            <entity name="List">
                <relationship name="items" toMany="YES" ordered="YES" destinationEntity="Item" inverseName="list" \
            inverseEntity="Item"/>
                <relationship name="trash" toMany="YES" ordered="YES" destinationEntity="Item" inverseName="bin" \
            inverseEntity="Item"/>
            </entity>
            """
        let house = "Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZBIN INTEGER, ZLIST INTEGER"
        #expect(
            try TestModels.layout(entities).tableText("Item")
                == "CREATE TABLE ZITEM ( \(house), Z_FOK_BIN INTEGER, Z_FOK_LIST INTEGER, ZN FLOAT )")
        let hints = LayoutHints(orderColumns: ["ZITEM": ["Z_FOK_OTHER", "Z_FOK_LIST", "Z_FOK_BIN"]])
        #expect(
            try TestModels.layout(entities, hints: hints).tableText("Item")
                == "CREATE TABLE ZITEM ( \(house), Z_FOK_LIST INTEGER, Z_FOK_BIN INTEGER, ZN FLOAT )")
    }

    @Test("a to-many without inverse is a column of its destination, with its order key directly after it")
    func virtualToOnes() throws {
        let layout = try TestModels.layout(
            """
            <entity name="Album"><relationship name="stickers" toMany="YES" ordered="YES" \
            destinationEntity="Sticker"/></entity>
            <entity name="Shop"><relationship name="stickers" toMany="YES" destinationEntity="Sticker"/></entity>
            <entity name="Sticker"><attribute name="n" attributeType="Integer 16"/>
                <relationship name="zone" maxCount="1" destinationEntity="Shop"/></entity>
            """)
        #expect(
            layout.tableText("Sticker")
                == "CREATE TABLE ZSTICKER ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZN INTEGER, "
                + "ZZONE INTEGER, Z1STICKERS INTEGER, Z_FOK_1STICKERS INTEGER, Z2STICKERS INTEGER )")
        #expect(
            try layout.sql(.index).map { $0.split(separator: " ")[2] } == [
                "ZSTICKER_ZZONE_INDEX", "ZSTICKER_Z1STICKERS_INDEX", "ZSTICKER_Z2STICKERS_INDEX",
            ])
        #expect(layout.column(.virtualOrderKey(owner: "Album", relationship: "stickers"))?.name == "Z_FOK_1STICKERS")
    }

    @Test("a composite's leaves have its position in the model's order, each in its own group")
    func composites() throws {
        let layout = try TestModels.layout(
            """
            <composite name="Person"><attribute name="place" attributeType="String"/>
                <attribute name="id" attributeType="Integer 64"/><attribute name="born" attributeType="String"/></composite>
            <entity name="Work"><attribute name="author" attributeType="Composite" composite="Person"/>
                <attribute name="id" attributeType="Integer 64"/><attribute name="link" attributeType="String"/></entity>
            """)
        #expect(
            layout.tableText("Work")
                == "CREATE TABLE ZWORK ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZID INTEGER, "
                + "ZID1 INTEGER, ZPLACE VARCHAR, ZBORN VARCHAR, ZLINK VARCHAR )")
        #expect(layout.column(of: "author.id", in: "Work")?.name == "ZID")
        #expect(layout.column(of: "id", in: "Work")?.name == "ZID1")
    }

    @Test(
        "a name that SQL would read as something else is refused",
        arguments: ["a b", "x);DROP TABLE ZFOO;--", "é\u{200B}", "", "it's"])
    func unsafeNames(name: String) throws {
        var entity = Entity(name: "Foo")
        entity.attributes = [Attribute(name: name, type: .string)]
        let error = #expect(throws: StoreFormatError.self) {
            try StoreLayout(model: ManagedObjectModel(entities: [entity]), frameworkVersion: 1509)
        }
        #expect(error?.code == .unusableModel)
        #expect(error?.place == "Foo")
        #expect(throws: StoreFormatError.self) {
            try StoreLayout(model: ManagedObjectModel(entities: [Entity(name: name)]), frameworkVersion: 1509)
        }
    }

    @Test("letters beyond ASCII are names")
    func letters() throws {
        #expect(try TestModels.layout("<entity name=\"Käfer\"/>").tables.map(\.name) == ["ZKÄFER"])
    }

    @Test("two roots with one table name, a missing destination and a cycle of parents are refused")
    func brokenModels() {
        var circle = Entity(name: "A")
        circle.parent = "A"
        var dangling = Entity(name: "A")
        dangling.relationships = [Relationship(name: "b", destination: "B")]
        for entities in [
            [Entity(name: "Foo"), Entity(name: "FOO")], [Entity(name: "_Metadata")], [circle], [dangling],
        ] {
            let error = #expect(throws: StoreFormatError.self) {
                try StoreLayout(model: ManagedObjectModel(entities: entities), frameworkVersion: 1509)
            }
            #expect(error?.code == .unusableModel)
        }
    }
}
