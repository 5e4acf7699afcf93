import CausewayEngine
import CausewayExpressions
import CausewayModel
import CausewayPreparation
import CausewayStores
import Testing

@Suite("Validation: attributes", .timeLimit(.minutes(60)))
struct ValidationAttributeTests {
    /// One entity T with one attribute `a`, and its values from key 1 on.
    private func store(_ attribute: Attribute, _ values: String...) throws -> ValidationStore {
        var entity = Entity(name: "T")
        entity.attributes = [attribute]
        let rows = values.enumerated().map { "INSERT INTO ZT (Z_PK, Z_ENT, ZA) VALUES (\($0 + 1), 1, \($1));" }
        return try ValidationStore(ManagedObjectModel(entities: [entity]), rows: rows.joined())
    }

    private func store(_ type: String, _ extra: String, _ values: String...) throws -> ValidationStore {
        let rows = values.enumerated().map { "INSERT INTO ZT (Z_PK, Z_ENT, ZA) VALUES (\($0 + 1), 1, \($1));" }
        return try ValidationStore(model(entity("T", attribute("a", type, extra: extra))), rows: rows.joined())
    }

    @Test(
        "minimum and maximum of every kind of number",
        arguments: ["Integer 16", "Integer 32", "Integer 64", "Double", "Float", "Decimal"])
    func numbers(type: String) throws {
        let store = try store(type, "minValueString=\"-2\" maxValueString=\"7\"", "-2", "-3", "7", "8", "NULL")
        #expect(try store.stopped() == ["T.a p2 1620", "T.a p4 1610"])
    }

    @Test("a float is compared in a float's precision")
    func floats() throws {
        let tenth = Double(Float(0.1))
        let store = try store("Float", "minValueString=\"0.1\" maxValueString=\"0.1\"", "\(tenth)", "0.2")
        #expect(try store.stopped() == ["T.a p2 1610"])
    }

    @Test("NaN of a decimal is below every number")
    func notANumber() throws {
        let store = try store("Decimal", "minValueString=\"-5\" maxValueString=\"7.5\"", "'NaN'", "7.5", "7.51")
        #expect(try store.stopped() == ["T.a p1 1620", "T.a p3 1610"])
    }

    @Test("earliest and latest date")
    func dates() throws {
        let store = try store(
            "Date", "minDateTimeInterval=\"100\" maxDateTimeInterval=\"200.5\"", "100", "99.75", "200.5", "201")
        #expect(try store.stopped() == ["T.a p2 1640", "T.a p4 1630"])
    }

