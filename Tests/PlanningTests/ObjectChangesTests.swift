import CausewayExpressions
import CausewayMapping
import CausewayModel
import CausewayPlanning
import Testing

/// What a step with mapping models changes and loses, as far as the mapping models say.
@Suite("Changes of a step with mapping models", .timeLimit(.minutes(60)))
struct ObjectChangesTests {
    private struct Step {
        var source: ManagedObjectModel
        var destination: ManagedObjectModel
        var resolved: [ResolvedMapping]
        var changes: [String]

        /// Without the step.
        func losses(isDone: Bool = false) -> [String] {
            MappedLosses("V", resolved, source: source, destination: destination).losses.map {
                String($0.sentence(isDone: isDone).dropFirst("V: ".count))
            }
        }
    }

    private func step(_ from: String, _ to: String, _ mappings: EntityMappingDescription...) throws -> Step {
        let source = try ModelReader.model(source: Array(from.utf8))
        let destination = try ModelReader.model(source: Array(to.utf8))
        let resolved = [
            try MappingModelDescription(name: "M", entityMappings: mappings).resolved(from: source, to: destination)
        ]
        let changes = ObjectChanges(step: 0, resolved, source: source, destination: destination).changes.map {
            let place = $0.property.map { ".\($0)" } ?? ""
            let ends = [$0.from, $0.to].map { $0 ?? "-" }.joined(separator: " → ")
            return "\($0.entity)\(place): \($0.kind.rawValue) \(ends)" + ($0.value.map { " (\($0))" } ?? "")
        }
        return Step(source: source, destination: destination, resolved: resolved, changes: changes)
    }

