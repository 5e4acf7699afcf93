import CausewayMapping
import CausewayModel
import CausewayPlanning
import Testing

/// The sentences of a plan that name what is dropped.
@Suite("What a step loses", .timeLimit(.minutes(60)))
struct LossReportTests {
    private func losses(_ from: String, _ to: String) throws -> [String] {
        try losses(through: [from, to])
    }

    /// Of the last step of a history.
    private func losses(through versions: [String]) throws -> [String] {
        let models = try versions.map { try ModelReader.model(source: Array($0.utf8)) }
        var before: MappingModel?
        var sentences: [String] = []
        for (source, destination) in zip(models, models.dropFirst()) {
            let mapping = try MappingInference.infer(from: source, to: destination)
            sentences =
                LossReport("V", mapping: mapping, source: source, destination: destination, before: before).losses.map(
                    \.description)
            before = before?.followed(by: mapping) ?? mapping
        }
        #expect(sentences.allSatisfy { $0.hasPrefix("V: ") })
        return sentences.map { String($0.dropFirst(3)) }
    }

    private func library(_ books: String, _ author: String) -> String {
        model(entity("Author", books), entity("Book", author))
    }

    @Test("nothing is said where nothing is lost")
    func nothing() throws {
        let from = library(toMany("books", "Book", inverse: "author"), toOne("author", "Author", inverse: "books"))
        let to = library(
            toMany("works", "Book", inverse: "author", ordered: true),
            toOne("author", "Author", inverse: "works") + attribute("new"))
        #expect(try losses(from, from).isEmpty)
        #expect(try losses(from, to).isEmpty)
    }

    @Test("entities, attributes and links that end here are named once, where they are declared")
    func dropped() throws {
        let from = model(
            entity("Base", attribute("a"), attribute("b"), toOne("other", "Other")), entity("Leaf", parent: "Base"),
            entity("Other"), entity("Gone", attribute("x")))
        let to = model(entity("Base", attribute("b")), entity("Leaf", parent: "Base"), entity("Other"))
        #expect(
            try losses(from, to).sorted() == [
                "will drop Base.a", "will drop entity Gone and the links to its rows",
                "will drop the links of Base.other",
            ])
    }

    @Test("links that end with the rows at their other end are named with these, once")
    func droppedEnds() throws {
        let gone = "will drop entity Gone and the links to its rows"
        func version(_ target: String, _ property: String, parent: String? = nil) -> String {
            model(
                entity("Thing", property), entity("Base"),
                target.isEmpty ? "" : entity(target, parent: parent, toMany("things", "Thing", inverse: "one")))
        }
        let one = toOne("one", "Gone", inverse: "things")
        #expect(try losses(version("Gone", one), version("", "")) == [gone])
        #expect(try losses(version("Gone", one, parent: "Base"), version("", "")) == [gone])
        // Links to other objects are named separately.
        let base = model(entity("Thing", toOne("one", "Base")), entity("Base"), entity("Gone", parent: "Base"))
        #expect(try losses(base, version("", "")) == [gone, "will drop the links of Thing.one"])
    }

    @Test("a to-one that was a to-many, a lost order and a lost inverse are named")
    func narrowed() throws {
        let many = toMany("authors", "Author", inverse: "books", ordered: true)
        let books = toMany("books", "Book", inverse: "authors")
        let one = try losses(
            library(books, many),
            library(toMany("books", "Book", inverse: "authors"), toOne("authors", "Author", inverse: "books")))
        #expect(one.contains("will keep only the first of several links of Book.authors, which becomes a to-one"))
        let plain = try losses(library(books, many), library(books, toMany("authors", "Author", inverse: "books")))
        #expect(plain == ["will drop the order of Book.authors, which is no longer ordered"])
        let alone = try losses(library(books, many), library(toMany("books", "Book"), ""))
        #expect(
            alone == [
                "will keep only the first of an object's several owners in Author.books, a to-many without inverse"
            ])
    }

    @Test("what a relationship loses while it moves up to the parent is named once, by the parent")
    func narrowedAbove() throws {
        func version(_ owner: String, _ links: String) -> String {
            model(
                entity("Item", owner == "Item" ? links : ""),
                entity("Book", parent: "Item", owner == "Book" ? links : ""),
                entity("Shelf", toMany("items", owner, inverse: "shelves")))
        }
        let many = toMany("shelves", "Shelf", inverse: "items", ordered: true)
        #expect(
            try losses(version("Book", many), version("Item", toOne("shelves", "Shelf", inverse: "items"))) == [
                "will keep only the first of several links of Item.shelves, which becomes a to-one",
                "will drop the order of Item.shelves, which is no longer ordered",
            ])
        #expect(
            try losses(version("Book", many), version("Item", toMany("shelves", "Shelf", inverse: "items"))) == [
                "will drop the order of Item.shelves, which is no longer ordered"
            ])
    }

    @Test("an attribute is named once: where it is declared if all rows lose it, else by the entities that do")
    func hierarchy() throws {
        func version(_ base: String, _ left: String, _ right: String) -> String {
            model(entity("Base", base), entity("Left", parent: "Base", left), entity("Right", parent: "Base", right))
        }
        #expect(
            try losses(version(attribute("a"), attribute("b"), ""), version("", "", "")) == [
                "will drop Base.a", "will drop Left.b",
            ])
        #expect(
            try losses(version(attribute("a"), "", ""), version("", attribute("a"), "")) == [
                "will drop Base.a", "will drop Right.a",
            ])
    }

    @Test("a relationship that is pushed down names the entities that lose it")
    func pushedDown() throws {
        func version(_ base: String, _ left: String, parent: String = "Base") -> String {
            model(
                entity("Base", extra: "isAbstract=\"YES\"", base), entity("Left", parent: "Base", left),
                entity("Right", parent: "Base"), entity("Lone", parent: parent == "Base" ? "Base" : nil),
                entity("Other"))
        }
        let (one, many) = (toOne("link", "Other"), toMany("link", "Other"))
        for link in [one, many] {
            #expect(
                try losses(version(link, ""), version("", link)) == [
                    "will drop the links of Lone.link", "will drop the links of Right.link",
                ])
        }
        #expect(try losses(version(one, ""), version(one, "", parent: "")) == ["will drop the links of Lone.link"])
        #expect(try losses(version("", one), version(one, "")) == [])
    }

    @Test("both sides of a relationship are named in one sentence")
    func bothSides() throws {
        let from = library(toMany("books", "Book", inverse: "author"), toOne("author", "Author", inverse: "books"))
        #expect(try losses(from, library("", "")) == ["will drop the links of Author.books and Book.author"])
    }

    @Test("what a step in between has added isn't lost; what it has renamed can be")
    func onTheWay() throws {
        func version(_ properties: String..., extra: String = "") -> String {
            model(entity("Thing", properties.joined()), entity("Other"), extra)
        }
        let bare = version()
        #expect(
            try losses(through: [
                bare, version(attribute("a", default: "x"), toOne("other", "Other"), extra: entity("New")), bare,
            ]) == [])
        #expect(
            try losses(through: [version(attribute("a")), version(attribute("b", was: "a")), bare]) == [
                "will drop Thing.b"
            ])
    }
}
