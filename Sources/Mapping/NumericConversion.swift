import CausewayExpressions
package import CausewayModel

/// A number's types when its attribute's type changes: in one step, or in several that run as one.
///
/// The cell follows the columns' affinities, type by type; numbers that a type can't hold are found in the source's
/// rows before any row moves.
package struct NumericConversion: Hashable, Sendable, CustomStringConvertible {
    /// From the source's type to the destination's, at least two.
    package let types: [NumericType]

    package init(from source: NumericType, to destination: NumericType) {
        types = [source, destination]
    }

    private init(types: [NumericType]) {
        self.types = types
    }

    package var source: NumericType { types[0] }
    package var destination: NumericType { types[types.count - 1] }

    /// `Integer 64 → Integer 16`: the last change.
    package var description: String {
        "\(types[types.count - 2].attributeType.modelName) → \(destination.attributeType.modelName)"
    }

    /// This conversion, then another that begins with this one's last type.
    package func followed(by next: NumericConversion) -> NumericConversion {
        NumericConversion(types: types + next.types.dropFirst())
    }

    /// Whether a cell may change its storage class on the way; else it is carried as it is.
    package var changesCells: Bool { types.contains { $0.isReal != source.isReal } }

    /// Whether the last type holds every number that the one before it has.
    package var holdsAll: Bool { destination.holdsAll(of: types[types.count - 2]) }

    /// The cell at the end. Numbers that a type can't hold stay as SQLite's columns would keep them: cells of
    /// attributes that the row's entity doesn't have aren't checked.
    package func applied(to number: StoredNumber) -> StoredNumber {
        var number = number
        for type in types.dropFirst() { number = type.stored(number) }
        return number
    }

    /// Whether the last type can hold the converted number.
    ///
    /// - Returns: nil if an earlier type can't hold it: that concerns an earlier step.
    package func fit(of number: StoredNumber) -> NumericType.Fit? {
        var number = number
        for type in types.dropFirst().dropLast() {
            if case .misfit = type.fit(of: number) { return nil }
            number = type.stored(number)
        }
        return destination.fit(of: number)
    }

    /// A default of the source's type as one of the destination's.
    ///
    /// - Returns: nil if a type can't hold it, or its stored form can't be computed from a default.
    func applied(to constant: Constant) -> Constant? {
        guard var number = source.stored(default: constant) else { return nil }
        for type in types.dropFirst() {
            if case .misfit = type.fit(of: number) { return nil }
            number = type.stored(number)
        }
        let converted: Constant =
            switch number {
            case .integer(let value): .integer(value)
            case .real(let value): .real(value)
            }
        return destination.stored(default: converted) == number ? converted : nil
    }
}
