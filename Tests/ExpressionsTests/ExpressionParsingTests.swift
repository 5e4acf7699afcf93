import CausewayExpressions
import Testing

@Suite("Parsing expressions", .timeLimit(.minutes(60)))
struct ExpressionParsingTests {
    @Test(
        "literals",
        arguments: [
            ("12", Constant.integer(12)), ("-12", .integer(-12)), ("- 12", .integer(-12)), ("0x1F", .integer(31)),
            ("0o17", .integer(15)), ("0b101", .integer(5)), ("9223372036854775807", .integer(.max)),
            ("-9223372036854775808", .integer(.min)), ("9223372036854775808", .real(9_223_372_036_854_775_808)),
            ("-9223372036854775809", .real(-9_223_372_036_854_775_808)), ("1.5", .real(1.5)), (".5", .real(0.5)),
            ("-1.5e-3", .real(-0.0015)), ("2e3", .real(2000)), ("YES", .boolean(true)), ("no", .boolean(false)),
            ("True", .boolean(true)), ("FALSE", .boolean(false)), ("nil", .null), ("NULL", .null),
            ("\"\"", .string("")),
            ("CAST(12.5, \"NSDate\")", .date(12.5)), ("CAST('1.50', 'NSDecimalNumber')", .decimal("1.50")),
        ])
    func literals(text: String, value: Constant) throws {
        #expect(try Expression(parsing: text) == .constant(value))
        #expect(try Expression(parsing: Expression.constant(value).formatString) == .constant(value))
    }

    @Test(
        "escapes in strings",
        arguments: [
            (#"'a\nb'"#, "a\nb"), (#"'\t\r'"#, "\t\r"), (#"'\''"#, "'"), (#""\"'""#, "\"'"), (#"'\\d'"#, "\\d"),
            (#"'\u00e9\x41'"#, "éA"), (#"'\ud83d\ude00'"#, "😀"), (#"'\d\é'"#, "dé"), ("'%é'", "%é"),
        ])
    func escapes(text: String, value: String) throws {
        #expect(try Expression(parsing: text) == .constant(.string(value)))
    }

    @Test("keys, variables and key paths")
    func keyPaths() throws {
        #expect(try Expression(parsing: "SELF") == .evaluatedObject)
        #expect(try Expression(parsing: "self.a.b") == .key("a.b"))
        #expect(try Expression(parsing: "a.b.@count") == .key("a.b.@count"))
        #expect(try Expression(parsing: "@distinctUnionOfSets.x") == .key("@distinctUnionOfSets.x"))
        #expect(try Expression(parsing: "$source.a.b") == .keyPath(operand: .variable("source"), path: "a.b"))
        #expect(try Expression(parsing: "#size.#first.name") == .key("size.first.name"))
        #expect(try Expression(parsing: "größe") == .key("größe"))
        #expect(try Expression(parsing: "(a).b") == .keyPath(operand: .key("a"), path: "b"))
        #expect(Expression.key("a.size").formatString == "a.#size")
    }

    @Test("indexes, FIRST, LAST and SIZE")
    func indexes() throws {
        func index(_ index: Expression) -> Expression {
            .function(operand: nil, name: "objectFrom:withIndex:", arguments: [.key("a"), index])
        }
        #expect(try Expression(parsing: "a[0]") == index(.constant(.integer(0))))
        #expect(try Expression(parsing: "a[FIRST]") == index(.firstElement))
        #expect(try Expression(parsing: "a[last]") == index(.lastElement))
        #expect(try Expression(parsing: "a[SIZE]") == index(.elementCount))
        #expect(try Expression(parsing: "a[FIRST].b") == .keyPath(operand: index(.firstElement), path: "b"))
        #expect(index(.firstElement).formatString == "a[FIRST]")
    }

    @Test("calls")
    func calls() throws {
        #expect(try Expression(parsing: "now()") == .function(operand: nil, name: "now", arguments: []))
        #expect(try Expression(parsing: "sum(x)") == .function(operand: nil, name: "sum:", arguments: [.key("x")]))
        #expect(
            try Expression(parsing: "canonical:(name)")
                == .function(operand: nil, name: "canonical:", arguments: [.key("name")]))
        #expect(
            try Expression(parsing: "FUNCTION($m, 'a:b:', 1, x)")
                == .function(
                    operand: .variable("m"), name: "a:b:", arguments: [.constant(.integer(1)), .key("x")]))
        #expect(try Expression(parsing: "function(nil, \"now\")") == Expression(parsing: "now()"))
        #expect(try Expression(parsing: "-x") == .function(operand: nil, name: "chs:", arguments: [.key("x")]))
        #expect(
            try Expression(parsing: "FETCH($r, $m.sourceContext, NO)")
                == .fetch(
                    request: .variable("r"), context: .keyPath(operand: .variable("m"), path: "sourceContext"),
                    countOnly: false))
        #expect(
            try Expression(parsing: "TERNARY(a = 1, 'x', nil)")
                == .conditional(
                    .comparison(.init(.key("a"), .equalTo, .constant(.integer(1)))), .constant(.string("x")),
                    .constant(.null)))
        #expect(
            try Expression(parsing: "CAST(a, 'NSString')")
                == .function(
                    operand: nil, name: "castObject:toType:", arguments: [.key("a"), .constant(.string("NSString"))]))
        #expect(try Expression(parsing: "ternary") == .key("ternary"))
    }

    @Test(
        "derivations are folded and printed as Core Data hashes them",
        arguments: [
            ("now()", "now()"), ("primaryLabel.code", "primaryLabel.code"), ("pages.@count", "count:(pages)"),
            ("a.pages.@count", "count:(a.pages)"), ("lines.price.@sum", "sum:(lines.price)"),
            ("lines.@total", "sum:(lines)"), ("canonical:(name)", "canonical:(name)"), ("@count", "@count"),
            ("count:(pages)", "count:(pages)"),
        ])
    func derivations(text: String, printed: String) throws {
        #expect(try Expression.derivation(parsing: text).predicateFormat == printed)
    }

    @Test("mapping model texts have their bytes swapped")
    func mappingModelText() {
        #expect(#"ads.@count\u3e001"#.unescapingMappingModel == "ads.@count>1")
        #expect(#"\u3c00"#.unescapingMappingModel == "<")
        #expect(#"\u3dd800de é"#.unescapingMappingModel == #"\u3dd800de é"#)
        #expect(#"\u3dd8\u00de!"#.unescapingMappingModel == "😀!")
        #expect(#"\u3c0"#.unescapingMappingModel == #"\u3c0"#)
        #expect(#"\u"#.unescapingMappingModel == #"\u"#)
    }
}
