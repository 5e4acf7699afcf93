import CausewayEvaluation
import CausewayExpressions
import CausewayModel
import Testing

@Suite("Arithmetic and functions", .timeLimit(.minutes(60)))
struct FunctionTests {
    private static let cases: [(String, Value)] = [
        // Integers give integers, also in divisions.
        ("1 + 2", 3), ("7 - 10", -3), ("6 * 7", 42), ("7 / 2", 3), ("-7 / 2", -3), ("1 / 3", 0), ("age + 1", 43),
        ("YES + 1", 2), ("modulus:by:(-7, 3)", -1), ("-age", -42), ("abs(-3)", 3),
        // A real operand gives a real.
        ("7 / 2.0", 3.5), ("1 + 0.5", 1.5), ("2 ** 3", 8.0), ("score * 2", 5.0), ("modulus:by:(7.5, 2)", 1.5),
        ("1.0 / 0", .real(.infinity)), ("sqrt(16)", 4.0), ("log(1000)", 3.0), ("ln(1)", 0.0), ("exp(0)", 1.0),
        ("ceiling(1.2)", 2.0), ("floor(-1.2)", -2.0), ("trunc(-1.7)", -1.0), ("round(2.5)", 3.0), ("round(3)", 3),
        // A decimal operand gives a decimal.
        ("cost + 1", .decimal("13.5")), ("cost * 2", .decimal("25")), ("cost / 8", .decimal("1.5625")),
        ("cost - 0.1", .decimal("12.4")), ("abs(-cost)", .decimal("12.5")), ("floor(cost)", .decimal("12")),
        ("CAST('1', 'NSDecimalNumber') / 3", .decimal("0.33333333333333333333333333333333333333")),
        ("CAST('0.1', 'NSDecimalNumber') + CAST('0.2', 'NSDecimalNumber')", .decimal("0.3")),
        ("modulus:by:(cost, 5)", .decimal("2.5")),
        // NULL gives NULL.
        ("boss.age + 1", nil), ("1 / boss.age", nil), ("sqrt(boss.age)", nil), ("uppercase(boss.name)", nil),
        ("bitwiseAnd:with:(6, 3)", 2), ("bitwiseOr:with:(6, 3)", 7), ("bitwiseXor:with:(6, 3)", 5),
        ("leftshift:by:(1, 4)", 16), ("rightshift:by:(16, 100)", 0), ("onesComplement:(0)", -1),
        ("FUNCTION(nil, 'multiply:by:', photo.length, 0.2)", .real(3 * 0.2)),
        ("FUNCTION(nil, 'now')", .date(Garage.now)), ("now()", .date(Garage.now)),
        ("uppercase(name)", "ANN"), ("lowercase(name)", "ann"), ("canonical(nick)", "elan"), ("length(nick)", 4),
        ("noindex:(name)", "Ann"),
        // Statistics.
        ("sum({1, 2, 3})", 6), ("sum({1, 2.5})", 3.5), ("count({1, 2})", 2), ("min({3, 1, 2})", 1),
        ("max({'a', 'b'})", "b"), ("average({1, 2})", 1.5), ("median({3, 1, 2, 10})", 2.5),
        ("mode({1, 2, 2, 3, 3})", [2, 3]), ("stddev({2, 4, 4, 4, 5, 5, 7, 9})", 2.0), ("sum({})", 0),
        ("average({})", nil), ("sum:(cars.price)", 150), ("count:(cars)", 3),
        // Casts.
        ("CAST(born, 'NSNumber')", 1000.0), ("CAST(age, 'NSDate')", .date(42)), ("CAST(age, 'NSString')", "42"),
        ("CAST(name.lowercaseString, 'NSURL')", .uri("ann")), ("CAST(name, 'NSUUID')", nil),
        ("CAST(token.UUIDString, 'NSUUID')", .uuid(Array(0..<16))), ("CAST(age.stringValue, 'NSNumber')", 42),
        ("CAST(score, 'NSDecimalNumber')", .decimal("2.5")), ("CAST(boss.age, 'NSString')", nil),
        ("CAST(site, 'NSString')", "https://user@example.com:8080/a%20b/c.txt?q=1#f"),
        // Collections.
        ("{1, 'a', nil}", [1, "a", nil]), ("{1, 2}[0]", 1), ("{1, 2}[LAST]", 2), ("{1, 2}[FIRST]", 1),
        ("{1, 2}[SIZE]", 2), ("{}[FIRST]", nil), ("cars[FIRST].model", "Alfa"),
        ("{1, 2} UNION {2.0, 3}", [1, 2, 3]), ("{1, 2} INTERSECT {2, 3}", [2]), ("{1, 2, 1} MINUS {2}", [1]),
        ("TERNARY(age > 18, 'adult', 'child')", "adult"), ("TERNARY(TRUEPREDICATE, 1, 2)", 1),
        ("SUBQUERY(cars, $c, $c.price > 60).@count", 1), ("SUBQUERY(cars, $c, $c.price == nil).model", ["Alfa"]),
        ("SUBQUERY(cars, $c, $c.owner == SELF).@count", 2),
        ("SUBQUERY($people, $p, SUBQUERY($p.cars, $c, $c.owner == $p).@count > 1).name", ["Ann"]),
        // Methods.
        ("FUNCTION(name, 'stringByAppendingString:', '!')", "Ann!"), ("FUNCTION(name, 'uppercaseString')", "ANN"),
        ("FUNCTION('the old-town', 'capitalizedString')", "The Old-Town"),
        ("FUNCTION(name, 'substringToIndex:', 2)", "An"), ("FUNCTION(name, 'substringFromIndex:', 1)", "nn"),
        ("FUNCTION(name, 'stringByReplacingOccurrencesOfString:withString:', 'n', 'mm')", "Ammmm"),
        ("FUNCTION('a,b,,c', 'componentsSeparatedByString:', ',')", ["a", "b", "", "c"]),
        ("FUNCTION('a,b', 'componentsSeparatedByString:', ',')[1]", "b"),
        ("FUNCTION({'a', 'b'}, 'componentsJoinedByString:', '-')", "a-b"),
        ("FUNCTION(' 12x', 'integerValue')", 12), ("FUNCTION('-1.5e2z', 'doubleValue')", -150.0),
        ("FUNCTION(cars, 'count')", 3), ("FUNCTION({1, 2}, 'objectAtIndex:', 1)", 2),
        ("FUNCTION({1, 2}, 'firstObject')", 1), ("FUNCTION({}, 'lastObject')", nil),
        ("FUNCTION(name, 'isEqual:', 'Ann')", true), ("FUNCTION(boss.name, 'isEqual:', 'Ann')", false),
        ("FUNCTION(name, 'hasPrefix:', 'A')", true), ("FUNCTION(boss.name, 'stringByAppendingString:', '!')", nil),
        ("FUNCTION(FUNCTION(name, 'substringToIndex:', 1), 'stringByAppendingString:', '...')", "A..."),
        ("FUNCTION(born, 'dateByAddingTimeInterval:', 60)", .date(1060)),
        ("FUNCTION($entityPolicy, 'echo:', age)", 42),
        ("FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', 'M', nil)", ["M", nil]),
    ]

