import CausewayExpressions
import CausewayPlist
import Testing

/// One text for each case of the tree.
private enum ArchivedTexts {
    static let all = [
        "SELF", "nil", "YES", "NO", "12", "-1.5", "'text'", "$x", "a", "a.b", "$source.a", "$source.a.b", "a[0]",
        "a[FIRST]", "a[LAST]", "a[SIZE]", "now()", "count:(a)", "a + b * 2", "FUNCTION($m, 'x:y:', 1, a)", "{1, a}",
        "SUBQUERY(a, $x, $x.b = 1)", "FETCH($r, $c, YES)", "FETCH($r, $c, NO)", "a UNION b", "a INTERSECT b",
        "a MINUS b", "TERNARY(a = 1, b, c)", "CAST(a, 'NSDate')", "CAST(12.5, 'NSDate')", "CAST('00ff', 'NSData')",
        "CAST('12345678-1234-1234-1234-1234567890AB', 'NSUUID')", "CAST('http://x', 'NSURL')",
        "CAST('-12.50', 'NSDecimalNumber')", "CAST('NaN', 'NSDecimalNumber')",
        "CAST('340282366920938463463374607431768211455', 'NSDecimalNumber')", "(a).b",
        "CAST('-12000000000000000000000000000000000000000000', 'NSDecimalNumber')",
    ]
}

@Suite("Archiving expressions", .timeLimit(.minutes(60)))
struct ArchiveRoundTripTests {
    private func archive(_ expression: Expression) throws -> KeyedArchive {
        var writer = KeyedArchiveWriter()
        let root = try expression.archive(into: &writer)
        return try KeyedArchive(parsing: writer.bytes(root: root))
    }

    @Test("every kind of expression comes back", arguments: ArchivedTexts.all)
    func expressions(text: String) throws {
        let expression = try Expression(parsing: text)
        let archive = try archive(expression)
        #expect(try Expression(archive: archive, at: archive.root) == expression)
    }

    @Test("every operator, modifier and option comes back", arguments: OperatorSpellings.all)
    func predicates(text: String, operation: ComparisonOperator) throws {
        for modifier in [Predicate.Modifier.direct, .any, .all] {
            for options in 0..<16 {
                let predicate = Predicate.comparison(
                    .init(
                        .key("a"), operation, .constant(.string("x")), modifier: modifier,
                        options: .init(rawValue: options)))
                var writer = KeyedArchiveWriter()
                let root = try predicate.archive(into: &writer)
                let archive = try KeyedArchive(parsing: writer.bytes(root: root))
                #expect(try Predicate(archive: archive, at: archive.root) == predicate)
            }
        }
    }

    @Test("compounds of any number of terms come back")
    func compounds() throws {
        let term = Predicate.literal(true)
        for predicate in [Predicate.and([]), .or([]), .and([term]), .or([term, .not(term), .literal(false)])] {
            var writer = KeyedArchiveWriter()
            let root = try predicate.archive(into: &writer)
            let archive = try KeyedArchive(parsing: writer.bytes(root: root))
            #expect(try Predicate(archive: archive, at: archive.root) == predicate)
        }
    }

    @Test("random trees come back", arguments: 0..<10)
    func randomTrees(seed: Int) throws {
        var trees = RandomTrees(seed: UInt64(seed) + 77)
        for _ in 0..<50 {
            let expression = trees.expression(4)
            let archive = try archive(expression)
            #expect(try Expression(archive: archive, at: archive.root) == expression)
        }
    }

    @Test("collections, their nulls and sorted keys come back")
    func collections() throws {
        let constant = Constant.dictionary([
            .init(key: "a", value: .array([.null, .integer(1), .boolean(true), .real(0.5), .array([])])),
            .init(key: "b", value: .data([1])),
        ])
        var writer = KeyedArchiveWriter()
        let root = try constant.archive(into: &writer)
        let archive = try KeyedArchive(parsing: writer.bytes(root: root))
        #expect(try Constant(archive: archive, at: archive.root) == constant)
    }

