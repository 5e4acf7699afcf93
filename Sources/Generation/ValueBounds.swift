import CausewayExpressions
import CausewayModel

/// What an attribute's validation asks for, as far as a generator can keep it: minimum and maximum of the value, or of
/// a text's length. Regular expressions are not solved: such attributes get their default value.
struct ValueBounds {
    var least: Double?
    var most: Double?
    var leastLength: Int?
    var mostLength: Int?
    var hasPattern = false

    init(_ attribute: Attribute) {
        for validation in attribute.validations { add(validation.predicate) }
    }

    private mutating func add(_ predicate: Predicate) {
        switch predicate {
        case .and(let parts):
            for part in parts { add(part) }
        case .comparison(let comparison):
            guard case .constant(let constant) = comparison.right else { return }
            switch comparison.left {
            case .evaluatedObject, .key("SELF"):
                if comparison.operation == .matches { hasPattern = true }
                if let number = constant.number { bound(comparison.operation, number) }
            case .keyPath(_, path: "length"):
                guard let number = constant.number, let length = Int(exactly: number) else { return }
                switch comparison.operation {
                case .greaterThanOrEqualTo: leastLength = max(leastLength ?? length, length)
                case .lessThanOrEqualTo: mostLength = min(mostLength ?? length, length)
                default: break
                }
            default:
                break
            }
        default:
            break
        }
    }

    private mutating func bound(_ operation: ComparisonOperator, _ number: Double) {
        switch operation {
        case .greaterThanOrEqualTo: least = max(least ?? number, number)
        case .lessThanOrEqualTo: most = min(most ?? number, number)
        default: break
        }
    }

    func clamp(_ value: Double) -> Double {
        min(max(value, least ?? value), most ?? max(value, least ?? value))
    }
}

extension Constant {
    /// The number or the date's seconds; nil for others.
    fileprivate var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value), .date(let value): value
        case .decimal(let text): Double(text)
        default: nil
        }
    }
}