    @Test("a length counts UTF-16 code units, beyond the basic plane, after NULs and with several bytes a character")
    func lengths() throws {
        let store = try store(
            "String", "minValueString=\"3\" maxValueString=\"4\"",
            "'abc'", "'ab'", "'abcd'", "'abcde'", "'😀😀'", "'😀'", "'😀😀a'", "'äöü'", "'äö'", "'漢字漢字'", "'漢字漢字漢'",
            "'a' || char(0) || 'b'", "'a' || char(0) || 'bcd'", "NULL")
        #expect(
            try store.stopped() == [
                "T.a p2 1670", "T.a p4 1660", "T.a p6 1670", "T.a p7 1660", "T.a p9 1670", "T.a p11 1660",
                "T.a p13 1660",
            ])
    }

    @Test("a regular expression must match the whole text")
    func pattern() throws {
        let store = try store(
            "String", "regularExpressionString=\"[a-z]+@[a-z]+\\.org\"", "'me@home.org'", "'me@home.org '", "'a'",
            "NULL",
            "''")
        #expect(try store.stopped() == ["T.a p2 1680", "T.a p3 1680", "T.a p5 1680"])
    }

    @Test("a regular expression that can't be compiled is an error of the model, before anything runs")
    func badPattern() throws {
        let store = try store("String", "regularExpressionString=\"[a-\"", "NULL")
        let error = try failure { try store.validate(.stop) }
        #expect(error.kind == .plan)
        #expect(error.message.contains("T.a"))
    }

    @Test("a missing value of a mandatory attribute, of subentities too, is found in the rows that have the attribute")
    func mandatory() throws {
        let store = try ValidationStore(
            model(
                entity("A", attribute("x", optional: false)), entity("B", parent: "A", attribute("y", optional: false)),
                entity("C", parent: "A")),
            rows: """
                INSERT INTO ZA (Z_PK, Z_ENT, ZX, ZY) VALUES (1, 1, NULL, NULL), (2, 2, 'x', NULL), (3, 2, 'x', 'y'), \
                (4, 3, 'x', NULL), (5, 3, NULL, NULL)
                """)
        #expect(try store.stopped() == ["A.x p1 1570", "B.y p2 1570", "C.x p5 1570"])
    }

    @Test("derived and transient attributes aren't checked")
    func derived() throws {
        var entity = Entity(name: "T")
        var derived = Attribute(name: "d", type: .date)
        derived.derivation = Attribute.Derivation(expression: .function(operand: nil, name: "now", arguments: []))
        var transient = Attribute(name: "t", type: .string)
        transient.isTransient = true
        entity.attributes = [derived, transient]
        let store = try ValidationStore(
            ManagedObjectModel(entities: [entity]), rows: "INSERT INTO ZT (Z_PK, Z_ENT) VALUES (1, 1)")
        #expect(try store.validate(.stop).violations == 0)
    }

    @Test(
        "a composite's mandatory element is checked where the composite is there or must be",
        arguments: [true, false])
    func composite(isOptional: Bool) throws {
        var composite = Attribute(name: "c", type: .composite)
        composite.isOptional = isOptional
        var optional = Attribute(name: "o", type: .string)
        optional.isOptional = true
        composite.elements = [Attribute(name: "m", type: .string), optional]
        var entity = Entity(name: "T")
        entity.attributes = [composite]
        let store = try ValidationStore(
            ManagedObjectModel(entities: [entity]),
            rows: "INSERT INTO ZT (Z_PK, Z_ENT, ZM, ZO) VALUES (1, 1, NULL, NULL), (2, 1, NULL, 'o'), (3, 1, 'm', NULL)"
        )
        #expect(try store.stopped() == (isOptional ? [] : ["T.c.m p1 1570"]) + ["T.c.m p2 1570"])
    }

    @Test("predicates of code-built models: compounds, BETWEEN, IN, constants on the left, other codes")
    func predicates() throws {
        func check(_ text: String, _ type: AttributeType, _ values: [String]) throws -> [String] {
            var attribute = Attribute(name: "a", type: type)
            attribute.isOptional = true
            attribute.validations = [.init(predicate: try Predicate(parsing: text), warning: .string("no"))]
            let entity = { () -> Entity in
                var entity = Entity(name: "T")
                entity.attributes = [attribute]
                return entity
            }()
            let rows = values.enumerated().map { "INSERT INTO ZT (Z_PK, Z_ENT, ZA) VALUES (\($0 + 1), 1, \($1));" }
            return try ValidationStore(ManagedObjectModel(entities: [entity]), rows: rows.joined()).stopped()
        }
        #expect(try check("SELF BETWEEN {2, 4}", .integer64, ["1", "2", "4", "5"]) == ["T.a p1 1550", "T.a p4 1550"])
        #expect(try check("SELF IN {2, 4}", .integer64, ["2", "3", "4"]) == ["T.a p2 1550"])
        #expect(try check("10 >= SELF", .double, ["10", "11"]) == ["T.a p2 1550"])
        #expect(try check("SELF == 1 OR NOT SELF < 5", .integer64, ["1", "2", "5"]) == ["T.a p2 1550"])
        #expect(
            try check("length >= 1 AND length <= 2", .string, ["''", "'ab'", "'😀a'"]) == ["T.a p1 1550", "T.a p3 1550"])
        #expect(try check("SELF == 'a' OR SELF MATCHES 'b+'", .string, ["'a'", "'bb'", "'c'"]) == ["T.a p3 1550"])
        #expect(try check("SELF != 'é'", .string, ["'é'", "'e' || char(769)"]) == ["T.a p1 1550"])
    }

    @Test("a predicate of an unknown form isn't checked, and that is reported")
    func unknownPredicate() throws {
        var attribute = Attribute(name: "a", type: .string)
        attribute.isOptional = true
        attribute.validations = [
            .init(predicate: try Predicate(parsing: "SELF BEGINSWITH[cd] 'a'"), warning: .integer(1550))
        ]
        let store = try store(attribute, "'b'")
        let stage = try ValidationStage(layout: store.layout, storeUUID: ValidationStore.uuid, policy: .stop)
        #expect(stage.unchecked.count == 1)
        #expect(stage.unchecked.first?.hasPrefix("T.a:") == true)
        #expect(try store.validate(.stop).violations == 0)
    }

    // MARK: - Default

    @Test("a missing or wrong value becomes the default")
    func defaults() throws {
        let store = try ValidationStore(
            model(
                entity(
                    "T", attribute("a", "Integer 16", optional: false, default: "5", extra: "maxValueString=\"9\""),
                    attribute("s", default: "none", extra: "minValueString=\"2\""))),
            rows: "INSERT INTO ZT (Z_PK, Z_ENT, ZA, ZS) VALUES (1, 1, NULL, 'ok'), (2, 1, 10, 'x'), (3, 1, 9, NULL)")
        let outcome = try store.validate(.useDefault)
        #expect(try store.rows("SELECT ZA, ZS FROM ZT") == ["5|ok", "5|none", "9|NULL"])
        #expect(outcome.defaulted == 3)
        #expect(
            outcome.counts.map { "\($0.property) \($0.code) \($0.count)" } == ["a 1570 1", "a 1610 1", "s 1670 1"])
    }

    @Test("without a default, or with an invalid one, a violation stops the migration")
    func noDefault() throws {
        let store = try ValidationStore(
            model(
                entity(
                    "T", attribute("a", "Integer 16", optional: false),
                    attribute("b", "Integer 16", optional: false, default: "0", extra: "minValueString=\"1\""),
                    attribute("c", optional: false, default: "c"))),
            rows: "INSERT INTO ZT (Z_PK, Z_ENT) VALUES (7, 1)")
        #expect(try store.stopped(.useDefault) == ["T.a p7 1570", "T.b p7 1570"])
    }

    @Test("a default that breaks a uniqueness constraint stops the migration")
    func defaultClashes() throws {
        let store = try ValidationStore(
            model(
                """
                <entity name="T">\(attribute("a", optional: false, default: "x"))<uniquenessConstraints>\
                <uniquenessConstraint><constraint value="a"/></uniquenessConstraint></uniquenessConstraints></entity>
                """),
            rows: "INSERT INTO ZT (Z_PK, Z_ENT) VALUES (1, 1), (2, 1)")
        #expect(try store.stopped(.useDefault) == ["T.a p2 134111"])
    }
}
