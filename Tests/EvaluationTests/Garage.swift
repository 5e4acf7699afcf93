import CausewayEvaluation
import CausewayExpressions
import CausewayModel

/// The small store that most tests use: people, their cars and pages of a diary.
///
/// Ann (1) owns the cars 1, 2 and 3, is Ben's (2) boss and has an address; Ben has NULL nearly everywhere.
struct Garage {
    static let now = 700_000_000.0

    let schema: ModelSchema
    let graph: TestGraph
    let functions = TestFunctions()
    let ann: ObjectID
    let ben: ObjectID
    let cars: [ObjectID]

    init() {
        schema = ModelSchema(Self.model)
        graph = TestGraph(schema)
        ann = graph.insert("Person", 1)
        ben = graph.insert("Person", 2, ["name": "Ben"])
        cars = [
            graph.insert("Car", 1, ["model": "Alfa", "price": 100, "weight": 1.5]),
            graph.insert("Car", 2, ["model": "Beetle", "price": 50, "weight": 2.5]),
            graph.insert("SportCar", 3, ["model": "Alfa", "price": .null, "speed": 250]),
        ]
        let values: [String: Value] = [
            "name": "Ann", "nick": "Élan", "age": 42, "isActive": true, "score": 2.5, "cost": .decimal("12.50"),
            "born": .date(1_000), "photo": .data([1, 2, 3]), "token": .uuid(Array(0..<16)),
            "site": .uri("https://user@example.com:8080/a%20b/c.txt?q=1#f"), "address.city": "Paris",
            "address.geo.zip": 75, "cars": .collection(cars.map(Value.object)),
        ]
        for (name, value) in values { graph.set(name, of: ann, to: value) }
        for car in cars.prefix(2) { graph.set("owner", of: car, to: .object(ann)) }
        graph.set("boss", of: ben, to: .object(ann))
        graph.set("reports", of: ann, to: .collection([.object(ben)]))
    }

    static let model: ManagedObjectModel = {
        var person = Entity(name: "Person")
        person.attributes = [
            Attribute(name: "name", type: .string), Attribute(name: "nick", type: .string),
            Attribute(name: "age", type: .integer32), Attribute(name: "isActive", type: .boolean),
            Attribute(name: "score", type: .double), Attribute(name: "cost", type: .decimal),
            Attribute(name: "born", type: .date), Attribute(name: "photo", type: .binary),
            Attribute(name: "token", type: .uuid), Attribute(name: "site", type: .uri),
            Attribute(name: "extra", type: .transformable), address,
        ]
        person.relationships = [
            toOne("boss", "Person"), toMany("reports", "Person"), toMany("cars", "Car"),
        ]
        person.fetchedProperties = [FetchedProperty(name: "rivals")]
        var car = Entity(name: "Car")
        car.attributes = [
            Attribute(name: "model", type: .string), Attribute(name: "price", type: .integer64),
            Attribute(name: "weight", type: .float),
        ]
        car.relationships = [toOne("owner", "Person")]
        var sportCar = Entity(name: "SportCar")
        sportCar.parent = "Car"
        sportCar.attributes = [Attribute(name: "speed", type: .integer32)]
        return ManagedObjectModel(entities: [person, car, sportCar])
    }()

    private static var address: Attribute {
        var geo = Attribute(name: "geo", type: .composite)
        geo.elements = [Attribute(name: "zip", type: .integer32)]
        var address = Attribute(name: "address", type: .composite)
        address.elements = [Attribute(name: "city", type: .string), geo]
        return address
    }

    static func toOne(_ name: String, _ destination: String) -> Relationship {
        var relationship = Relationship(name: name, destination: destination)
        relationship.maxCount = 1
        return relationship
    }

    static func toMany(_ name: String, _ destination: String) -> Relationship {
        Relationship(name: name, destination: destination)
    }

    var compiler: ExpressionCompiler {
        ExpressionCompiler(
            evaluated: .object(schema, entity: "Person"),
            variables: [
                "source": .object(schema, entity: "Person"), "people": .objects(schema, entity: "Person"),
                "query": .any, "none": .any, "info": .any, "manager": .manager, "entityPolicy": .entityPolicy,
                "entityMapping": .entityMapping, "propertyMapping": .propertyMapping,
            ], functions: TestCatalog())
    }

    func scope(_ object: ObjectID? = nil) -> EvaluationScope {
        let scope = EvaluationScope(now: Self.now, sourceGraph: graph, functions: functions)
        scope.evaluated = .object(object ?? ann)
        scope.source = .object(object ?? ann)
        scope.bindings = [
            "query": "an", "none": .null, "info.user.search": "found",
            "people": .collection([.object(ann), .object(ben)]),
        ]
        return scope
    }

    func value(_ text: String, of object: ObjectID? = nil) throws -> Value {
        try compiler.compile(Expression(parsing: text)).evaluate(scope(object))
    }

    /// As a condition in a value expression, evaluated in memory.
    func holds(_ text: String, of object: ObjectID? = nil) throws -> Bool {
        try value("TERNARY(\(text), YES, NO)", of: object) == true
    }

    /// As a filter, which follows SQL.
    func chooses(_ text: String, of object: ObjectID? = nil) throws -> Bool {
        try compiler.compile(Predicate(parsing: text)).evaluate(scope(object))
    }
}
