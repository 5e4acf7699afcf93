import CausewayExpressions
import Testing

@Suite("Printing", .timeLimit(.minutes(60)))
struct FormatStringTests {
    @Test(
        "predicates print as Foundation prints them",
        arguments: [
            "searchIndexRebuildState == 1", "image != nil", "thumbnailIndex == -1 AND cloudLocalState == 1",
            "title MATCHES \"[a-hA-H].*\"", "name BEGINSWITH[cd] $query",
            "authorAlias == $FETCH_SOURCE.alias AND comment CONTAINS $FETCHED_PROPERTY.userInfo.search",
            "(a == 1 OR a == 2) AND b == nil", "ANY a.b > 2.5", "NOT a == \"x\\\\y\"", "SELF CONTAINS \"title\"",
        ])
    func predicates(text: String) throws {
        let predicate = try Predicate(parsing: text)
        #expect(predicate.predicateFormat == text)
        #expect(predicate.formatString == text)
    }

    @Test(
        "expressions print as Foundation prints them",
        arguments: [
            "FUNCTION($manager, \"find:in:\" , \"PersonToPerson\", $source.owner)", "FUNCTION($policy, \"icon\")",
            "FETCH(FUNCTION($manager, \"f:\" , \"TRUEPREDICATE\"), $manager.sourceContext, NO)",
            "(a + b) * -1", "{1, \"a\"}", "a[0]", "a UNION b", "CAST(a, \"NSNumber\")", "TERNARY(a == 1, b, c)",
            "SUBQUERY(a, $x, $x.b == 1)",
        ])
    func expressions(text: String) throws {
        let expression = try Expression(parsing: text)
        #expect(expression.predicateFormat == text)
        #expect(expression.formatString == text)
    }

    @Test("Apple's form loses types, the parsable form doesn't")
    func styles() {
        #expect(Expression.constant(.boolean(true)).predicateFormat == "1")
        #expect(Expression.constant(.boolean(true)).formatString == "YES")
        #expect(Expression.constant(.real(5)).predicateFormat == "5")
        #expect(Expression.constant(.real(5)).formatString == "5.0")
        #expect(Expression.constant(.date(-1.9999999)).predicateFormat == "CAST(-2.000000, \"NSDate\")")
        #expect(Expression.constant(.date(12.25)).predicateFormat == "CAST(12.250000, \"NSDate\")")
    }

    @Test("what is printed parses to the same", arguments: 0..<40)
    func roundTrip(seed: Int) throws {
        var trees = RandomTrees(seed: UInt64(seed))
        for _ in 0..<100 {
            let predicate = trees.predicate(3)
            let text = predicate.formatString
            #expect(try Predicate(parsing: text) == predicate, "\(text)")
            let expression = trees.expression(3)
            let other = expression.formatString
            #expect(try Expression(parsing: other) == expression, "\(other)")
        }
    }
}
