import CausewayMapping
import CausewayModel
import Testing

/// Conditions of a mandatory to-one for the rows, through one mapping and through two.
@Suite("Obligations of to-ones", .timeLimit(.minutes(60)))
struct ToOneObligationTests {
    private static func version(_ books: String, _ author: String, optional: String = "YES", was: String? = nil)
        -> String
    {
        let to = toOne(author, "Author", inverse: books, was: was)
        return model(
            entity("Author", toMany(books, "Book", inverse: author)),
            entity("Book", to.replacing("optional=\"YES\"", with: "optional=\"\(optional)\"")))
    }

    private static func obligations(_ mapping: MappingModel?) -> [Obligation] {
        mapping?.entityMappings.flatMap(\.obligations) ?? []
    }

    private static func link(_ relationship: String, inverted: Bool = false, of entity: String = "Book") -> LinkSource {
        LinkSource(entity: entity, relationship: relationship, isInverted: inverted, changesForm: false)
    }

    @Test("a to-one that becomes mandatory needs a link in every row; one that was mandatory adds no condition")
    func tightened() throws {
        let found = Self.obligations(
            try inferred(
                Self.version("books", "author"), Self.version("books", "author", optional: "NO"), step: 3))
        #expect(
            found == [
                Obligation(
                    step: 3, entity: "Book", property: "author", leadsTo: "Author", .tightenedToOne,
                    demand: .noMissing(links: Self.link("author")))
            ])
        let kept = try inferred(
            Self.version("books", "author", optional: "NO"), Self.version("books", "author", optional: "NO"))
        #expect(Self.obligations(kept).isEmpty)
        let loosened = try inferred(
            Self.version("books", "author", optional: "NO"), Self.version("books", "author"))
        #expect(Self.obligations(loosened).isEmpty)
    }

    @Test("links through the inverse count")
    func inverted() throws {
        let found = Self.obligations(
            try inferred(Self.version("books", "author"), Self.version("books", "writer", optional: "NO")))
        #expect(
            found.map(\.demand) == [.noMissing(links: Self.link("books", inverted: true, of: "Author"))])
    }

    @Test("a new mandatory to-one needs an entity without rows")
    func added() throws {
        let bare = model(entity("Author"), entity("Book"))
        let found = Self.obligations(try inferred(bare, Self.version("books", "author", optional: "NO")))
        #expect(
            found == [
                Obligation(step: 0, entity: "Book", property: "author", leadsTo: "Author", .newToOne, demand: .noRows)
            ])
        #expect(Self.obligations(try inferred(bare, Self.version("books", "author"))).isEmpty)
    }

    @Test("a later condition applies to the links of the first version, or to all rows where it has none")
    func composed() throws {
        let later = try inferred(
            Self.version("works", "author"), Self.version("works", "author", optional: "NO"), step: 1)
        let renamed = try inferred(Self.version("books", "author"), Self.version("works", "author")).composed(
            with: later)
        #expect(Self.obligations(renamed).map(\.demand) == [.noMissing(links: Self.link("author"))])
        let other = try inferred(Self.version("books", "writer"), Self.version("books", "author"))
            .composed(
                with: try inferred(
                    Self.version("books", "author"), Self.version("books", "author", optional: "NO"), step: 1))
        #expect(
            Self.obligations(other).map(\.demand) == [
                .noMissing(links: Self.link("books", inverted: true, of: "Author"))
            ])
        let none = try inferred(model(entity("Author"), entity("Book")), Self.version("works", "author"))
            .composed(with: later)
        #expect(
            Self.obligations(none)
                == [
                    Obligation(
                        step: 1, entity: "Book", property: "author", leadsTo: "Author", .tightenedToOne, demand: .noRows
                    )
                ])
    }

    @Test("links that end are conditions, which name --end-links only where it helps")
    func endingConditions() throws {
        func version(_ cat: Bool, _ pet: String, optional: String) -> String {
            model(
                entity("Animal"), cat ? entity("Cat", parent: "Animal") : "", entity("Dog", parent: "Animal"),
                entity(
                    "Thing",
                    toOne("pet", pet).replacing("optional=\"YES\"", with: "optional=\"\(optional)\"")))
        }
        func conditions(_ from: String, _ to: String) throws -> [String] {
            let models = try [from, to].map { try ModelReader.model(source: Array($0.utf8)) }
            return try inferred(from, to).conditions(from: models[0], to: models[1])
        }
        let (loose, strict) = (version(true, "Animal", optional: "YES"), version(true, "Animal", optional: "NO"))
        #expect(
            try conditions(strict, version(false, "Animal", optional: "NO")) == [
                "if no row of Thing has such a link to Cat objects: Thing.pet is mandatory, and such links can't stay"
            ])
        #expect(
            try conditions(loose, version(false, "Animal", optional: "NO")) == [
                "if every row of Thing has such a link, and not to Cat objects: Thing.pet is mandatory now"
            ])
        #expect(try conditions(loose, version(false, "Animal", optional: "YES")) == [])
        #expect(
            try conditions(strict, version(true, "Dog", optional: "NO")) == [
                """
                if no row of Thing has such a link to Animal, Cat objects: Thing.pet is mandatory, and such links can't stay
                """
            ])
        #expect(
            try conditions(loose, version(true, "Dog", optional: "YES")) == [
                """
                if no row of Thing has such a link to Animal, Cat objects, or with --end-links, which ends them: Thing.pet \
                leads to Dog now
                """
            ])
    }

    @Test("a condition is given once for all entities that inherit its property; abstract entities have no rows")
    func conditions() throws {
        func version(_ optional: Bool, _ constraint: String) -> String {
            model(
                entity("Thing", extra: "isAbstract=\"YES\"", attribute("name", optional: optional), constraint),
                entity("A", parent: "Thing"), entity("B", parent: "Thing"))
        }
        let unique = """
            <uniquenessConstraints><uniquenessConstraint><constraint value="name"/></uniquenessConstraint>\
            </uniquenessConstraints>
            """
        let (from, to) = (version(true, ""), version(false, unique))
        let models = try [from, to].map { try ModelReader.model(source: Array($0.utf8)) }
        #expect(
            try inferred(from, to).conditions(from: models[0], to: models[1]) == [
                "if it is NULL in no row of A, B: Thing.name is mandatory now and has no default",
                "if no two rows of A, B have the same name: Thing has a uniqueness constraint on name now",
            ])
        #expect(try inferred(to, to).conditions(from: models[1], to: models[1]).isEmpty)
    }
}