    @Test("an app's own class is a foreign constant, and can't be written")
    func foreign() throws {
        var writer = KeyedArchiveWriter()
        let root = writer.add(ArchivedClass(["MyColor", "NSObject"]), [("red", .integer(1))])
        let archive = try KeyedArchive(parsing: writer.bytes(root: root))
        let constant = try Constant(archive: archive, at: archive.root)
        #expect(constant == .foreign(className: "MyColor"))
        let error = #expect(throws: ExpressionArchiveError.self) { try constant.archive(into: &writer) }
        #expect(error?.code == .unsupported)
    }

    @Test(
        "classes that the language doesn't have are refused by name",
        arguments: [
            ("NSBlockExpression", ExpressionArchiveError.Code.unsupported),
            ("NSVariableAssignmentExpression", .unsupported), ("MyExpression", .unknownClass),
            ("NSArray", .unknownClass), ("NSVariableExpression", .malformed), ("NSFunctionExpression", .malformed),
            ("NSSubqueryExpression", .malformed), ("NSSetExpression", .malformed),
        ])
    func unknownClasses(name: String, code: ExpressionArchiveError.Code) throws {
        var writer = KeyedArchiveWriter()
        let root = writer.add(ArchivedClass([name, "NSExpression", "NSObject"]), [])
        let archive = try KeyedArchive(parsing: writer.bytes(root: root))
        let error = #expect(throws: ExpressionArchiveError.self) {
            try Expression(archive: archive, at: archive.root)
        }
        #expect(error?.code == code)
        #expect(error?.message.contains(name) == true)
    }

    @Test("cycles and shared references past the limits are refused")
    func hostileGraphs() throws {
        let kind = ArchivedClass(["NSCompoundPredicate", "NSPredicate", "NSObject"])
        var writer = KeyedArchiveWriter()
        let loop = writer.reserve()
        let list = writer.array([loop])
        writer.fill(loop, kind, [("NSSubpredicates", .reference(list))])
        let cycle = try KeyedArchive(parsing: writer.bytes(root: loop))
        var error = #expect(throws: ExpressionArchiveError.self) { try Predicate(archive: cycle, at: cycle.root) }
        #expect(error?.code == .limitExceeded)

        writer = KeyedArchiveWriter()
        var node = writer.add(ArchivedClass(["NSTruePredicate", "NSPredicate", "NSObject"]), [])
        for _ in 0..<100 {
            let pair = writer.array([node, node])
            node = writer.add(kind, [("NSCompoundPredicateType", .integer(1)), ("NSSubpredicates", .reference(pair))])
        }
        let bomb = try KeyedArchive(parsing: writer.bytes(root: node))
        error = #expect(throws: ExpressionArchiveError.self) { try Predicate(archive: bomb, at: bomb.root) }
        #expect(error?.code == .limitExceeded)
    }

    @Test("a long list that is shared many times is refused")
    func sharedList() throws {
        var writer = KeyedArchiveWriter()
        let number = writer.integer(1)
        var list = writer.array(Array(repeating: number, count: 2000))
        list = writer.array(Array(repeating: list, count: 2000))
        let archive = try KeyedArchive(parsing: writer.bytes(root: list))
        let error = #expect(throws: ExpressionArchiveError.self) { try Constant(archive: archive, at: archive.root) }
        #expect(error?.code == .limitExceeded)
    }

    @Test("the archive of a bare key has the classes and keys that Core Data writes")
    func shape() throws {
        let single = try archive(.key("a"))
        #expect(try single.integer(single.field("NSExpressionType", of: single.root)) == 3)
        #expect(try single.string(single.field("NSSelectorName", of: single.root)) == "valueForKey:")
        let path = try archive(.key("a.b"))
        #expect(try path.string(path.field("NSSelectorName", of: path.root)) == "valueForKeyPath:")
        let onVariable = try archive(.keyPath(operand: .variable("source"), path: "a"))
        #expect(try onVariable.integer(onVariable.field("NSExpressionType", of: onVariable.root)) == 4)
        #expect(try onVariable.string(onVariable.field("NSSelectorName", of: onVariable.root)) == "valueForKeyPath:")
        let null = try archive(.constant(.null))
        #expect(null.fieldNames(of: null.root).sorted() == ["NSConstantValueClassName", "NSExpressionType"])
    }
}
