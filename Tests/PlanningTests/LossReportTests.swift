import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewayStoreFormat
import Testing

/// The sentences of a plan that say what is left behind.
@Suite("What a step loses")
struct LossReportTests {
    private func losses(_ from: String, _ to: String) throws -> [String] {
        let source = try ModelReader.model(source: Array(from.utf8))
        let destination = try ModelReader.model(source: Array(to.utf8))
        let mapping = try MappingInference.infer(from: source, to: destination)
        return try StepPlanner(
            versions: ["V1", "V2"], firstStep: 0, mapping: mapping,
            steps: [InferredStep(mapping: mapping, source: source, destination: destination)],
            destination: destination, frameworkVersion: 1509,
            source: try StoreLayout(model: source, frameworkVersion: 1509, hints: LayoutHints()), schema: nil,
            appObjects: [], hasHistory: false, fillsTables: true, template: nil
        ).plan().losses
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
                "Base.other: the links are dropped", "Base: dropped attributes: a",
                "entity Gone is gone: its rows and the links to them are dropped",
            ])
    }

    @Test("a to-one that was a to-many, a lost order and a lost inverse are named")
    func narrowed() throws {
        let many = toMany("authors", "Author", inverse: "books", ordered: true)
        let books = toMany("books", "Book", inverse: "authors")
        let one = try losses(
            library(books, many),
            library(toMany("books", "Book", inverse: "authors"), toOne("authors", "Author", inverse: "books")))
        #expect(one.contains("Book.authors: becomes a to-one; where there are several links, the first is kept"))
        let plain = try losses(library(books, many), library(books, toMany("authors", "Author", inverse: "books")))
        #expect(plain == ["Book.authors: is no longer ordered; the order is dropped"])
        let alone = try losses(library(books, many), library(toMany("books", "Book"), ""))
        #expect(alone == ["Author.books: loses its inverse; where an object has several owners, the first keeps it"])
    }
}
