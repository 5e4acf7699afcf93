import CausewayMapping
import CausewayModel
import CausewayPlanning
import Testing

/// What a step changes, property by property.
@Suite("Changes of an inferred step", .timeLimit(.minutes(60)))
struct InferredChangesTests {
    private func changes(_ from: String, _ to: String) throws -> [String] {
        let source = try ModelReader.model(source: Array(from.utf8))
        let destination = try ModelReader.model(source: Array(to.utf8))
        let mapping = MappingInference.closest(from: source, to: destination)
        return InferredChanges(step: 0, mapping: mapping, source: source, destination: destination).changes.map {
            let place = $0.property.map { ".\($0)" } ?? ""
            let ends = [$0.from, $0.to].map { $0 ?? "-" }.joined(separator: " → ")
            return "\($0.entity)\(place): \($0.kind.rawValue) \(ends)" + ($0.value.map { " (\($0))" } ?? "")
        }
    }

    @Test("nothing is said where nothing changes")
    func nothing() throws {
        let same = model(entity("Base", attribute("a")), entity("Leaf", parent: "Base", toOne("base", "Base")))
        #expect(try changes(same, same) == [])
    }

    @Test("attributes: added with their default, renamed, converted, mandatory with what NULL becomes, dropped")
    func attributes() throws {
        let from = model(
            entity("Thing", attribute("old"), attribute("number", "Integer 16"), attribute("text"), attribute("gone")))
        let to = model(
            entity(
                "Thing", attribute("new", was: "old"), attribute("number", "Double"),
                attribute("text", optional: false, default: "x"), attribute("more", default: "y")))
        #expect(
            try changes(from, to) == [
                "Thing.more: added - → String (\"y\")", "Thing.new: renamed old → new",
                "Thing.number: converted Integer 16 → Double", "Thing.text: mandatory - → - (\"x\")",
                "Thing.text: defaultValue - → \"x\"", "Thing.gone: dropped String → -",
            ])
    }

    @Test("an attribute that is pulled up or pushed down is named once, where it is declared now")
    func hierarchy() throws {
        func version(_ base: String, _ left: String, _ right: String) -> String {
            model(
                entity("Base", extra: "isAbstract=\"YES\"", base), entity("Left", parent: "Base", left),
                entity("Right", parent: "Base", right))
        }
        #expect(
            try changes(version("", attribute("a"), ""), version(attribute("a"), "", "")) == [
                "Base.a: moved Left → Base"
            ])
        let withDefault = attribute("a", default: "x")
        #expect(
            try changes(version("", attribute("a"), ""), version(withDefault, "", "")) == [
                "Base.a: moved Left → Base (\"x\")", "Base.a: defaultValue - → \"x\"",
            ])
        #expect(
            try changes(version(attribute("a"), "", ""), version("", attribute("a"), "")) == [
                "Left.a: moved Base → Left", "Right.a: dropped String → -",
            ])
    }

    @Test("what is pulled up into an entity with rows, or into a new parent, is moved and not added")
    func pulledUp() throws {
        let from = model(
            entity("Base"), entity("Left", parent: "Base", attribute("a"), toOne("b", "Other")), entity("Other"))
        let to = model(
            entity("Base", attribute("a"), toOne("b", "Other")), entity("Left", parent: "Base"), entity("Other"))
        #expect(try changes(from, to) == ["Base.a: moved Left → Base", "Base.b: moved Left → Base"])
        let apart = model(entity("Cat"), entity("Dog", toOne("owner", "Dog")))
        let together = model(
            entity("Pet", extra: "isAbstract=\"YES\"", toOne("owner", "Dog")), entity("Cat", parent: "Pet"),
            entity("Dog", parent: "Pet"))
        #expect(
            try changes(apart, together).sorted() == [
                "Cat: moved - → Pet", "Dog: moved - → Pet", "Pet.owner: moved Dog → Pet",
                "Pet: added - → abstract entity",
            ])
    }

    @Test("fetch indexes and hash modifiers, each change once")
    func indexesAndModifiers() throws {
        func index(_ name: String, _ elements: String...) -> String {
            "<fetchIndex name=\"\(name)\">"
                + elements.map { "<fetchIndexElement property=\"\($0)\" type=\"Binary\" order=\"ascending\"/>" }
                .joined()
                + "</fetchIndex>"
        }
        func version(_ entityExtra: String, _ a: String, _ rest: String...) -> String {
            model(entity("Thing", extra: entityExtra, a, attribute("b"), rest.joined()))
        }
        let from = version(
            "versionHashModifier=\"1\"", attribute("a"), index("byA", "a"), index("byB", "b", "a"), index("gone", "b"))
        let to = version(
            "versionHashModifier=\"2\"", attribute("c", was: "a", extra: "versionHashModifier=\"x\""),
            index("byA", "c"),
            index("byB", "c", "b"), index("new", "b", "c"))
        let found = try changes(from, to).sorted()
        #expect(
            found == [
                "Thing.c: hashModifier - → x", "Thing.c: renamed a → c", "Thing: hashModifier 1 → 2",
                "Thing: index - → new (b, c)", "Thing: index b → -",
                "Thing: index byB (b, c) → byB (c, b)", "Thing: index gone (b) → -",
            ])
        // The index of an attribute that is indexed by itself comes and goes with it, and has its name.
        func indexed(_ name: String, _ flag: String, was: String? = nil) -> String {
            attribute(name, was: was, extra: flag)
        }
        let on = "indexed=\"YES\""
        #expect(try changes(version("", indexed("a", "")), version("", indexed("a", on))) == ["Thing: index - → a"])
        #expect(
            try changes(version("", indexed("a", on)), version("", indexed("c", on, was: "a"))) == [
                "Thing.c: renamed a → c"
            ])
        #expect(
            try changes(version("", ""), version("", indexed("a", on))) == ["Thing.a: added - → String"])
    }

    @Test("entities: new, gone, renamed, with another parent, abstract, unique")
    func entities() throws {
        let from = model(
            entity("Base"), entity("Leaf", parent: "Base"), entity("Old"), entity("Gone"),
            entity("Plain", attribute("a"))
        )
        let unique =
            "<uniquenessConstraints><uniquenessConstraint><constraint value=\"a\"/></uniquenessConstraint>"
            + "</uniquenessConstraints>"
        let to = model(
            entity("Base"), entity("Middle", parent: "Base", extra: "isAbstract=\"YES\""),
            entity("Leaf", parent: "Middle"), entity("New", was: "Old"), entity("Plain", attribute("a"), unique))
        #expect(
            try changes(from, to).sorted() == [
                "Gone: dropped entity → -", "Leaf: moved Base → Middle", "Middle: added - → abstract entity",
                "New: renamed Old → New", "Plain: constraint - → a",
            ])
    }

    @Test("relationships: added, renamed, of another cardinality, dropped on both sides")
    func relationships() throws {
        let from = model(
            entity(
                "Author", toMany("books", "Book", inverse: "author"), toMany("drafts", "Book", inverse: "editor")),
            entity("Book", toOne("author", "Author", inverse: "books"), toOne("editor", "Author", inverse: "drafts")))
        let to = model(
            entity("Author", toMany("works", "Book", inverse: "author", ordered: true, was: "books")),
            entity("Book", toOne("author", "Author", inverse: "works"), toOne("sequel", "Book")))
        #expect(
            try changes(from, to) == [
                "Author.works: renamed books → works", "Author.works: cardinality to-many → ordered to-many",
                "Author.drafts: dropped to-many to Book → -", "Book.sequel: added - → to-one to Book",
                "Book.editor: dropped to-one to Author → -",
            ])
    }

    @Test("a relationship that leads elsewhere says so; its links end")
    func destination() throws {
        func version(_ target: String) -> String {
            model(entity("A"), entity("B"), entity("Thing", toOne("link", target)))
        }
        #expect(
            try changes(version("A"), version("B")) == ["Thing.link: destination A → B (its links end)"])
    }

    @Test("what can't be inferred is named like the rest: another type, another kind of property, a composite's end")
    func refused() throws {
        let composite =
            "<composite name=\"Place\"><attribute name=\"street\" attributeType=\"String\" optional=\"YES\"/></composite>"
        func version(_ properties: String) -> String {
            model(entity("Thing", properties), entity("Other", attribute("x")), composite)
        }
        let from = version(
            attribute("number", "Integer 16") + attribute("old") + attribute("other") + toOne("text", "Other")
                + attribute("place", "Composite", extra: "composite=\"Place\""))
        let to = version(
            attribute("number") + attribute("new", was: "old") + attribute("text") + toOne("other", "Other")
                + attribute("place"))
        #expect(throws: InferenceError.self) {
            try MappingInference.infer(
                from: ModelReader.model(source: Array(from.utf8)), to: ModelReader.model(source: Array(to.utf8)))
        }
        #expect(
            try changes(from, to) == [
                "Thing.new: renamed old → new", "Thing.number: converted Integer 16 → String",
                "Thing.place: added - → String", "Thing.text: added - → String",
                "Thing.other: added - → to-one to Other",
                "Thing.other: dropped String → -", "Thing.place.street: dropped String → -",
                "Thing.text: dropped to-one to Other → -",
            ])
    }
}
