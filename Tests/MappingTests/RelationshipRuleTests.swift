import CausewayMapping
import Testing

/// The rows of InsideCoreDataMigration §4 about relationships.
@Suite("Inferred relationships", .timeLimit(.minutes(60)))
struct RelationshipRuleTests {
    static func library(_ books: String, _ author: String) -> String {
        model(entity("Author", books), entity("Book", author))
    }

    static let oneToMany = library(
        toMany("books", "Book", inverse: "author"), toOne("author", "Author", inverse: "books"))

    private func own(_ entity: String, _ name: String, changes: Bool = false) -> LinkSource {
        LinkSource(entity: entity, relationship: name, isInverted: false, changesForm: changes)
    }

    @Test("relationships are added empty and removed")
    func addedAndRemoved() throws {
        let bare = Self.library("", "")
        let added = try inferred(bare, Self.oneToMany)
        #expect(added.links("books", of: "Author") == nil)
        #expect(added.mapping(to: "Author")?.relationships.count == 1)
        let removed = try inferred(Self.oneToMany, bare)
        #expect(removed.mapping(to: "Author")?.relationships == [])
    }

    @Test("unchanged and renamed relationships carry their links")
    func renamed() throws {
        let same = try inferred(Self.oneToMany, Self.oneToMany)
        #expect(same.links("author", of: "Book") == own("Book", "author"))
        let renamed = try inferred(
            Self.oneToMany,
            Self.library(
                toMany("works", "Book", inverse: "writer", was: "books"),
                toOne("writer", "Author", inverse: "works", was: "author")))
        #expect(renamed.links("works", of: "Author") == own("Author", "books"))
        #expect(renamed.links("writer", of: "Book") == own("Book", "author"))
    }

