import CausewayExpressions

/// A validation rule that Xcode's editor has a field for: a value that the attribute's own (for texts, their length) is
/// compared with.
struct ValidationRule {
    /// The source's attribute.
    let key: String
    /// The type of the rule's own value.
    let valueType: AttributeType
    let subject: Expression
    let operation: ComparisonOperator
    /// The error code of `CoreDataErrors.h`.
    let code: Int64

    /// The rules of a type in the source's order: minimum, maximum, pattern.
    static func all(of type: AttributeType) -> [ValidationRule] {
        switch type {
        case .date:
            [
                .init("minDateTimeInterval", .date, .evaluatedObject, .greaterThanOrEqualTo, 1640),
                .init("maxDateTimeInterval", .date, .evaluatedObject, .lessThanOrEqualTo, 1630),
            ]
        case .string:
            [
                .init("minValueString", .integer64, .key("length"), .greaterThanOrEqualTo, 1670),
                .init("maxValueString", .integer64, .key("length"), .lessThanOrEqualTo, 1660),
                .init("regularExpressionString", .string, .evaluatedObject, .matches, 1680),
            ]
        case _ where type.isNumber:
            [
                .init("minValueString", type, .evaluatedObject, .greaterThanOrEqualTo, 1620),
                .init("maxValueString", type, .evaluatedObject, .lessThanOrEqualTo, 1610),
            ]
        default: []
        }
    }

    private init(
        _ key: String, _ valueType: AttributeType, _ subject: Expression, _ operation: ComparisonOperator, _ code: Int64
    ) {
        self.key = key
        self.valueType = valueType
        self.subject = subject
        self.operation = operation
        self.code = code
    }

    func validation(_ value: Constant) -> Attribute.Validation {
        Attribute.Validation(
            predicate: .comparison(Predicate.Comparison(subject, operation, .constant(value))), warning: .integer(code))
    }

    /// The value's text if a validation is this rule; nil otherwise.
    func text(_ found: Attribute.Validation) -> String? {
        guard case .comparison(let comparison) = found.predicate, case .constant(let constant) = comparison.right else {
            return nil
        }
        // An archive holds `5` where the attribute's numbers are real.
        let value = constant.canonical(for: valueType)
        guard
            validation(value)
                == Attribute.Validation(
                    predicate: .comparison(
                        .init(
                            comparison.left, comparison.operation, .constant(value), modifier: comparison.modifier,
                            options: comparison.options)), warning: found.warning),
            let text = SourceValue.text(value, as: valueType), !text.isEmpty
        else { return nil }
        return text
    }
}
