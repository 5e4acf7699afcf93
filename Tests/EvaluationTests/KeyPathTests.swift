import CausewayEvaluation
import CausewayExpressions
import CausewayModel
import Testing

@Suite("Key paths", .timeLimit(.minutes(60)))
struct KeyPathTests {
    private static let cases: [(String, Value)] = [
        ("name", "Ann"), ("SELF.name", "Ann"), ("$source.name", "Ann"), ("$source.age", 42),
        ("boss", nil), ("boss.name", nil), ("boss.boss.cars", nil), ("$source.self.name", "Ann"),
        ("address.city", "Paris"), ("$source.address.geo.zip", 75), ("address.city.length", 5),
        ("name.length", 3), ("nick.length", 4), ("photo.length", 3), ("site.absoluteString.length", 47),
        ("site.host", "example.com"), ("site.path", "/a b/c.txt"), ("site.lastPathComponent", "c.txt"),
        ("site.pathExtension", "txt"), ("site.scheme", "https"), ("site.port", 8080), ("site.query", "q=1"),
        ("site.fragment", "f"), ("objectID.URIRepresentation", .uri("x-coredata://STORE/Person/p1")),
        ("$source.objectID.URIRepresentation.path", "/Person/p1"),
        ("objectID.URIRepresentation.absoluteString", "x-coredata://STORE/Person/p1"),
        ("entity.name", "Person"), ("entity", "Person"), ("objectID.entity.name", "Person"),
        ("age.stringValue", "42"), ("score.stringValue", "2.5"), ("isActive.stringValue", "1"),
        ("cost.stringValue", "12.5"), ("score.intValue", 2), ("score.integerValue", 2), ("age.doubleValue", 42.0),
        ("age.boolValue", true), ("score.floatValue", 2.5), ("age.description", "42"),
        ("name.uppercaseString", "ANN"), ("nick.lowercaseString", "élan"), ("name.integerValue", 0),
        ("token.UUIDString", "00010203-0405-0607-0809-0A0B0C0D0E0F"),
        ("born.timeIntervalSinceReferenceDate", 1000.0), ("born.timeIntervalSince1970", 978_308_200.0),
        ("born.description", "2001-01-01 00:16:40 +0000"),
        ("cars.@count", 3), ("cars.count", 3), ("cars.@sum.price", .decimal("150")),
        ("cars.price.@sum", .decimal("150")), ("cars.@avg.price", .decimal("50")),
        ("cars.@sum.price / 8", .decimal("18.75")), ("cars.@avg.price / 8", .decimal("6.25")),
        ("cars.@sum.weight", 4.0), ("boss.cars.@sum.price", nil), ("cars.@min.price", 50), ("cars.@max.price", 100),
        ("cars.@max.model", "Beetle"),
        ("cars.model", ["Alfa", "Beetle"]), ("cars.@unionOfObjects.model", ["Alfa", "Beetle", "Alfa"]),
        ("cars.@distinctUnionOfObjects.model", ["Alfa", "Beetle"]), ("cars.price", [100, 50]),
        ("cars.owner.name", ["Ann"]), ("cars.speed", [250]), ("$people.@count", 2),
        ("count:($people.@distinctUnionOfSets.cars)", 3), ("count:($people.@unionOfSets.cars)", 3),
        ("$people.cars.@count", 2), ("boss.cars.@count", nil), ("FUNCTION($source, 'valueForKey:', 'name')", "Ann"),
        ("FUNCTION($source, 'valueForKeyPath:', 'address.city')", "Paris"), ("FUNCTION($source, 'name')", "Ann"),
        ("FUNCTION($source, 'valueForKeyPath:', lowercase(name.uppercaseString.lowercaseString))", nil),
        ("extra", nil), ("extra.whatever", nil), ("$info.user.search", "found"), ("$query.length", 2),
        ("nickname", "Nick"), ("FUNCTION($source, 'nickname')", "Nick"),
        ("$entityMapping.name", "entityMapping"), ("$entityMapping.userInfo.version", "userInfo.version"),
        ("$propertyMapping.name.length", 15),
    ]

    @Test("a key path gives what key-value coding gives", arguments: cases.indices)
    func path(index: Int) throws {
        let (text, expected) = Self.cases[index]
        let garage = Garage()
        if text.contains("lowercase(") {
            // `ann` isn't a key, which only shows at a row.
            #expect(throws: EvaluationError.self) { try garage.value(text) }
        } else {
            #expect(try garage.value(text) == expected, "\(text)")
        }
    }

    @Test(
        "every key of a row with NULL is NULL, and nothing fails",
        arguments: [
            "nick", "nick.length", "age.stringValue", "site.host", "token.UUIDString", "born.description",
            "address.city",
            "photo.length", "cost.stringValue", "nick.uppercaseString",
        ])
    func nulls(text: String) throws {
        let garage = Garage()
        #expect(try garage.value(text, of: garage.ben) == .null)
    }

    @Test("to-one chains lead to the object and its attributes")
    func chain() throws {
        let garage = Garage()
        #expect(try garage.value("boss.name", of: garage.ben) == "Ann")
        #expect(try garage.value("boss", of: garage.ben) == .object(garage.ann))
        #expect(try garage.value("reports.@count") == 1)
        #expect(try garage.value("reports") == .collection([.object(garage.ben)]))
    }

    @Test("counting a relationship reads no member")
    func count() throws {
        let garage = Garage()
        _ = try garage.value("count:(cars)")
        _ = try garage.value("cars.@count")
        #expect(garage.graph.reads == 0)
    }

    @Test("a planner sees plain paths and constants")
    func shapes() throws {
        let garage = Garage()
        func shape(_ text: String) throws -> CompiledExpression.Shape {
            try garage.compiler.compile(Expression(parsing: text)).shape
        }
        func handles(_ names: String...) -> [PropertyHandle] { names.compactMap(garage.schema.handle(of:)) }
        #expect(try shape("name") == .path(.evaluated, handles("name")))
        #expect(try shape("$source.boss.cars") == .path(.variable("source"), handles("boss", "cars")))
        #expect(try shape("$source.address.city") == .path(.variable("source"), handles("address.city")))
        #expect(try shape("$source.address") == .path(.variable("source"), handles("address")))
        #expect(try shape("$source") == .path(.variable("source"), []))
        #expect(try shape("$source.name.length") == .general)
        #expect(try shape("$source.cars.price") == .general)
        #expect(try shape("'x'") == .constant(.string("x")))
        #expect(try shape("2 * 3") == .constant(.integer(6)))
        #expect(try shape("now()") == .general)
    }
}