    @Test("a side renamed without identifier finds its links through the other side")
    func throughInverse() throws {
        let mapping = try inferred(
            Self.oneToMany,
            Self.library(toMany("works", "Book", inverse: "author"), toOne("author", "Author", inverse: "works")))
        #expect(
            mapping.links("works", of: "Author")
                == LinkSource(entity: "Book", relationship: "author", isInverted: true, changesForm: false))
        let both = try inferred(
            Self.oneToMany,
            Self.library(toMany("works", "Book", inverse: "writer"), toOne("writer", "Author", inverse: "works")))
        #expect(both.links("works", of: "Author") == nil)
        #expect(both.links("writer", of: "Book") == nil)
    }

    @Test("a relationship whose inverse gets another partner keeps its own links; the other gets none of them")
    func inverseReassigned() throws {
        // `books` stays; a new `edited` takes over the inverse `author`, whose source is the inverse of `books`.
        let to = model(
            entity("Author", toMany("books", "Book", inverse: "writer"), toMany("edited", "Book", inverse: "author")),
            entity("Book", toOne("writer", "Author", inverse: "books"), toOne("author", "Author", inverse: "edited")))
        let mapping = try inferred(Self.oneToMany, to)
        #expect(mapping.links("books", of: "Author") == own("Author", "books"))
        #expect(mapping.links("author", of: "Book") == own("Book", "author"))
        #expect(mapping.links("edited", of: "Author") == nil)
        #expect(mapping.links("writer", of: "Book") == nil)
    }

    @Test("cardinality changes in both directions are inferred and marked")
    func cardinality() throws {
        let manyToMany = Self.library(
            toMany("books", "Book", inverse: "author"), toMany("author", "Author", inverse: "books"))
        let oneToOne = Self.library(
            toOne("books", "Book", inverse: "author"), toOne("author", "Author", inverse: "books"))
        // The end at which `books` and `author` keep the first link only.
        for (from, to, isFar) in [
            (Self.oneToMany, manyToMany, nil), (manyToMany, Self.oneToMany, true), (Self.oneToMany, oneToOne, false),
            (oneToOne, Self.oneToMany, nil),
        ] as [(String, String, Bool?)] {
            let mapping = try inferred(from, to)
            var books = own("Author", "books", changes: true)
            books.narrowings = isFar.map { [LinkNarrowing(isFar: $0, isByPlace: false)] } ?? []
            books.countsFarColumn = from == oneToOne ? true : nil
            #expect(mapping.links("books", of: "Author") == books)
            var author = own("Book", "author", changes: true)
            author.narrowings = books.narrowings.map(\.turned)
            author.countsFarColumn = from == oneToOne ? false : nil
            author.keepsFirst = to == oneToOne
            #expect(mapping.links("author", of: "Book") == author)
        }
        #expect(try inferred(oneToOne, manyToMany).links("author", of: "Book")?.changesForm == true)
        let refused = try refusals(manyToMany, oneToOne)
        #expect(refused.map(\.reason) == [.manyToManyBecameOneToOne, .manyToManyBecameOneToOne])
        #expect(refused.map(\.property) == ["books", "author"])
    }

    @Test("order gained and lost is marked")
    func order() throws {
        let ordered = Self.library(
            toMany("books", "Book", inverse: "author", ordered: true), toOne("author", "Author", inverse: "books"))
        #expect(try inferred(Self.oneToMany, ordered).links("books", of: "Author")?.changesForm == true)
        #expect(try inferred(ordered, Self.oneToMany).links("author", of: "Book")?.changesForm == true)
        #expect(try inferred(ordered, ordered).links("books", of: "Author")?.changesForm == false)
    }

    @Test("an inverse that is added reads the links of the side that was there")
    func inverseAdded() throws {
        let alone = Self.library(toMany("books", "Book"), "")
        let mapping = try inferred(alone, Self.oneToMany)
        #expect(mapping.links("books", of: "Author")?.changesForm == true)
        #expect(
            mapping.links("author", of: "Book")
                == LinkSource(entity: "Author", relationship: "books", isInverted: true, changesForm: true))
        #expect(try inferred(Self.oneToMany, alone).links("books", of: "Author")?.changesForm == true)
    }

    @Test("a new delete rule, optionality or count doesn't change the links")
    func withoutTrace() throws {
        let strict = Self.library(
            toMany("books", "Book", inverse: "author", extra: "minCount=\"1\" maxCount=\"9\""),
            "<relationship name=\"author\" maxCount=\"1\" minCount=\"1\" deletionRule=\"Cascade\" "
                + "destinationEntity=\"Author\" inverseName=\"books\" inverseEntity=\"Author\"/>")
        #expect(try inferred(Self.oneToMany, strict).links("author", of: "Book") == own("Book", "author"))
    }

    @Test("two claimants of one relationship are refused")
    func claimants() throws {
        let found = try refusals(
            Self.oneToMany,
            model(
                entity("Author", toMany("a", "Book", was: "books"), toMany("b", "Book", was: "books")),
                entity("Book")))
        #expect(found.count == 2)
        #expect(found.allSatisfy { $0.reason == .ambiguousRenaming(source: "books", claimants: ["a", "b"]) })
    }

    @Test("a destination may become the parent; where it becomes a subentity or another, links that don't fit end")
    func destination() throws {
        func version(_ destination: String, was: String? = nil) -> String {
            model(
                entity("Base"), entity("Left", parent: "Base"), entity("Right", parent: "Base"), entity("Other"),
                entity("Thing", toOne("link", destination, was: was)))
        }
        #expect(try inferred(version("Left"), version("Base")).links("link", of: "Thing") == own("Thing", "link"))
        #expect(try inferred(version("Left"), version("Base")).mapping(to: "Thing")?.endings == [])
        let narrowed = try inferred(version("Base"), version("Left"), step: 4)
        #expect(
            narrowed.links("link", of: "Thing")
                == LinkSource(
                    entity: "Thing", relationship: "link", isInverted: false, changesForm: false,
                    ended: ["Base", "Right"]))
        #expect(
            narrowed.mapping(to: "Thing")?.endings == [
                LinkEnding(
                    step: 4, entity: "Thing", relationship: "link", leadsTo: "Left", links: own("Thing", "link"),
                    targets: ["Base", "Right"])
            ])
        for target in ["Right", "Other"] {
            let turned = try inferred(version("Left"), version(target))
            #expect(turned.links("link", of: "Thing") == nil)
            #expect(turned.mapping(to: "Thing")?.endings.map(\.targets) == [["Left"]])
        }
    }

    @Test("an abstract entity has no rows of its own, so no links to them end")
    func abstractTarget() throws {
        func version(_ destination: String) -> String {
            model(
                entity("Base", extra: "isAbstract=\"YES\""), entity("Left", parent: "Base"),
                entity("Thing", toOne("link", destination)))
        }
        let mapping = try inferred(version("Base"), version("Left"))
        #expect(mapping.mapping(to: "Thing")?.endings == [])
        #expect(mapping.links("link", of: "Thing") == own("Thing", "link"))
    }

    @Test("an attribute that becomes a relationship of the same name is refused, and the reverse")
    func kindChanged() throws {
        let attributes = Self.library(attribute("books"), attribute("author"))
        #expect(
            try refusals(attributes, Self.oneToMany).map(\.reason)
                == [.attributeBecameRelationship, .attributeBecameRelationship])
        #expect(
            try refusals(Self.oneToMany, attributes).map(\.reason)
                == [.relationshipBecameAttribute, .relationshipBecameAttribute])
    }

    @Test("a refusal names both ends where they have different names")
    func bothEnds() throws {
        func places(_ from: String, _ to: String) throws -> [String] {
            try refusals(from, to).map { $0.description.split(separator: ":", maxSplits: 1).map(String.init)[0] }
        }
        let old = model(entity("Note", attribute("pending", "Binary"), attribute("kept", "Binary")))
        let note = model(entity("Note", attribute("state", "Date", was: "pending"), attribute("kept", "Date")))
        #expect(try places(old, note) == ["Note.kept", "Note.state (from pending)"])
        let memory = model(
            entity("Memory", was: "Note", attribute("state", "Date", was: "pending"), attribute("kept", "Date")))
        #expect(try places(old, memory) == ["Memory.kept (from Note.kept)", "Memory.state (from Note.pending)"])
    }

    @Test("a relationship to a renamed entity is the same relationship")
    func renamedEntity() throws {
        let to = model(
            entity("Writer", was: "Author", toMany("books", "Book", inverse: "author")),
            entity("Book", toOne("author", "Writer", inverse: "books")))
        let mapping = try inferred(Self.oneToMany, to)
        #expect(mapping.links("author", of: "Book") == own("Book", "author"))
        #expect(mapping.links("books", of: "Writer") == own("Author", "books"))
    }
}
