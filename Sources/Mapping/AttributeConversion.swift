import CausewayExpressions
package import CausewayModel

/// A change of an attribute's numeric type in one step, with its demand on the rows.
package struct AttributeConversion: Hashable, Sendable, CustomStringConvertible {
    /// The step's position on the path (0 is the first step).
    package var step: Int
    /// The step's destination entity and its attribute, for people.
    package var entity: String
    package var attribute: String
    /// Whether the parent's rows have the same conversion.
    package var isInherited = false
    /// The attribute of the mapping's source entity whose numbers are converted.
    package var source: String
    /// All conversions of the number up to this step; the last one is the step's.
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
    /// - Parameter first: the mapping that makes the rows which this conversion reads.
    /// - Returns: nil where `first` writes the value itself.
    package func traced(through first: EntityMapping) -> AttributeConversion? {
        guard case .carried(let origin, _, let earlier)? = first.attribute(source)?.value else { return nil }
        var result = self
        result.source = origin
        if let earlier { result.conversion = earlier.followed(by: conversion) }
        return result
    }

    /// A default that a step writes and this conversion's type can't hold.
    package struct UnfitDefault: Hashable, Sendable {
        package var misfit: NumericType.Misfit
        /// The attribute of the step's source whose NULL it replaces; nil if every row gets it.
        package var replaced: String?
    }

    /// The default that `first` writes for the attribute, where this conversion's type can't hold it.
    package func unfitDefault(of first: EntityMapping) -> UnfitDefault? {
        guard let (constant, replaced) = defaultValue(of: first),
            let number = conversion.source.stored(default: constant),
            case .misfit(let misfit) = conversion.fit(of: number)
        else { return nil }
        return UnfitDefault(misfit: misfit, replaced: replaced)
    }

    /// Whether the default that `first` may write for the attribute, if any, can be converted.
    func convertsDefault(of first: EntityMapping) -> Bool {
        if case .derived? = first.attribute(source)?.value { return false }
        return defaultValue(of: first).map { conversion.applied(to: $0.value) != nil } ?? true
    }

    /// The default that `first` writes, with the attribute whose NULL it replaces.
    private func defaultValue(of first: EntityMapping) -> (value: Constant, replaced: String?)? {
        switch first.attribute(source)?.value {
        case .carried(let from, let value?, _) where value != .null: (value, from)
        case .constant(let value?) where value != .null: (value, nil)
        case .carried, .constant, .derived, nil: nil
        }
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
