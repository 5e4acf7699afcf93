import CausewayEngine
import CausewayMapping
import CausewayModel
import CausewayObjects
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

/// When inference refuses a change of type, the message names an expression that converts the value.
@Suite("Expressions for changes of type that aren't inferred", .timeLimit(.minutes(60)))
struct ConvertingExpressionTests {
    static let types = [
        "Boolean", "Integer 16", "Integer 32", "Integer 64", "Float", "Double", "Decimal", "String", "Date", "UUID",
        "URI", "Binary", "Transformable",
    ]

    /// The types that expressions support.
    static let convertible: [String: Set<String>] = {
        let numbers: Set = ["Boolean", "Integer 16", "Integer 32", "Integer 64", "Float", "Double"]
        var result = Dictionary(uniqueKeysWithValues: numbers.map { ($0, Set(["Decimal", "Date", "String"])) })
        result["Decimal"] = numbers.subtracting(["Boolean"]).union(["Date", "String"])
        result["Date"] = numbers.subtracting(["Boolean"]).union(["Decimal", "String"])
        result["String"] = numbers.union(["Decimal", "UUID", "URI"])
        result["UUID"] = ["String"]
        result["URI"] = ["String"]
        return result
    }()

    private static func value(_ from: String, _ to: String) -> String {
        switch from {
        case "String": to == "UUID" ? "'0E1D2C3B-4A59-4687-8796-A5B4C3D2E1F0'" : "'1'"
        case "URI": "'a:b'"
        case "UUID", "Binary", "Transformable": "x'0E1D2C3B4A5946878796A5B4C3D2E1F0'"
        default: "1"
        }
    }

    @Test("the expression of a refusal compiles, runs, and gives a value of the new type", arguments: types)
    func expressions(from: String) throws {
        for to in Self.types where to != from {
            let scenario = try Scenario(
                model(entity("Thing", attribute("a", from))), model(entity("Thing", attribute("b", to, was: "a"))),
                rows: """
                    INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZA) VALUES (1, 1, 1, \(Self.value(from, to))), (2, 1, 1, NULL);
                    """)
            let expected = Self.convertible[from]?.contains(to) == true
            guard let expression = try Self.expression(from, to, scenario) else {
                #expect(!expected, "\(from) → \(to)")
                continue
            }
            #expect(expected, "\(from) → \(to)")
            var request = scenario.request(to: "V2")
            request.code.add(
                SwiftMappingModel(from: "V1", to: "V2") {
                    TransformEntity("Thing", fillsUnmentioned: false) { Compute("b", expression) }
                })
            _ = try Migration(request).run()
            #expect(
                try scenario.rows("SELECT Z_PK, ZB IS NULL FROM ZTHING ORDER BY Z_PK") == ["1|0", "2|1"],
                "\(from) → \(to): \(expression)")
        }
    }

    /// nil where the step is inferred, or no expression converts the value.
    private static func expression(_ from: String, _ to: String, _ scenario: Scenario) throws -> String? {
        let history = try ModelHistory(reading: scenario.models, edges: [:])
        do {
            _ = try MappingInference.infer(
                from: history.version(named: "V1").model, to: history.version(named: "V2").model)
        } catch let error as InferenceError {
            guard case .attributeTypeChanged(from, to, let expression)? = error.refusals.first?.reason else {
                Issue.record("\(error)")
                return nil
            }
            let error = try failure { try scenario.migrate() }
            #expect(error.kind == .plan && error.details[0].contains(expression ?? "whose policy does it"))
            return expression
        }
        return nil
    }
}
