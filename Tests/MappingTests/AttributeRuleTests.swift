import CausewayExpressions
import CausewayMapping
import CausewayModel
import Testing

/// The rows of InsideCoreDataMigration §4 about attributes.
@Suite("Inferred attributes", .timeLimit(.minutes(60)))
struct AttributeRuleTests {
    @Test("an added attribute takes its default in every row, even where it is optional")
    func added() throws {
        let mapping = try inferred(
            thing(),
            thing(
                attribute("plain"), attribute("given", "Integer 16", default: "3"),
                attribute("must", "Boolean", optional: false, default: "YES"),
                attribute("passing", extra: "transient=\"YES\"")))
        #expect(mapping.value("plain") == .constant(nil))
        #expect(mapping.value("given") == .constant(.integer(3)))
        #expect(mapping.value("must") == .constant(.boolean(true)))
        #expect(mapping.value("passing") == nil)
        #expect(mapping.mapping(to: "Thing")?.obligations == [])
        #expect(mapping.mapping(to: "Thing")?.name == "IEM_Transform_Thing")
    }

    @Test("an added mandatory attribute without default needs an empty entity")
    func addedMandatory() throws {
        let mapping = try inferred(thing(), thing(attribute("must", optional: false)), step: 4)
        #expect(
            mapping.mapping(to: "Thing")?.obligations == [
                Obligation(step: 4, entity: "Thing", property: "must", .newAttribute, demand: .noRows)
            ])
    }

    @Test("a removed attribute isn't read")
    func removed() throws {
        let mapping = try inferred(thing(attribute("a"), attribute("b")), thing(attribute("a")))
        #expect(mapping.mapping(to: "Thing")?.attributes.map(\.destination) == ["a"])
    }

    @Test("a rename without identifier is a removal and an addition")
    func renamedWithoutIdentifier() throws {
        #expect(try inferred(thing(attribute("a")), thing(attribute("b"))).value("b") == .constant(nil))
    }

    @Test("an identifier is a canonical name over all versions")
    func canonicalNames() throws {
        let v1 = thing(attribute("color"))
        let v2 = thing(attribute("hexColor", was: "color"))
        let v3 = thing(attribute("tint", was: "color"))
        let carried: (String) -> AttributeMapping.Value = { .carried(from: $0, nilReplacement: nil) }
        #expect(try inferred(v1, v2).value("hexColor") == carried("color"))
        #expect(try inferred(v2, v3).value("tint") == carried("hexColor"))
        #expect(try inferred(v1, v3).value("tint") == carried("color"))
        // Named after the version before, and kept after the rename.
        #expect(try inferred(v2, thing(attribute("tint", was: "hexColor"))).value("tint") == carried("hexColor"))
        #expect(try inferred(v2, v2).value("hexColor") == carried("hexColor"))
        #expect(try inferred(v2, thing(attribute("hexColor"))).value("hexColor") == carried("hexColor"))
    }

    @Test("two names are exchanged by their identifiers")
    func exchanged() throws {
        let mapping = try inferred(
            thing(attribute("a"), attribute("b")), thing(attribute("a", was: "b"), attribute("b", was: "a")))
        #expect(mapping.value("a") == .carried(from: "b", nilReplacement: nil))
        #expect(mapping.value("b") == .carried(from: "a", nilReplacement: nil))
    }

    @Test("two claimants of one attribute are refused")
    func claimants() throws {
        let found = try refusals(
            thing(attribute("a")), thing(attribute("b", was: "a"), attribute("c", was: "a")))
        #expect(found.count == 2)
        #expect(found.allSatisfy { $0.reason == .ambiguousRenaming(source: "a", claimants: ["b", "c"]) })
    }

    @Test("mandatory to optional is carried")
    func loosened() throws {
        let mapping = try inferred(thing(attribute("a", optional: false)), thing(attribute("a", default: "x")))
        #expect(mapping.value("a") == .carried(from: "a", nilReplacement: nil))
    }

    @Test("optional to mandatory takes the default for NULL; without one there may be no NULL")
    func tightened() throws {
        let given = try inferred(
            thing(attribute("a")), thing(attribute("b", optional: false, default: "x", was: "a")))
        #expect(given.value("b") == .carried(from: "a", nilReplacement: .string("x")))
        #expect(given.mapping(to: "Thing")?.obligations == [])
        let bare = try inferred(thing(attribute("a")), thing(attribute("b", optional: false, was: "a")), step: 2)
        #expect(bare.value("b") == .carried(from: "a", nilReplacement: nil))
        #expect(
            bare.mapping(to: "Thing")?.obligations == [
                Obligation(
                    step: 2, entity: "Thing", property: "b", .tightenedAttribute, demand: .noNulls(attribute: "a"))
            ])
    }

    @Test("transient to persistent is like an addition, persistent to transient like a removal")
    func transient() throws {
        let passing = thing(attribute("a", default: "x", extra: "transient=\"YES\""))
        let kept = thing(attribute("a", default: "x"))
        #expect(try inferred(passing, kept).value("a") == .constant(.string("x")))
        #expect(try inferred(kept, passing).value("a") == nil)
    }

    static let types = [
        "Integer 16", "Integer 32", "Integer 64", "Decimal", "Double", "Float", "String", "Boolean", "Date", "Binary",
        "UUID", "URI", "Transformable",
    ]

    static let numericTypes = ["Boolean", "Integer 16", "Integer 32", "Integer 64", "Float", "Double"]

    @Test("every change of type except between numbers is refused, even harmless ones", arguments: types, types)
    func typeChanged(from: String, to: String) throws {
        let found = try refusals(thing(attribute("a", from)), thing(attribute("a", to)))
        guard from != to, !(Self.numericTypes.contains(from) && Self.numericTypes.contains(to)) else {
            #expect(found.isEmpty)
            return
        }
        #expect(found.map(\.entity) == ["Thing"] && found.map(\.property) == ["a"])
        guard case .attributeTypeChanged(from, to, let expression)? = found.first?.reason else {
            Issue.record("\(found)")
            return
        }
        #expect(
            found.first?.description.contains(
                "(\(from) → \(to)); convert the values in a mapping model \(expression.map { "with \($0)" } ?? "whose policy")"
            ) == true)
    }

    @Test(
        "attributes are carried after a change that doesn't affect rows",
        arguments: [
            (
                attribute("a", "Transformable", extra: "valueTransformerName=\"A\""),
                attribute("a", "Transformable", extra: "valueTransformerName=\"B\" customClassName=\"C\"")
            ),
            (
                attribute("a", "Integer 16", default: "1"),
                attribute("a", "Integer 16", default: "2", extra: "minValueString=\"0\" maxValueString=\"9\"")
            ),
            (
                attribute("a"),
                attribute(
                    "a",
                    extra: "regularExpressionString=\"x\" versionHashModifier=\"2\" spotlightIndexingEnabled=\"YES\"")
            ),
            (attribute("a", "Binary"), attribute("a", "Binary", extra: "allowsExternalBinaryDataStorage=\"YES\"")),
        ])
    func withoutTrace(from: String, to: String) throws {
        #expect(
            try inferred(thing(from), thing(to)).value("a") == .carried(from: "a", nilReplacement: nil))
    }

    @Test("an equal entity is copied, one that differs is transformed")
    func kinds() throws {
        #expect(try inferred(thing(attribute("a")), thing(attribute("a"))).mapping(to: "Thing")?.kind == .copy)
        let changed = try inferred(thing(attribute("a")), thing(attribute("a", optional: false, default: "")))
        #expect(changed.mapping(to: "Thing")?.kind == .transform)
    }

    @Test("attributes move up to a parent and down to subentities, whichever entity declares them")
    func upAndDown() throws {
        let a = attribute("a")
        let low = model(entity("Base"), entity("Left", parent: "Base", a), entity("Right", parent: "Base", a))
        let high = model(entity("Base", a), entity("Left", parent: "Base"), entity("Right", parent: "Base"))
        let carried = AttributeMapping.Value.carried(from: "a", nilReplacement: nil)
        let up = try inferred(low, high)
        #expect(up.value("a", of: "Left") == carried)
        #expect(up.value("a", of: "Right") == carried)
        #expect(up.value("a", of: "Base") == .constant(nil))
        let down = try inferred(high, low)
        #expect(down.value("a", of: "Left") == carried)
        #expect(down.value("a", of: "Base") == nil)
    }

    @Test("a new derivation is computed, an unchanged one carried")
    func derived() throws {
        func version(_ derivation: String?) -> String {
            let extra = derivation.map { "derived=\"YES\" derivationExpression=\"\($0)\"" } ?? ""
            return thing(attribute("name"), attribute("a", extra: extra))
        }
        let carried = AttributeMapping.Value.carried(from: "a", nilReplacement: nil)
        #expect(try inferred(version(nil), version("name")).value("a") == .derived)
        #expect(try inferred(version("name"), version("name")).value("a") == carried)
        #expect(try inferred(version("name"), version(nil)).value("a") == carried)
        #expect(try inferred(version("name"), version("canonical:(name)")).value("a") == .derived)
        #expect(try inferred(thing(attribute("name")), version("name")).value("a") == .derived)
    }

    @Test("a derivation that only follows its properties' new names is the old one, also through a relationship")
    func derivationRenamed() throws {
        func version(_ names: (name: String, boss: String), _ derivations: (String, String), renames: Bool) -> String {
            let derived = { (text: String) in "derived=\"YES\" derivationExpression=\"\(text)\"" }
            return thing(
                attribute(names.name, was: renames ? "name" : nil) + attribute("other")
                    + toOne(names.boss, "Thing", was: renames ? "boss" : nil)
                    + attribute("a", extra: derived(derivations.0)) + attribute("b", extra: derived(derivations.1)))
        }
        let from = version(("name", "boss"), ("canonical:(name)", "boss.name"), renames: false)
        let to = try inferred(
            from, version(("label", "chief"), ("canonical:(label)", "chief.label"), renames: true))
        #expect(to.value("a") == .carried(from: "a", nilReplacement: nil))
        #expect(to.value("b") == .carried(from: "b", nilReplacement: nil))
        let others = try inferred(
            from, version(("label", "chief"), ("canonical:(other)", "chief.other"), renames: true))
        #expect(others.value("a") == .derived)
        #expect(others.value("b") == .derived)
    }

    @Test("a composite's leaves are matched inside it")
    func composites() throws {
        func version(_ leaves: String...) -> String {
            model(
                entity("Thing", #"<attribute name="place" optional="YES" attributeType="Composite" composite="P"/>"#),
                "<composite name=\"P\">\(leaves.joined())</composite>")
        }
        let from = version(attribute("lat", "Double"), attribute("lon", "Double"))
        let mapping = try inferred(
            from, version(attribute("lat", "Double"), attribute("east", "Double", was: "lon"), attribute("name")))
        #expect(mapping.value("place.lat") == .carried(from: "place.lat", nilReplacement: nil))
        #expect(mapping.value("place.east") == .carried(from: "place.lon", nilReplacement: nil))
        #expect(mapping.value("place.name") == .constant(nil))
        let found = try refusals(from, version(attribute("lat", "String"), attribute("lon", "Double")))
        #expect(
            found == [
                .init(
                    .attributeTypeChanged(
                        from: "Double", to: "String", expression: #"CAST($source.place.lat, "NSString")"#),
                    entity: "Thing", property: "place.lat")
            ])
    }

    @Test("tables that only gain columns are filled; tables with other changes aren't")
    func fillsTable() throws {
        let base = entity("Base", attribute("a"))
        let more = attribute("more", default: "x")
        let from = model(base, entity("Left", parent: "Base"), entity("Right", parent: "Base"))
        let growing = try inferred(
            from, model(base, entity("Left", parent: "Base", more), entity("Right", parent: "Base")))
        #expect(growing.mapping(to: "Left")?.attribute("more")?.fillsTable == true)
        let rebuilt = try inferred(
            from, model(entity("Base"), entity("Left", parent: "Base", more), entity("Right", parent: "Base")))
        #expect(rebuilt.mapping(to: "Left")?.attribute("more")?.fillsTable == false)
        let shrunk = try inferred(from, model(base, entity("Left", parent: "Base", more)))
        #expect(shrunk.mapping(to: "Left")?.attribute("more")?.fillsTable == false)
    }
}
