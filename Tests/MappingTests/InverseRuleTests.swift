import CausewayMapping
import Testing

/// Links that come through the inverse, where hierarchies and pairs change.
@Suite("Links through an inverse", .timeLimit(.minutes(60)))
struct InverseRuleTests {
    /// `Item` is the abstract parent of `Book` and `Folder`; `side` is the library's side of `Book.last`.
    private func shelf(item: String = "", book: String = "", folder: String = "", library: String) -> String {
        model(
            entity("Item", extra: "isAbstract=\"YES\"", item), entity("Book", parent: "Item", book),
            entity("Folder", parent: "Item", folder), entity("Library", library))
    }

    private func book(_ relationship: String) -> LinkSource {
        LinkSource(entity: "Book", relationship: relationship, isInverted: true, changesForm: false)
    }

    /// Real: BookPlayer's `Book.lastPlayed`, which moved to `LibraryItem`, while its inverse got another name.
    @Test("a relationship moves up to the parent while its inverse is renamed")
    func movedUp() throws {
        for isToMany in [false, true] {
            func last(_ inverse: String) -> String {
                isToMany ? toMany("last", "Library", inverse: inverse) : toOne("last", "Library", inverse: inverse)
            }
            let from = shelf(book: last("book"), library: toOne("book", "Book", inverse: "last"))
            let to = shelf(item: last("item"), library: toOne("item", "Item", inverse: "last"))
            let mapping = try inferred(from, to)
            #expect(mapping.links("item", of: "Library") == book("last"))
            #expect(mapping.links("last", of: "Book")?.relationship == "last")
            #expect(mapping.links("last", of: "Folder") == nil)
        }
    }

    @Test("a relationship moves up to a parent that is new, while its inverse is renamed")
    func movedToNewParent() throws {
        let from = model(
            entity("Book", toMany("last", "Library", inverse: "book")),
            entity("Library", toOne("book", "Book", inverse: "last")))
        let to = shelf(
            item: toMany("last", "Library", inverse: "item"), library: toOne("item", "Item", inverse: "last"))
        #expect(try inferred(from, to).links("item", of: "Library") == book("last"))
    }

    @Test("a mandatory inverse that got another name has the links of the side that moved up")
    func mandatory() throws {
        let from = shelf(
            book: toMany("last", "Library", inverse: "book"),
            library: toOne("book", "Book", inverse: "last").replacing("optional=\"YES\"", with: "optional=\"NO\""))
        let to = shelf(
            item: toMany("last", "Library", inverse: "item"),
            library: toOne("item", "Item", inverse: "last").replacing("optional=\"YES\"", with: "optional=\"NO\""))
        #expect(try inferred(from, to).mapping(to: "Library")?.obligations == [])
    }

    @Test("links of two subentities that would come together in one cell are refused")
    func several() throws {
        let from = shelf(
            book: toOne("last", "Library", inverse: "book"), folder: toOne("last", "Library", inverse: "folder"),
            library: toOne("book", "Book", inverse: "last") + toOne("folder", "Folder", inverse: "last"))
        let to = shelf(item: toOne("last", "Library", inverse: "item"), library: toOne("item", "Item", inverse: "last"))
        #expect(try refusals(from, to).map(\.reason) == [.severalLinks(["Book.last", "Folder.last"])])
        // Each row has its own link to the library: nothing is unclear.
        let many = shelf(
            item: toOne("last", "Library", inverse: "items"), library: toMany("items", "Item", inverse: "last"))
        #expect(try refusals(from, many) == [])
        let mapping = try inferred(from, many)
        #expect(mapping.links("items", of: "Library")?.isPartial == true)
        // Its links are those of several relationships: a step that reads them runs by itself.
        let renamed = shelf(
            item: toOne("place", "Library", inverse: "items"), library: toMany("items", "Item", inverse: "place"))
        #expect(mapping.composed(with: try inferred(many, renamed)) == nil)
        // Also where one of them continues by its identifier; in one cell the others would be lost.
        let named = shelf(
            item: toOne("last", "Library", inverse: "items"),
            library: toMany("items", "Item", inverse: "last", was: "book"))
        #expect(try inferred(from, named).links("items", of: "Library")?.isPartial == true)
        let cell = shelf(
            item: toMany("last", "Library", inverse: "item"),
            library: toOne("item", "Item", inverse: "last", was: "book"))
        let lists = shelf(
            book: toMany("last", "Library", inverse: "book"), folder: toMany("last", "Library", inverse: "folder"),
            library: toOne("book", "Book", inverse: "last") + toOne("folder", "Folder", inverse: "last"))
        #expect(try refusals(lists, cell).map(\.reason) == [.severalLinks(["Book.last", "Folder.last"])])
    }

    @Test("a relationship that was its own inverse gets another one, which has the same links")
    func reflexive() throws {
        for isToMany in [false, true] {
            func link(_ name: String, _ inverse: String) -> String {
                isToMany ? toMany(name, "Thing", inverse: inverse) : toOne(name, "Thing", inverse: inverse)
            }
            let mapping = try inferred(
                thing(link("friend", "friend")), thing(link("friend", "of"), link("of", "friend")))
            #expect(
                mapping.links("of", of: "Thing")
                    == LinkSource(entity: "Thing", relationship: "friend", isInverted: true, changesForm: false))
        }
    }

    @Test("one-to-one relationships that change partners are refused: each side would keep other links")
    func repaired() throws {
        let from = model(
            entity("A", toOne("x", "B", inverse: "y"), toOne("u", "B", inverse: "v")),
            entity("B", toOne("y", "A", inverse: "x"), toOne("v", "A", inverse: "u")))
        let to = model(
            entity("A", toOne("x", "B", inverse: "v"), toOne("u", "B", inverse: "y")),
            entity("B", toOne("y", "A", inverse: "u"), toOne("v", "A", inverse: "x")))
        let found = try refusals(from, to)
        #expect(found.count == 4)
        #expect(found.contains { $0.property == "x" && $0.reason == .inverseContinuesOther("B.v") })
        #expect(try refusals(from, from) == [])
    }
}
