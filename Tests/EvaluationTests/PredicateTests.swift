import CausewayEvaluation
import CausewayExpressions
import CausewayModel
import Testing

@Suite("Predicates", .timeLimit(.minutes(60)))
struct PredicateTests {
    @Test(
        "conditions that hold",
        arguments: [
            "TRUEPREDICATE", "age == 42", "age = 42.0", "age != 41", "age <> 41", "age < 43", "age <= 42", "age > 41",
            "age >= 42", "isActive == YES", "isActive == 1", "isActive = true", "1 == 1.0", "cost == 12.5",
            "cost > 12", "score > 2 AND score < 3", "cost == CAST('12.50', 'NSDecimalNumber')",
            "9007199254740993 > 9007199254740992.0",
            // NULL.
            "boss == nil", "nil == nil", "boss.age == nil", "name != nil", "boss.age != 3", "NOT (boss.age < 3)",
            "NOT (boss.age > 3)", "NOT (boss.age >= nil)", "NOT (boss.name BEGINSWITH 'A')", "NOT (boss.name LIKE '*')",
            "NOT (boss.name MATCHES '.*')", "NOT (boss.name CONTAINS '')", "NOT (boss.name IN {'a'})",
            "boss.name IN {nil, 'a'}", "NOT (age BETWEEN {nil, 50})",
            // Strings.
            "name == 'Ann'", "name ==[c] 'ANN'", "nick ==[cd] 'elan'", "nick ==[d] 'Elan'", "NOT (nick == 'Elan')",
            "'e\\u0301' != '\\u00e9'", "'e\\u0301' ==[d] '\\u00e9'", "'straße' ==[c] 'STRASSE'", "'σας' ==[c] 'ΣΑΣ'",
            "'Ä' ==[cd] 'a'", "name < 'B'", "'Z' < 'a'", "'B' >[c] 'a'", "name BEGINSWITH 'A'",
            "name BEGINSWITH[c] 'a'",
            "name ENDSWITH 'nn'", "name CONTAINS 'n'", "name CONTAINS[cd] 'N'", "'n' IN name", "name CONTAINS ''",
            "name LIKE 'A*'", "name LIKE 'A??'", "name LIKE '*n*'", "NOT (name LIKE 'A?')", "name LIKE[c] 'a*'",
            "'a*b' LIKE 'a\\\\*b'", "NOT ('axb' LIKE 'a\\\\*b')", "nick LIKE[cd] 'e?a*n'",
            "name MATCHES '[A-B]n+'", "NOT (name MATCHES 'A')", "name MATCHES[c] 'ann'", "nick MATCHES[cd] 'elan'",
            // Collections.
            "age IN {1, 42}", "age IN {1.0, 42.0}", "name IN {'Ann', 'Ben'}", "name IN[c] {'ann'}", "{1, 2} CONTAINS 2",
            "age BETWEEN {40, 42}", "NOT (age BETWEEN {43, 50})", "name BETWEEN {'A', 'B'}", "$query IN {'an'}",
            "age IN {1, 2, 3, 4, 5, 6, 7, 8, 9, 42}", "ANY cars.model == 'Beetle'", "ANY cars.price > 60",
            "ALL cars.price >= 50", "NONE cars.model == 'Fiat'", "SOME cars.model BEGINSWITH 'B'",
            "NOT (ANY boss.cars.model == 'x')", "ALL boss.cars.price > 1", "cars.@count == 3", "cars.@count > 1",
            "SUBQUERY(cars, $c, $c.price > 60 AND $c.model BEGINSWITH 'A').@count == 1", "ANY cars.owner == SELF",
            "ANY cars.owner == $source", "SELF == $source", "ANY $people.name ==[c] 'BEN'", "SELF IN $people",
            "$people CONTAINS SELF", "cars.@avg.price >= 50", "ANY cars.speed == 250",
            // Others.
            "born == CAST(1000, 'NSDate')", "born < CAST(1001, 'NSDate')", "born < now()",
            "token == CAST('00010203-0405-0607-0809-0a0b0c0d0e0f', 'NSUUID')", "site.scheme == 'https'",
            "photo != nil", "entity.name == 'Person'", "extra == nil",
            // Compounds stop once their result is certain.
            "age == 42 OR 1 / (age - 42) == 1", "NOT (age == 1 AND 1 / (age - 42) == 1)", "!(FALSEPREDICATE)",
            "age == 1 || (name == 'Ann' && age == 42)",
        ])
    func holds(text: String) throws {
        #expect(try Garage().holds(text), "\(text)")
    }

    @Test("a condition that's the same for every row is known when it's planned")
    func constants() throws {
        func constant(_ text: String) throws -> Bool? {
            try Garage().compiler.compile(Predicate(parsing: text)).constant
        }
        #expect(try constant("TRUEPREDICATE") == true)
        #expect(try constant("age == 1 AND FALSEPREDICATE") == false)
        #expect(try constant("age == 1 OR NOT FALSEPREDICATE") == true)
        #expect(try constant("age == 1") == nil)
    }

    @Test("a comparison of values without an order is an error, also where only the row shows it")
    func unordered() throws {
        #expect(throws: EvaluationError.self) { try Garage().holds("$query < 1") }
        #expect(try Garage().holds("$query != 1"))
    }

    /// Ann's boss is NULL.
    @Test(
        "a filter doesn't choose a row where a comparison with NULL is unknown, nor does its negation",
        arguments: [
            "boss.age != 3", "boss.age == 3", "boss.age < 3", "boss.age >= 3", "boss.age == boss.score",
            "boss.age != boss.score", "boss.age > nil", "boss.name BEGINSWITH 'A'", "boss.name LIKE '*'",
            "boss.name MATCHES '.*'", "boss.name CONTAINS ''", "boss.name ==[c] 'a'", "boss.name IN {'a'}",
            "boss.name IN {nil, 'a'}", "age IN {nil, 1}", "age IN {nil, 1, 2, 3, 4, 5, 6, 7, 8}", "age IN {boss.age}",
            "{boss.age, 1} CONTAINS age", "age BETWEEN {nil, 50}", "boss.age BETWEEN {1, 2}",
            "age BETWEEN {1, boss.age}",
            "boss.age != 3 AND age == 42", "boss.age != 3 OR age == 1", "ANY cars.price == boss.age",
            "ALL cars.price != boss.age", "boss.age + 1 != 3", "boss.isActive != YES",
        ])
    func unknown(text: String) throws {
        #expect(try !Garage().chooses(text), "\(text)")
        #expect(try !Garage().chooses("NOT (\(text))"), "NOT (\(text))")
    }

    @Test(
        "a filter chooses the row",
        arguments: [
            "boss == nil", "nil == boss", "boss.age == nil", "NOT (boss.age != nil)", "name != nil", "age != nil",
            "boss.name ==[c] nil", "boss.age == $none", "name != $none", "nil == nil", "boss.age != 3 OR age == 42",
            "NOT (boss.age != 3 AND age == 1)", "NOT (age BETWEEN {nil, 40})", "NOT (age BETWEEN {43, boss.age})",
            "age IN {nil, 42}", "NOT (boss.age IN {})", "boss.age == nil OR boss.age != 3", "age BETWEEN {40, 42}",
            "SUBQUERY(cars, $c, $c.price != 50).@count == 1", "SUBQUERY(cars, $c, NOT ($c.price == 50)).@count == 1",
            "TERNARY(boss.age != 3, 1, 2) == 2", "NOT (boss.name IN {'a'}) OR boss.name == nil",
        ])
    func chosen(text: String) throws {
        #expect(try Garage().chooses(text), "\(text)")
    }
}
