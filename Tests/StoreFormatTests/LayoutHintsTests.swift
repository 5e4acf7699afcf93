import CausewayModel
import CausewayStoreFormat
import Testing

@Suite(.timeLimit(.minutes(60))) struct LayoutHintsTests {
    private func pair(_ entity: String, _ first: String, _ second: String) -> String {
        """
        <entity name="\(entity)">
            <relationship name="\(first)" toMany="YES" destinationEntity="\(entity)" inverseName="\(second)" \
        inverseEntity="\(entity)"/>
            <relationship name="\(second)" toMany="YES" destinationEntity="\(entity)" inverseName="\(first)" \
        inverseEntity="\(entity)"/>
        </entity>
        """
    }

    @Test("a store's join tables and order keys are read as hints")
    func reading() throws {
        let layout = try TestModels.layout(TestModels.library)
        let connection = try TestModels.store(layout)
        let hints = LayoutHints(try StoreSchema(reading: connection))
        #expect(hints.joinTables == ["Z_1READ": ["Z_1READERS", "Z_2READ"]])
        #expect(hints.orderColumns.isEmpty)
    }

    @Test("a migration keeps the source's naming side, renumbered and renamed", arguments: [false, true])
    func carriedOrientation(isTurned: Bool) throws {
        let sourceName = isTurned ? "Z_1LIKEDBY" : "Z_1LIKES"
        let columns = isTurned ? ["Z_1LIKES", "Z_1LIKEDBY"] : ["Z_1LIKEDBY", "Z_1LIKES"]
        let source = try TestModels.layout(
            pair("User", "likes", "likedBy"), hints: LayoutHints(joinTables: [sourceName: columns]))
        // “Aaa” moves User to number 2; likedBy becomes fans.
        let destination = try TestModels.model("<entity name=\"Aaa\"/>" + pair("User", "likes", "fans"))
        let hints = try LayoutHints(carrying: source, to: destination, frameworkVersion: 1509) { name in
            .init(name.entity, name.relationship == "fans" ? "likedBy" : name.relationship)
        }
        let layout = try StoreLayout(model: destination, frameworkVersion: 1509, hints: hints)
        #expect(layout.joinTables.map(\.name) == [isTurned ? "Z_2FANS" : "Z_2LIKES"])
        #expect(layout.joinTables.map(\.ownerColumn) == [isTurned ? "Z_2LIKES" : "Z_2FANS"])
        let names = ["Z_2LIKES", "Z_2FANS"]
        #expect(layout.undecidable.map(\.tables) == [isTurned ? names.reversed() : names], "likedBy is gone")
    }

    /// The layout of a store of `source`, carried to `destination`; properties keep their names.
    private func carried(_ source: StoreLayout, to destination: String) throws -> StoreLayout {
        let model = try TestModels.model(destination)
        let hints = try LayoutHints(carrying: source, to: model, frameworkVersion: 1509) { name in
            source.model.relationship(name.relationship, of: name.entity) == nil ? nil : name
        }
        return try StoreLayout(model: model, frameworkVersion: 1509, hints: hints)
    }

    @Test("a kept name is reported as doubtful where the set of properties changed, however many steps ago")
    func doubtfulName() throws {
        func user(_ extra: String) -> String {
            pair("User", "likes", "likedBy").replacing("</entity>", with: extra + "</entity>")
        }
        let seen = try TestModels.layout(
            user(""), hints: LayoutHints(joinTables: ["Z_1LIKES": ["Z_1LIKEDBY", "Z_1LIKES"]]))
        let name = "<attribute name=\"name\" attributeType=\"String\" optional=\"YES\"/>"
        let transient = name.replacing("optional", with: "transient=\"YES\" optional")
        let mandatory = name.replacing("optional=\"YES\"", with: "optional=\"NO\"")
        #expect(try carried(seen, to: user("")).undecidable.isEmpty)
        #expect(try carried(seen, to: user("") + "<entity name=\"Zoo\"/>").undecidable.isEmpty)
        for grown in [name, transient] {
            let layout = try carried(seen, to: user(grown))
            #expect(layout.joinTables.map(\.name) == ["Z_1LIKES"])
            #expect(layout.undecidable.map(\.tables) == [["Z_1LIKES", "Z_1LIKEDBY"]])
            #expect(layout.undecidable.first?.message.contains("the properties of User have changed") == true)
            #expect(try carried(layout, to: user(grown)).undecidable.count == 1, "no store has shown it since")
            #expect(try carried(layout, to: user("")).undecidable.isEmpty, "the name was chosen for these properties")
        }
        let named = try TestModels.layout(
            user(name), hints: LayoutHints(joinTables: ["Z_1LIKES": ["Z_1LIKEDBY", "Z_1LIKES"]]))
        #expect(try carried(named, to: user(mandatory)).undecidable.isEmpty)
    }

    @Test(
        "a step's guess isn't kept by the next: a pair that an earlier step adds is guessed for the last version")
    func guessIsNotCarried() throws {
        let first = try carried(try TestModels.layout("<entity name=\"User\"/>"), to: pair("User", "likes", "likedBy"))
        #expect(first.joinTables.map(\.chosenAmid) == [[]])
        #expect(first.undecidable.first?.message.contains("a guess") == true)
        let last = pair("User", "likes", "likedBy").replacing(
            "</entity>", with: "<attribute name=\"name\" attributeType=\"String\"/></entity>")
        let stepwise = try carried(first, to: last)
        #expect(stepwise.joinTables == (try TestModels.layout(last)).joinTables)
        #expect(stepwise.undecidable.first?.message.contains("a guess") == true)
    }

    @Test("a name of an existing store is used, with the columns in its order", arguments: ["Z_1LIKES", "Z_1LIKEDBY"])
    func seenName(name: String) throws {
        let model = try TestModels.model(pair("User", "likes", "likedBy"))
        for hints in [LayoutHints(), LayoutHints(joinTables: ["Z_1LIKES": ["Z_1LIKEDBY", "Z_1LIKES"]])] {
            let layout = try StoreLayout(model: model, frameworkVersion: 1509, hints: hints, joinTables: [name])
            #expect(layout.undecidable.isEmpty)
            #expect(layout.joinTables.map(\.name) == [name])
            #expect(layout.joinTables.map(\.destinationColumn) == [name])
            #expect(layout.joinTables.map(\.ownerColumn) == [name == "Z_1LIKES" ? "Z_1LIKEDBY" : "Z_1LIKES"])
        }
        let blind = try StoreLayout(model: model, frameworkVersion: 1509)
        #expect(Set(blind.possibleJoinTableNames.flatMap(\.names)) == ["Z_1LIKES", "Z_1LIKEDBY"])
    }

    @Test("the numbers of equal names are carried; gaps are closed and a new relationship comes last")
    func carriedNumbers() throws {
        func entities(_ groups: [String]) -> String {
            let own = groups.map {
                """
                <relationship name="\($0)" toMany="YES" destinationEntity="\($0.capitalizedFirst)" inverseName="in" \
                inverseEntity="\($0.capitalizedFirst)"/>
                """
            }
            let others = groups.map {
                """
                <entity name="\($0.capitalizedFirst)"><relationship name="in" toMany="YES" destinationEntity="Group" \
                inverseName="\($0)" inverseEntity="Group"/></entity>
                """
            }
            return "<entity name=\"Group\">\(own.joined())</entity>" + others.joined()
        }
        let hints = LayoutHints(joinTables: [
            "Z_1ONE": ["Z_1IN2", "Z_2ONE"], "Z_1TWO": ["Z_1IN1", "Z_4TWO"], "Z_1THREE": ["Z_1IN", "Z_3THREE"],
        ])
        let source = try TestModels.layout(entities(["one", "two", "three"]), hints: hints)
        #expect(source.undecidable.isEmpty)
        let destination = try TestModels.model(entities(["one", "two", "zero"]))
        let carried = try LayoutHints(carrying: source, to: destination, frameworkVersion: 1509) { name in
            ["zero", "Zero"].contains(name.relationship) || name.entity == "Zero"
                ? nil : .init(name.entity, name.relationship)
        }
        let layout = try StoreLayout(model: destination, frameworkVersion: 1509, hints: carried)
        let columns = Dictionary(uniqueKeysWithValues: layout.joinTables.map { ($0.relationship, $0.ownerColumn) })
        #expect(columns == ["two": "Z_1IN", "one": "Z_1IN1", "zero": "Z_1IN2"])
        #expect(layout.undecidable.map(\.tables) == [[]], "zero for three")
        #expect(layout.undecidable.first?.message.contains("Z_1IN1 of Z_1ONE") == true)
    }

    @Test("order keys keep the source's order")
    func carriedOrderKeys() throws {
        func entities(_ lists: [String]) -> String {
            let toOnes = lists.map {
                """
                <relationship name="\($0)" maxCount="1" destinationEntity="List" inverseName="\($0)s" \
                inverseEntity="List"/>
                """
            }
            let toManys = lists.map {
                """
                <relationship name="\($0)s" toMany="YES" ordered="YES" destinationEntity="Item" inverseName="\($0)" \
                inverseEntity="Item"/>
                """
            }
            return "<entity name=\"Item\">\(toOnes.joined())</entity><entity name=\"List\">\(toManys.joined())</entity>"
        }
        let hints = LayoutHints(orderColumns: ["ZITEM": ["Z_FOK_C", "Z_FOK_A", "Z_FOK_B"]])
        let source = try TestModels.layout(entities(["a", "b", "c"]), hints: hints)
        let carried = try LayoutHints(
            carrying: source, to: try TestModels.model(entities(["a", "aa", "c"])), frameworkVersion: 1509,
            sourceOf: { $0.relationship.hasPrefix("aa") ? nil : $0 })
        #expect(carried.orderColumns == ["ZITEM": ["Z_FOK_C", "Z_FOK_A", "Z_FOK_AA"]])
    }
}

extension String {
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
