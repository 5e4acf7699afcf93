import CausewayExpressions

/// A change of an attribute's numeric type in one step: what the step asks of the rows.
package struct AttributeConversion: Hashable, Sendable, CustomStringConvertible {
    /// The step's position on the path (0 is the first step).
    package var step: Int
    /// The step's destination entity and its attribute, for people.
    package var entity: String
    package var attribute: String
    /// The parent's rows have the same conversion.
    package var isInherited = false
    /// The attribute of the mapping's source entity whose numbers are converted.
    package var source: String
    /// All that happens to the number up to this step; its last change is the step's.
    package var conversion: NumericConversion

    package init(step: Int, entity: String, attribute: String, source: String, conversion: NumericConversion) {
        self.step = step
        self.entity = entity
        self.attribute = attribute
        self.source = source
        self.conversion = conversion
    }

    /// `Thing.count: Integer 64 → Integer 16`
    package var description: String { "\(entity).\(attribute): \(conversion)" }

    /// The same as a demand on the rows of the version before.
    ///
    /// - Parameter first: what makes the rows that this conversion reads.
    /// - Returns: nil where `first` writes the value itself.
    package func traced(through first: EntityMapping) -> AttributeConversion? {
        guard case .carried(let origin, _, let earlier)? = first.attribute(source)?.value else { return nil }
        var result = self
        result.source = origin
        if let earlier { result.conversion = earlier.followed(by: conversion) }
        return result
    }

    /// Whether the default that `first` may write for the attribute, if any, can be converted.
    func convertsDefault(of first: EntityMapping) -> Bool {
        let constant: Constant?
        switch first.attribute(source)?.value {
        case nil: return true
        case .carried(_, let replacement, _): constant = replacement
        case .constant(let value): constant = value
        case .derived: return false
        }
        guard let constant, constant != .null else { return true }
        return conversion.applied(to: constant) != nil
    }
}

extension MappingModel {
    /// Every change of a numeric type, once, in the order of the steps.
    package var conversions: [AttributeConversion] {
        var seen: Set<String> = []
        return entityMappings.flatMap(\.conversions).filter {
            !$0.isInherited && seen.insert("\($0.step) \($0)").inserted
        }
        .sorted { $0.step < $1.step }
    }
}
