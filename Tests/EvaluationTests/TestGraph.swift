import CausewayEvaluation
import CausewayExpressions
import CausewayModel

/// A store in memory.
final class TestGraph: ObjectGraph {
    let schema: ModelSchema
    let side: ObjectID.Side
    private var rows: [ObjectID: [String: Value]] = [:]
    /// How many values were read.
    private(set) var reads = 0

    init(_ schema: ModelSchema, side: ObjectID.Side = .source) {
        self.schema = schema
        self.side = side
    }

    @discardableResult
    func insert(_ entity: String, _ key: Int64, _ values: [String: Value] = [:]) -> ObjectID {
        let object = ObjectID(side: side, entity: Int32(schema.number(of: entity) ?? 0), key: key)
        rows[object] = values
        return object
    }

    func set(_ name: String, of object: ObjectID, to value: Value) { rows[object]?[name] = value }

    func value(of property: PropertyHandle, in object: ObjectID) throws(EvaluationError) -> Value {
        reads += 1
        guard let row = rows[object] else { throw EvaluationError(.missing, "no row \(object.key)") }
        guard let kind = schema.property(property, of: Int(object.entity)) else {
            throw EvaluationError(.missing, "no property \(schema.names[property.index])")
        }
        if let value = row[schema.names[property.index]] { return value }
        if case .relationship(let relationship) = kind, relationship.isToMany { return .collection([]) }
        return .null
    }

    func count(of relationship: PropertyHandle, in object: ObjectID) throws(EvaluationError) -> Int {
        guard case .collection(let members)? = rows[object]?[schema.names[relationship.index]] else { return 0 }
        return members.count
    }

    func uri(of object: ObjectID) -> String {
        "x-coredata://STORE/\(schema.entities[Int(object.entity) - 1])/p\(object.key)"
    }
}

/// Functions of a manager and a policy that record their calls.
final class TestFunctions: FunctionTarget {
    struct Failure: Error {}

    private(set) var calls: [String] = []

    func call(_ selector: String, on receiver: FunctionReceiver, _ arguments: [Value]) throws -> Value {
        calls.append(selector)
        switch selector {
        case "fail": throw Failure()
        case "echo:": return arguments[0]
        case "nickname": return .string("Nick")
        case "name": return .string("\(receiver)")
        case "valueForKeyPath:": return arguments[0]
        default: return .collection(arguments)
        }
    }
}

/// Knows the manager's selectors, the policy selectors of expressions.txt and those of `TestFunctions`.
struct TestCatalog: FunctionCatalog {
    var policy: Set<String> = ["echo:", "fail"]

    func hasFunction(_ selector: String, on receiver: FunctionReceiver, argumentCount: Int) -> Bool {
        switch receiver {
        case .manager:
            [
                "destinationInstancesForEntityMappingNamed:sourceInstances:",
                "destinationInstancesForSourceRelationshipNamed:sourceInstances:",
            ].contains(selector) && argumentCount == 2
        case .entityPolicy: policy.contains(selector)
        case .entityMapping: ["name", "valueForKeyPath:"].contains(selector)
        case .propertyMapping: selector == "name"
        case .object: selector == "nickname" && argumentCount == 0
        }
    }
}
