import CausewayModel

/// What storing an attribute's values depends on: small, so that asking for it costs a row nothing.
struct AttributeForm: Sendable {
    let type: AttributeType
    let isExternal: Bool
    let isDerived: Bool

    init(_ attribute: Attribute) {
        type = attribute.type
        isExternal = attribute.allowsExternalBinaryDataStorage
        isDerived = attribute.derivation != nil
    }

    /// Whether a string's stored form is the string itself.
    var holdsStrings: Bool { type == .string && !isDerived }
}

/// An attribute as one entity's rows have it.
struct AttributePlace {
    let column: Int
    let form: AttributeForm
}