    @Test("what the versions differ in is named though the mapping model only copies")
    func differences() throws {
        let unique =
            "<uniquenessConstraints><uniquenessConstraint><constraint value=\"name\"/></uniquenessConstraint>"
            + "</uniquenessConstraints>"
        let found = try step(
            model(
                entity("Region", extra: "isAbstract=\"YES\"", attribute("name")),
                entity("City", parent: "Region", attribute("size", "Integer 16"))),
            model(entity("City", attribute("name"), attribute("size", "Integer 32"), attribute("more"), unique)),
            .copy("City"))
        #expect(
            found.changes == [
                "City: moved Region → -", "City: constraint - → name", "City.more: added - → String",
                "City.name: moved Region → City", "City.size: converted Integer 16 → Integer 32",
                "Region: dropped abstract entity → -",
            ])
        #expect(found.losses() == [])
    }

    @Test("what an expression makes stands after the difference; what it reads is dropped, but not lost")
    func transformed() throws {
        let found = try step(
            model(entity("Person", attribute("name"), attribute("phone"), attribute("old"))),
            model(entity("Person", attribute("first"), attribute("new"))),
            .transform(
                "Person", autofill: false,
                [.expression("first", "FUNCTION($source.name, \"lowercaseString\")"), .rename("old", to: "new")]))
        #expect(
            found.changes == [
                "Person.first: added - → String", "Person.name: dropped String → - (read by the mapping model)",
                "Person.first: transformed - → - (FUNCTION($source.name, \"lowercaseString\"))",
                "Person.new: renamed old → new", "Person.phone: dropped String → -",
            ])
        #expect(found.losses() == ["will drop Person.phone"])
    }

    @Test("losses read as those of inferred steps, before and after, each thing once")
    func losses() throws {
        let text = model(
            entity("Base", extra: "isAbstract=\"YES\"", attribute("a")),
            entity("Left", parent: "Base", attribute("l"), toOne("other", "Other", inverse: "lefts")),
            entity("Right", parent: "Base", attribute("r")), entity("Gone", toOne("right", "Right")),
            entity("Other", toMany("lefts", "Left", inverse: "other")))
        let found = try step(
            text, text, .transform("Left", autofill: false, [.copy("l")]), .transform("Right", autofill: false, []),
            .transform("Other", autofill: false, []))
        let losses = [
            "entity Gone and the links to its rows", "Base.a", "Right.r", "the links of Left.other and Other.lefts",
        ]
        #expect(found.losses() == losses.map { "will drop " + $0 })
        #expect(found.losses(isDone: true) == losses.map { "dropped " + $0 })
    }

    @Test("links are kept if either side is read")
    func sides() throws {
        let text = model(
            entity("Author", toMany("books", "Book", inverse: "author")),
            entity("Book", toOne("author", "Author", inverse: "books")))
        let found = try step(
            text, text, .transform("Author", autofill: false, [.copy("books")]), .transform("Book", autofill: false, [])
        )
        #expect(found.losses() == [])
        #expect(found.changes == [])
    }

    @Test("an order is lost where the relationship is ordered no more, and where only its inverse is read")
    func orders() throws {
        func version(ordered: Bool) -> String {
            model(
                entity("Author", toMany("books", "Book", inverse: "author", ordered: ordered)),
                entity("Book", toOne("author", "Author", inverse: "books")))
        }
        let unordered = try step(
            version(ordered: true), version(ordered: false),
            .transform("Author", autofill: false, [.copy("books")]), .transform("Book", autofill: false, []))
        #expect(unordered.losses() == ["will drop the order of Author.books, which is no longer ordered"])
        #expect(unordered.changes == ["Author.books: cardinality ordered to-many → to-many"])
        let unread = try step(
            version(ordered: true), version(ordered: true), .transform("Author", autofill: false, []),
            .transform("Book", autofill: false, [.copy("author")]))
        #expect(
            unread.losses() == ["will drop the order of Author.books: the mapping models read only its inverse"])
        let kept = try step(
            version(ordered: true), version(ordered: true), .transform("Author", autofill: false, [.copy("books")]),
            .transform("Book", autofill: false, [.copy("author")]))
        #expect(kept.losses() == [])
    }

    @Test("what is pulled up is moved where the mapping model reads it, and else new")
    func pulledUp() throws {
        func version(_ base: String, _ left: String) -> String {
            model(
                entity("Base", base), entity("Left", parent: "Base", left), entity("Right", parent: "Base"))
        }
        let (from, to) = (version("", attribute("a")), version(attribute("a"), ""))
        let moved = try step(
            from, to, .copy("Base"), .transform("Left", autofill: false, [.copy("a")]),
            .transform("Right", autofill: false, []))
        #expect(moved.changes == ["Base.a: moved Left → Base"])
        let unread = try step(from, to, .copy("Base"), .transform("Left", autofill: false, []), .copy("Right"))
        #expect(unread.changes == ["Base.a: added - → String", "Left.a: dropped String → -"])
    }

    @Test("a policy may read what no expression does")
    func policy() throws {
        let text = model(entity("Thing", attribute("a"), attribute("b")))
        let found = try step(
            text, text, .transform("Thing", autofill: false, [.policy("ThingPolicy"), .copy("a")]))
        #expect(found.losses() == ["will drop Thing.b, unless ThingPolicy reads it"])
        #expect(
            found.changes == [
                "Thing: custom Thing → Thing (ThingPolicy)",
                "Thing.b: dropped String → - (unless ThingPolicy reads it)",
            ])
    }

    @Test("rows of subentities are read where the entity mapping includes them")
    func subentities() throws {
        let text = model(entity("Base", attribute("a")), entity("Leaf", parent: "Base", attribute("b")))
        let rows = """
            FETCH(FUNCTION($manager, 'fetchRequestForSourceEntityNamed:predicateString:includesSubentities:', 'Base', \
            'TRUEPREDICATE', YES), $manager.sourceContext, NO)
            """
        let whole = try step(
            text, text, .transform("Base", autofill: false, [.rows(Expression(parsing: rows)), .copy("a")]))
        #expect(whole.losses() == ["will drop Leaf.b"])
        let own = try step(text, text, .transform("Base", autofill: false, [.copy("a")]))
        #expect(own.losses() == ["will drop entity Leaf and the links to its rows"])
    }

    @Test("rows that no mapping's filter selects are a loss")
    func filtered() throws {
        let text = model(entity("Entry", attribute("amount", "Integer 16")), entity("Other", attribute("a")))
        let found = try step(
            text, text, .transform("Entry", [.filter("amount > 0")]),
            .transform("Entry", name: "Debts", [.filter("amount < 0")]),
            .transform("Other", [.filter("a != nil")]), .transform("Other", name: "All"))
        #expect(
            found.losses() == [
                "will drop the rows of Entry, if any, that aren't selected by `amount < 0` or `amount > 0`"
            ])
        #expect(
            found.losses(isDone: true)
                == ["dropped the rows of Entry, if any, that aren't selected by `amount < 0` or `amount > 0`"])
    }

    @Test("a new attribute that mapping models leave alone has its default")
    func defaults() throws {
        let (before, after) = (
            model(entity("Account", attribute("a")), entity("Other")),
            model(
                entity("Account", attribute("a"), attribute("isOpen", "Boolean", default: "YES")),
                entity("Other", attribute("b", "Boolean", default: "YES")))
        )
        let found = try step(
            before, after, .transform("Account"), .transform("Other", [.policy("OtherPolicy")]))
        #expect(
            found.changes == [
                "Account.isOpen: added - → Boolean (YES)", "Other.b: added - → Boolean",
                "Other: custom Other → Other (OtherPolicy)",
            ])
    }
}
