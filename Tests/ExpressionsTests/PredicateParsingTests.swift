import CausewayExpressions
import Testing

enum OperatorSpellings {
    static let all: [(String, ComparisonOperator)] = [
        ("=", .equalTo), ("==", .equalTo), ("!=", .notEqualTo), ("<>", .notEqualTo), ("<", .lessThan),
        ("<=", .lessThanOrEqualTo), ("=<", .lessThanOrEqualTo), (">", .greaterThan), (">=", .greaterThanOrEqualTo),
        ("=>", .greaterThanOrEqualTo), ("BEGINSWITH", .beginsWith), ("endswith", .endsWith), ("Contains", .contains),
        ("LIKE", .like), ("MATCHES", .matches), ("IN", .in), ("BETWEEN", .between),
    ]
}

@Suite("Parsing predicates", .timeLimit(.minutes(60)))
struct PredicateParsingTests {
    @Test("every operator in every spelling", arguments: OperatorSpellings.all)
    func operators(text: String, operation: ComparisonOperator) throws {
        let expected = Predicate.comparison(.init(.key("a"), operation, .key("b")))
        #expect(try Predicate(parsing: "a \(text) b") == expected)
        #expect(try Predicate(parsing: expected.formatString) == expected)
    }

    @Test(
        "options stand in brackets, in any order and case",
        arguments: [
            ("[c]", 1), ("[d]", 2), ("[n]", 4), ("[l]", 8), ("[cd]", 3), ("[DC]", 3), (" [cdnl]", 15),
        ])
    func options(text: String, options: Int) throws {
        for (operation, value) in OperatorSpellings.all {
            let comparison = Predicate.Comparison(
                .key("a"), value, .constant(.string("x")), options: .init(rawValue: options))
            #expect(try Predicate(parsing: "a \(operation)\(text) 'x'") == .comparison(comparison))
        }
    }

    @Test("modifiers, with NONE as the negation of ANY")
    func modifiers() throws {
        func comparison(_ modifier: Predicate.Modifier) -> Predicate {
            .comparison(.init(.key("a.b"), .equalTo, .constant(.integer(1)), modifier: modifier))
        }
        #expect(try Predicate(parsing: "ANY a.b = 1") == comparison(.any))
        #expect(try Predicate(parsing: "some a.b = 1") == comparison(.any))
        #expect(try Predicate(parsing: "ALL a.b = 1") == comparison(.all))
        #expect(try Predicate(parsing: "NONE a.b = 1") == .not(comparison(.any)))
        #expect(try Predicate(parsing: "NOT ANY a.b = 1") == .not(comparison(.any)))
    }

    @Test(
        "precedence, shown by the brackets of the printed form",
        arguments: [
            ("a=1 OR b=2 AND c=3", "a == 1 OR (b == 2 AND c == 3)"),
            ("a=1 AND b=2 OR c=3", "(a == 1 AND b == 2) OR c == 3"),
            ("a=1 && b=2 and c=3", "a == 1 AND b == 2 AND c == 3"),
            ("(a=1 AND b=2) AND c=3", "(a == 1 AND b == 2) AND c == 3"),
            ("(a=1 OR b=2) AND c=3", "(a == 1 OR b == 2) AND c == 3"),
            ("NOT a=1 AND b=2", "(NOT a == 1) AND b == 2"),
            ("!(a=1 AND b=2)", "NOT (a == 1 AND b == 2)"),
            ("!!a=1", "NOT (NOT a == 1)"),
            ("a+b > c*d || e = 1", "a + b > c * d OR e == 1"),
            ("((((a=1))))", "a == 1"),
            ("(a + b) > 3", "a + b > 3"),
            ("a + b*c**d - e = 0", "(a + (b * (c ** d))) - e == 0"),
            ("a UNION b MINUS c+d = e", "a UNION b MINUS c + d == e"),
            ("a - b - c = a / b / c", "(a - b) - c == (a / b) / c"),
            ("TRUEPREDICATE or falsepredicate", "TRUEPREDICATE OR FALSEPREDICATE"),
            ("a IN {1, 2} AND b BETWEEN {$low, $high}", "a IN {1, 2} AND b BETWEEN {$low, $high}"),
            ("SUBQUERY(items, $x, $x.done = NO).@count > 0", "SUBQUERY(items, $x, $x.done == 0).@count > 0"),
        ])
    func precedence(text: String, printed: String) throws {
        let predicate = try Predicate(parsing: text)
        #expect(predicate.predicateFormat == printed)
        #expect(try Predicate(parsing: predicate.formatString) == predicate)
    }
}
