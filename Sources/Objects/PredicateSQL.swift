import CausewayEvaluation
import CausewayExpressions
import CausewayModel
import CausewayPlanning

/// The part of a predicate for which SQLite gives Core Data's answer: comparisons of an object's own attributes with
/// values.
struct PredicateSQL {
    /// Conditions on the table's columns, joined with AND; empty where nothing could be translated.
    private(set) var conditions: [String] = []
    private(set) var values: [Cell] = []
    /// Whether nothing is left to evaluate row by row.
    private(set) var isComplete = true

    private let map: StorageMap
    private let entity: Int32
    private let variables: [String: Value]

    init(_ predicate: Predicate, map: StorageMap, entity: Int32, variables: [String: Value]) {
        self.map = map
        self.entity = entity
        self.variables = variables
        for term in Self.terms(predicate) where !translate(term) { isComplete = false }
    }

    private static func terms(_ predicate: Predicate) -> [Predicate] {
        switch predicate {
        case .and(let terms): terms.flatMap { Self.terms($0) }
        case .literal(true): []
        case .literal, .comparison, .not, .or: [predicate]
        }
    }

    private mutating func translate(_ term: Predicate) -> Bool {
        guard case .comparison(let comparison) = term, comparison.modifier == .direct, comparison.options.isEmpty,
            case .keyPath(.evaluatedObject, let path) = comparison.left, let value = value(of: comparison.right),
            let handle = map.schema.handle(of: path),
            case .attribute(let column, let attribute)? = map.place(of: handle, entity: entity),
            !attribute.allowsExternalBinaryDataStorage, let sign = Self.sign(comparison.operation, value),
            Self.isExact(value, attribute.type.rawValue),
            let cell = CellCoding.cell(for: value, as: AttributeForm(attribute)),
            let table = map.table(of: entity)
        else { return false }
        conditions.append("\(map.tables[table].columns[column]) \(sign) ?")
        values.append(cell)
        return true
    }

    /// Only values of the attribute's own kind: Swift compares numbers with truth values.
    private static func isExact(_ value: Value, _ type: Int) -> Bool {
        switch (value, type) {
        case (.null, _), (.integer, 100...300), (.string, 700), (.boolean, 800), (.date, 900), (.uuid, 1_100): true
        default: false
        }
    }

    private static func sign(_ operation: ComparisonOperator, _ value: Value) -> String? {
        switch operation {
        // The value is a literal or a variable: Core Data asks for NULL with IS.
        case .equalTo: value.isNull ? "IS" : "="
        case .notEqualTo: value.isNull ? "IS NOT" : "<>"
        case .lessThan: "<"
        case .lessThanOrEqualTo: "<="
        case .greaterThan: ">"
        case .greaterThanOrEqualTo: ">="
        case .matches, .like, .beginsWith, .endsWith, .in, .contains, .between: nil
        }
    }

    private func value(of expression: Expression) -> Value? {
        switch expression {
        case .constant(let constant):
            switch constant {
            case .null: .null
            case .boolean(let value): .boolean(value)
            case .integer(let value): .integer(value)
            case .string(let value): .string(value)
            case .date(let value): .date(value)
            default: nil
            }
        case .variable(let name): variables[name]
        default: nil
        }
    }
}