    @Test("an expression gives its value", arguments: cases.indices)
    func value(index: Int) throws {
        let (text, expected) = Self.cases[index]
        #expect(try Garage().value(text) == expected, "\(text)")
    }

    @Test(
        "an expression that fails at a row gives an error without a value",
        arguments: [
            "age / (age - 42)", "9223372036854775807 + age", "9223372036854775807 * age", "{1, 2}[age]",
            "FUNCTION(name, 'substringToIndex:', age)", "FUNCTION(name, 'substringFromIndex:', 9223372036854775807)",
            "FUNCTION(name, 'substringToIndex:', -1)", "CAST(1.0 / (age - 42), 'NSDecimalNumber')",
            "FUNCTION(name, 'stringByAppendingString:', boss.name)",
            "CAST(name, 'NSNumber')", "$query + 1", "$query.port", "FUNCTION($entityPolicy, 'fail')", "$info",
            "modulus:by:(age, age - 42)", "cost / (age - 42)",
        ])
    func failing(text: String) throws {
        let garage = Garage()
        let compiled = try garage.compiler.compile(Expression(parsing: text))
        let error = #expect(throws: EvaluationError.self) { try compiled.evaluate(garage.scope()) }
        #expect(error?.message.contains("Ann") == false)
        #expect(error?.message.contains("“an”") == false)
    }

    @Test("compiled expressions run on several threads at once, each with its scope")
    func sharing() async throws {
        let compiled = try Garage().compiler.compile(
            Expression(parsing: "SUBQUERY(cars, $c, $c.price > 60).@count + 1"))
        try await withThrowingTaskGroup(of: Value.self) { group in
            for _ in 0..<8 { group.addTask { try compiled.evaluate(Garage().scope()) } }
            for try await value in group { #expect(value == 2) }
        }
    }
}
