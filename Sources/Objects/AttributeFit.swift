package import CausewayEvaluation
package import CausewayModel

/// Whether an attribute can hold what an expression gives. `CellCoding` decides: known values are asked for as such,
/// kinds of values by samples.
package enum AttributeFit {
    /// Whether an attribute can hold a value.
    package static func holds(_ value: Value, in attribute: Attribute) -> Bool {
        CellCoding.cell(for: value, as: AttributeForm(attribute)) != nil
    }

    /// Whether an attribute can hold any value but NULL that one of another type has; true where that isn't known.
    package static func mayHold(valuesOf type: AttributeType, in attribute: Attribute) -> Bool {
        let samples = samples(of: type)
        return samples.isEmpty || samples.contains { holds($0, in: attribute) }
    }

    /// Whether an attribute can hold any value but NULL of an expression's type; true where that isn't known.
    package static func mayHold(_ type: ValueType, in attribute: Attribute) -> Bool {
        let types: [AttributeType]
        switch type {
        case .any, .null, .composite, .entity, .receiver: return true
        // Nothing but a relationship holds objects.
        case .object, .objectID, .collection: return false
        case .number: types = [.boolean, .integer64, .double, .decimal]
        case .string: types = [.string]
        case .date: types = [.date]
        case .data: types = [.binary]
        case .uuid: types = [.uuid]
        case .uri: types = [.uri]
        }
        return types.contains { mayHold(valuesOf: $0, in: attribute) }
    }

    /// Empty where a value may be of several kinds.
    private static func samples(of type: AttributeType) -> [Value] {
        switch type {
        case .boolean: [.boolean(true), .boolean(false)]
        case .integer16, .integer32, .integer64: [.integer(0), .integer(1)]
        case .double, .float: [.real(0), .real(1), .real(0.5)]
        case .decimal: [.decimal("0"), .decimal("1"), .decimal("0.5")]
        case .string: [.string(""), .string("0"), .string("a")]
        case .date: [.date(0), .date(0.5)]
        case .binary: [.data([]), .data([UInt8](repeating: 0, count: 16))]
        case .uuid: [.uuid([UInt8](repeating: 0, count: 16))]
        case .uri: [.uri("a:b")]
        case .undefined, .transformable, .objectID, .composite: []
        }
    }
}
