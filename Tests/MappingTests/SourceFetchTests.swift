import CausewayExpressions
import CausewayMapping
import Foundation
import Testing

@Suite("Source expressions", .timeLimit(.minutes(60)))
struct SourceFetchTests {
    @Test("known forms give their rows", .enabled(if: SharedMappingModels.exist, "shared/stores is missing"))
    func known() throws {
        let file = try String(contentsOfFile: SharedMappingModels.folder + "/expressions.txt", encoding: .utf8)
        let section = file.split(separator: "\n## ").filter { $0.hasPrefix("6.") }
        let texts = section.flatMap { $0.matches(of: /\n\s*\d+  (FETCH.*)/).map { String($0.1) } }
        #expect(!texts.isEmpty)
        for text in texts {
            let expression = try Expression(parsing: text.replacing("<entity>", with: "Thing"))
            let fetch = try #require(SourceFetch(expression))
            #expect(fetch.entity == "Thing" && !fetch.includesSubentities)
            #expect(try fetch.filter.map { try Predicate(parsing: $0) } == .literal(true))
        }
    }

    @Test("other forms")
    func others() throws {
        let filtered = """
            FETCH(FUNCTION($manager, "fetchRequestForSourceEntityNamed:predicateString:", "Car", "a == 'x'"),
            FUNCTION($manager, 'sourceContext'), NO)
            """
        let fetch = try #require(SourceFetch(try Expression(parsing: filtered)))
        #expect(try fetch.filter.map { try Predicate(parsing: $0) } == Predicate(parsing: "a == 'x'"))
        let unknown = filtered.replacing("fetchRequestForSource", with: "customFetch")
        #expect(SourceFetch(try Expression(parsing: unknown)) == nil)
        #expect(SourceFetch(Expression.key("cars")) == nil)
    }
}
