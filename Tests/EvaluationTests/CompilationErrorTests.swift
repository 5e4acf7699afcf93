import CausewayEvaluation
import CausewayExpressions
import CausewayModel
import Testing

@Suite("Planning errors", .timeLimit(.minutes(60)))
struct CompilationErrorTests {
    @Test(
        "an expression that doesn't fit the model is an error that says what is wrong",
        arguments: [
            ("$source.nam", CompilationError.Code.unknownKey, "Person has no property `nam`; did you mean `name`?"),
            ("titel", .unknownKey, "Person has no property `titel`"),
            ("boss.boss.nmae", .unknownKey, "did you mean `name`?"),
            ("cars.modle", .unknownKey, "Car has no property `modle`; did you mean `model`?"),
            ("address.town", .unknownKey, "Person.address has no property `town`"),
            ("address.ctiy", .unknownKey, "did you mean `city`?"),
            ("name.lenght", .unknownKey, "a string has no key `lenght`; did you mean `length`?"),
            ("age.host", .unknownKey, "a number has no key `host`"),
            ("cars.@cuont", .unknownKey, "did you mean `@count`?"),
            ("name.@count", .type, "`@count` works on a collection, and this is a string"),
            ("cars.@sum.model", .type, "`@sum` needs numbers, and this is a string"),
            ("$people.@distinctUnionOfSets.name", .type, "joins collections"),
            ("$people.@unionOfSets.cars.@count", .type, "each member gives a number"),
            ("rivals", .unsupported, "`rivals` is a fetched property"),
            ("$sorce.name", .unknownVariable, "There is no variable $sorce here; did you mean `$source`?"),
            ("$manager", .type, "the migration manager has functions and keys"),
            ("$manager.sourceContext", .unknownKey, "the migration manager has no key `sourceContext`"),
            ("$entityMapping.nmae", .unknownKey, "the entity mapping has no key `nmae`; did you mean `name`?"),
            ("$entityMapping.mappingType", .unknownKey, "the entity mapping has no key `mappingType`"),
            ("$entityMapping.userInfo", .type, "`userInfo` of the entity mapping is no value"),
            ("$propertyMapping.foo.bar", .unknownKey, "the property mapping has no key `foo`"),
            ("FUNCTION($entityPolicy, 'nope:', 1)", .unknownFunction, "the policy has no function `nope:`"),
            ("FUNCTION($entityPolicy, 'echo:', 1, 2)", .unknownFunction, "`echo:` takes 1 arguments, not 2"),
            (
                "FUNCTION(name, 'stringByAppendigString:', 'x')", .unknownFunction,
                "did you mean `stringByAppendingString:`"
            ),
            ("FUNCTION(name, 'stringByTrimmingCharactersInSet:', nil)", .unsupported, "trim in a policy"),
            (
                "upercase(name)", .unknownFunction,
                "There is no built-in function `upercase:`; did you mean `uppercase:`?"
            ),
            ("random()", .unsupported, "two runs of a migration"),
            ("random(5)", .unsupported, "two runs of a migration"),
            ("FETCH(FUNCTION($manager, 'x'), $manager.c, NO)", .unsupported, "can't be part of a value"),
            ("name + 1", .type, "`add:to:` takes a number, not a string"),
            ("uppercase(age)", .type, "`uppercase:` takes a string, not a number"),
            ("1 / 0", .type, "divides by zero"),
            ("CAST(name, 'NSSet')", .unsupported, "CAST to NSSet isn't supported"),
            ("CAST(photo, 'NSDate')", .type, "binary data can't be cast to NSDate"),
            ("age[0]", .type, "takes a member of a collection"),
            ("SUBQUERY(name, $x, TRUEPREDICATE)", .type, "SUBQUERY searches a collection"),
            ("name UNION cars", .type, "UNION joins collections"),
        ] as [(String, CompilationError.Code, String)])
    func expression(text: String, code: CompilationError.Code, message: String) throws {
        let expression = try Expression(parsing: text)
        let error = #expect(throws: CompilationError.self) { try Garage().compiler.compile(expression) }
        #expect(error?.code == code, "\(text)")
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        #expect(error?.text == expression.formatString)
    }

    @Test(
        "a predicate whose sides can't be compared is refused",
        arguments: [
            ("name < cars", "write ANY or ALL"), ("name == cars", "write ANY or ALL"),
            ("cars.model == 'x'", "ANY or ALL"),
            ("name == 1", "a string never equals a number"), ("boss == 'x'", "name one of its attributes"),
            ("born > 5", "write CAST(number, \"NSDate\")"), ("token == 'x'", "write CAST(text, \"NSUUID\")"),
            ("site == 'x'", "url.absoluteString"), ("age LIKE '1*'", "LIKE compares strings, not a number"),
            ("boss < boss", "compares numbers, strings or dates"), ("age BETWEEN 5", "BETWEEN needs {low, high}"),
            ("age BETWEEN {'a', 'b'}", "a number can't be compared with a string"), ("age IN 5", "IN searches"),
            ("age IN {'a'}", "a number never equals a string"), ("age IN name", "A string contains strings"),
            ("ANY name == 'x'", "need a collection on the left"), ("name <[l] 'x'", "depends on the device's language"),
            ("photo > photo", "compares numbers, strings or dates"),
        ])
    func predicate(text: String, message: String) throws {
        let predicate = try Predicate(parsing: text)
        let error = #expect(throws: CompilationError.self) { try Garage().compiler.compile(predicate) }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    @Test("an error names the place, the key and the entity")
    func place() throws {
        let predicate = try Predicate(parsing: "age > 1 AND name == boss.titel")
        let error = #expect(throws: CompilationError.self) { try Garage().compiler.compile(predicate) }
        #expect(error?.name == "titel")
        #expect(error?.entity == "Person")
        #expect(error?.path == ["term 2 of AND", "right side of =="])
        #expect(error?.offset == predicate.formatString.utf8.count - 5)
        #expect(error?.description.contains("at column") == true)
    }

    @Test("trees deeper than the limit are refused")
    func depth() throws {
        var expression = Expression.constant(.integer(1))
        for _ in 0..<200 { expression = .function(operand: nil, name: "chs:", arguments: [expression]) }
        let error = #expect(throws: CompilationError.self) { try Garage().compiler.compile(expression) }
        #expect(error?.code == .limitExceeded)
    }

    @Test("bare keys are refused where there is no evaluated object")
    func noEvaluatedObject() throws {
        let compiler = ExpressionCompiler(evaluated: nil)
        #expect(throws: CompilationError.self) { try compiler.compile(Expression.key("name")) }
    }
}
