import CausewayMapping
import Testing

/// The rows of InsideCoreDataMigration §4 about entities.
@Suite("Inferred entities", .timeLimit(.minutes(60)))
struct EntityRuleTests {
    @Test("entities are added, removed, copied and renamed, under Core Data's names")
    func kinds() throws {
        let mapping = try inferred(
            model(entity("Gone"), entity("Kept"), entity("Old", attribute("a"))),
            model(entity("Fresh"), entity("Kept"), entity("Young", was: "Old", attribute("a"))))
        #expect(
            mapping.entityMappings.map(\.name) == [
                "IEM_Add_Fresh", "IEM_Copy_Kept", "IEM_Transform_Old", "IEM_Remove_Gone",
            ])
        #expect(mapping.mapping(to: "Young")?.source == "Old")
        #expect(mapping.mapping(from: "Gone")?.kind == .remove)
        #expect(mapping.mapping(to: "Fresh")?.source == nil)
    }

    @Test("a rename without identifier loses the rows: it is a removal and an addition")
    func renamedWithoutIdentifier() throws {
        let mapping = try inferred(model(entity("Old")), model(entity("Young")))
        #expect(mapping.entityMappings.map(\.kind) == [.add, .remove])
    }

    @Test("an entity's identifier is a canonical name over all versions")
    func canonicalNames() throws {
        let (v1, v2) = (model(entity("A")), model(entity("B", was: "A")))
        let v3 = model(entity("C", was: "A"))
        #expect(try inferred(v1, v2).mapping(to: "B")?.source == "A")
        #expect(try inferred(v2, v3).mapping(to: "C")?.source == "B")
        #expect(try inferred(v1, v3).mapping(to: "C")?.source == "A")
    }

    @Test("two claimants of one entity are refused")
    func claimants() throws {
        let found = try refusals(model(entity("A")), model(entity("B", was: "A"), entity("C", was: "A")))
        #expect(found.map(\.entity) == ["B", "C"])
        #expect(found.allSatisfy { $0.reason == .ambiguousRenaming(source: "A", claimants: ["B", "C"]) })
    }

    @Test("a new parent, a new child, and an entity that leaves the hierarchy are inferred")
    func hierarchy() throws {
        let flat = model(entity("Left", attribute("a")))
        let raised = model(entity("Base", attribute("a")), entity("Left", parent: "Base"))
        #expect(try inferred(flat, raised).mapping(to: "Left")?.source == "Left")
        #expect(try inferred(flat, raised).value("a", of: "Left") == .carried(from: "a", nilReplacement: nil))
        #expect(try inferred(raised, flat).mapping(to: "Left")?.source == "Left")
        let pair = model(entity("Base"), entity("Left", parent: "Base"), entity("Right", parent: "Base"))
        let split = model(entity("Base"), entity("Left", parent: "Base"), entity("Right"))
        #expect(try inferred(pair, split).mapping(to: "Right")?.source == "Right")
    }

    @Test("hierarchies that have no common root in the source can't be merged: their keys would collide")
    func merged() throws {
        let found = try refusals(
            model(entity("Left"), entity("Right")),
            model(entity("Base"), entity("Left", parent: "Base"), entity("Right", parent: "Base")))
        #expect(found == [.init(.hierarchiesMerged(roots: ["Left", "Right"]), entity: "Base")])
        #expect(
            try refusals(
                model(entity("Base"), entity("Right")), model(entity("Base"), entity("Right", parent: "Base"))
            ).count == 1)
    }

    @Test("an entity that takes its parent's place takes the parent's rows too")
    func absorbed() throws {
        let mapping = try inferred(
            model(entity("GenericAsset", attribute("a")), entity("Asset", parent: "GenericAsset", attribute("b"))),
            model(entity("Asset", was: "GenericAsset", attribute("a"), attribute("b"))))
        #expect(mapping.entityMappings.filter { $0.destination == "Asset" }.map(\.source) == ["GenericAsset", "Asset"])
        #expect(mapping.entityMappings.allSatisfy { $0.kind != .remove })
    }

    @Test("all reasons against a mapping are given at once, each a sentence with its place")
    func allAtOnce() throws {
        let error = #expect(throws: InferenceError.self) {
            try inferred(
                model(
                    entity("A", attribute("x"), attribute("y", "Date"), toOne("z", "B")), entity("B"), entity("C")),
                model(
                    entity("A", attribute("x", "Date"), attribute("y"), attribute("z")), entity("B", was: "C"),
                    entity("C")))
        }
        let text = error?.description ?? ""
        #expect(error?.refusals.count == 5)
        for place in ["A.x: ", "A.y: ", "A.z: ", "B: ", "C: "] { #expect(text.contains(place), "\(place)") }
        #expect(text.split(separator: "\n").count == 5)
    }
}
