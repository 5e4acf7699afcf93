import CausewayModel
import CausewayStoreFormat
import Testing

@Suite(.timeLimit(.minutes(60))) struct JoinTableTests {
    /// A pair inside one entity.
    private static let friends = """
        <entity name="User">
            <relationship name="likes" toMany="YES" destinationEntity="User" inverseName="likedBy" inverseEntity="User"/>
            <relationship name="likedBy" toMany="YES" destinationEntity="User" inverseName="likes" inverseEntity="User"/>
        </entity>
        """
    /// Three pairs with one entity; the columns of two of them would have the same name there.
    private static let clash = """
        <entity name="Group">
            <relationship name="members" toMany="YES" destinationEntity="User" inverseName="groups" \
        inverseEntity="User"/>
            <relationship name="admins" toMany="YES" destinationEntity="User" inverseName="managed" \
        inverseEntity="User"/>
        </entity>
        <entity name="Team">
            <relationship name="members" toMany="YES" destinationEntity="User" inverseName="teams" \
        inverseEntity="User"/>
        </entity>
        <entity name="User">
            <relationship name="groups" toMany="YES" destinationEntity="Group" inverseName="members" \
        inverseEntity="Group"/>
            <relationship name="managed" toMany="YES" destinationEntity="Group" inverseName="admins" \
        inverseEntity="Group"/>
            <relationship name="teams" toMany="YES" destinationEntity="Team" inverseName="members" \
        inverseEntity="Team"/>
        </entity>
        """

    @Test("the entity that comes first by name, inherited relationships included, names the table")
    func namingSide() throws {
        let layout = try TestModels.layout(
            """
            <entity name="Zoo"><relationship name="animals" toMany="YES" destinationEntity="Animal" \
            inverseName="zoos" inverseEntity="Animal"/></entity>
            <entity name="Animal"><relationship name="zoos" toMany="YES" destinationEntity="Zoo" \
            inverseName="animals" inverseEntity="Zoo"/></entity>
            <entity name="Thing"><relationship name="places" toMany="YES" destinationEntity="Place" \
            inverseName="things" inverseEntity="Place"/></entity>
            <entity name="Place"><relationship name="things" toMany="YES" destinationEntity="Thing" \
            inverseName="places" inverseEntity="Thing"/></entity>
            <entity name="Apple" parentEntity="Thing"/>
            """)
        // Apple (inheriting from Thing) comes before Place.
        #expect(
            try layout.sql(.joinTable) == [
                "CREATE TABLE Z_1ZOOS ( Z_1ANIMALS INTEGER, Z_5ZOOS INTEGER, PRIMARY KEY (Z_1ANIMALS, Z_5ZOOS) )",
                "CREATE TABLE Z_3PLACES ( Z_3THINGS INTEGER, Z_2PLACES INTEGER, PRIMARY KEY (Z_3THINGS, Z_2PLACES) )",
            ])
        #expect(
            try layout.sql(.index).filter { $0.contains("Z_1ZOOS") }
                == ["CREATE INDEX Z_1ZOOS_Z_5ZOOS_INDEX ON Z_1ZOOS (Z_5ZOOS, Z_1ANIMALS)"])
        #expect(layout.undecidable.isEmpty)
        #expect(layout.joinTable(of: "animals", declaredBy: "Zoo")?.isNaming == false)
    }

    @Test("ordered sides have order columns named after the key that they order")
    func ordered() throws {
        let layout = try TestModels.layout(
            """
            <entity name="A"><relationship name="bs" toMany="YES" ordered="YES" destinationEntity="B" \
            inverseName="as" inverseEntity="B"/></entity>
            <entity name="B"><relationship name="as" toMany="YES" ordered="YES" destinationEntity="A" \
            inverseName="bs" inverseEntity="A"/></entity>
            """)
        #expect(
            try layout.sql(.joinTable) == [
                "CREATE TABLE Z_1BS ( Z_1AS INTEGER, Z_2BS INTEGER, Z_FOK_1AS INTEGER, Z_FOK_2BS INTEGER, "
                    + "PRIMARY KEY (Z_1AS, Z_2BS) )"
            ])
        #expect(layout.joinTables[0].ownerOrderColumn == "Z_FOK_1AS")
        #expect(layout.joinTables[0].destinationOrderColumn == "Z_FOK_2BS")
    }

    @Test("a relationship that is its own inverse has REFLEXIVE as second column")
    func reflexive() throws {
        let layout = try TestModels.layout(
            """
            <entity name="Person"><relationship name="friends" toMany="YES" destinationEntity="Person" \
            inverseName="friends" inverseEntity="Person"/></entity>
            """)
        #expect(layout.joinTables[0].isReflexive)
        #expect(
            try layout.sql(.joinTable) == [
                "CREATE TABLE Z_1FRIENDS ( Z_1FRIENDS INTEGER, REFLEXIVE INTEGER, PRIMARY KEY (Z_1FRIENDS, REFLEXIVE) )"
            ])
        #expect(
            try layout.sql(.index)
                == ["CREATE INDEX Z_1FRIENDS_REFLEXIVE_INDEX ON Z_1FRIENDS (REFLEXIVE, Z_1FRIENDS)"])
    }

    @Test("which side of a pair inside one entity names the table is a guess, and reported as one")
    func guessedOrientation() throws {
        let layout = try TestModels.layout(Self.friends)
        #expect(layout.undecidable.count == 1)
        #expect(layout.undecidable.first?.tables == ["Z_1LIKES", "Z_1LIKEDBY"])
    }

    @Test("a template store settles the naming side", arguments: ["LIKES", "LIKEDBY"])
    func hintedOrientation(side: String) throws {
        let other = side == "LIKES" ? "LIKEDBY" : "LIKES"
        let hints = LayoutHints(joinTables: ["Z_1\(side)": ["Z_1\(other)", "Z_1\(side)"]])
        let layout = try TestModels.layout(Self.friends, hints: hints)
        #expect(layout.undecidable.isEmpty)
        #expect(layout.joinTables.map(\.name) == ["Z_1\(side)"])
        #expect(layout.joinTables[0].ownerColumn == "Z_1\(other)")
        #expect(layout.joinTables[0].relationship == (side == "LIKES" ? "likes" : "likedBy"))
    }

    @Test("columns with one name for one entity are numbered, between entities by the entity's name")
    func clashNumbers() throws {
        let layout = try TestModels.layout(Self.clash)
        let columns = Dictionary(uniqueKeysWithValues: layout.joinTables.map { ($0.name, $0.destinationColumn) })
        #expect(columns == ["Z_1MEMBERS": "Z_3MEMBERS", "Z_1ADMINS": "Z_3ADMINS", "Z_2MEMBERS": "Z_3MEMBERS1"])
        #expect(layout.undecidable.isEmpty)
    }

    @Test("equal names inside one entity are a guess unless a template store settles them")
    func guessedClash() throws {
        let entities = """
            <entity name="Group">
                <relationship name="one" toMany="YES" destinationEntity="User" inverseName="in" inverseEntity="User"/>
                <relationship name="two" toMany="YES" destinationEntity="Fan" inverseName="in" inverseEntity="Fan"/>
            </entity>
            <entity name="User"><relationship name="in" toMany="YES" destinationEntity="Group" inverseName="one" \
            inverseEntity="Group"/></entity>
            <entity name="Fan"><relationship name="in" toMany="YES" destinationEntity="Group" inverseName="two" \
            inverseEntity="Group"/></entity>
            """
        // Fan comes before Group and User, so each side is reached from another entity.
        #expect(try TestModels.layout(entities).undecidable.isEmpty)
        let inOne = entities.replacing("\"Fan\"", with: "\"Zed\"")
        let guessed = try TestModels.layout(inOne)
        #expect(guessed.undecidable.count == 1)
        let names = Dictionary(uniqueKeysWithValues: guessed.joinTables.map { ($0.relationship, $0.ownerColumn) })
        #expect(Set(names.values) == ["Z_1IN", "Z_1IN1"])
        let hints = LayoutHints(joinTables: [
            "Z_1ONE": [names["two"] ?? "", "Z_2ONE"], "Z_1TWO": [names["one"] ?? "", "Z_3TWO"],
        ])
        let settled = try TestModels.layout(inOne, hints: hints)
        #expect(settled.undecidable.isEmpty)
        #expect(settled.joinTables.first { $0.relationship == "one" }?.ownerColumn == names["two"])
    }

    @Test("a hint with columns of another kind is ignored")
    func foreignHint() throws {
        let hints = LayoutHints(joinTables: ["Z_1READ": ["Z_9FOO", "Z_1READ); DROP TABLE ZBOOK; --"]])
        let layout = try TestModels.layout(TestModels.library, hints: hints)
        #expect(layout.joinTables.map(\.ownerColumn) == ["Z_1READERS"])
        #expect(layout.joinTables.map(\.destinationColumn) == ["Z_2READ"])
    }
}
