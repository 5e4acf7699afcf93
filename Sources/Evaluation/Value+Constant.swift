package import CausewayExpressions

extension Value {
    /// Nil for a dictionary and an object of the app's own class.
    package init?(_ constant: Constant) {
        switch constant {
        case .null: self = .null
        case .boolean(let value): self = .boolean(value)
        case .integer(let value): self = .integer(value)
        case .real(let value): self = .real(value)
        case .decimal(let text): self = .decimal(text)
        case .string(let text): self = .string(text)
        case .date(let seconds): self = .date(seconds)
        case .data(let bytes): self = .data(bytes)
        case .uuid(let bytes): self = .uuid(bytes)
        case .uri(let text): self = .uri(text)
        case .array(let constants):
            let members = constants.compactMap(Value.init(_:))
            guard members.count == constants.count else { return nil }
            self = .collection(members)
        case .dictionary, .foreign: return nil
        }
    }
}

extension Constant {
    /// Nil for an object, and a collection that has one.
    package init?(_ value: Value) {
        switch value {
        case .null: self = .null
        case .boolean(let value): self = .boolean(value)
        case .integer(let value): self = .integer(value)
        case .real(let value): self = .real(value)
        case .decimal(let text): self = .decimal(text)
        case .string(let text): self = .string(text)
        case .date(let seconds): self = .date(seconds)
        case .data(let bytes): self = .data(bytes)
        case .uuid(let bytes): self = .uuid(bytes)
        case .uri(let text): self = .uri(text)
        case .object: return nil
        case .collection(let members):
            let constants = members.compactMap(Constant.init(_:))
            guard constants.count == members.count else { return nil }
            self = .array(constants)
        }
    }
}

extension ValueType {
    /// What a value itself shows.
    init(of value: Value) {
        switch value {
        case .null: self = .null
        case .boolean, .integer, .real, .decimal: self = .number
        case .string: self = .string
        case .date: self = .date
        case .data: self = .data
        case .uuid: self = .uuid
        case .uri: self = .uri
        case .object: self = .any
        case .collection(let members): self = .collection(.array, of: .common(members.map(ValueType.init(of:))))
        }
    }

    /// The type of something that has one of several; `any` where they differ.
    static func common(_ types: [ValueType]) -> ValueType {
        let known = types.filter { if case .null = $0 { false } else { true } }
        guard let first = known.first else { return types.isEmpty ? .any : .null }
        return known.allSatisfy { $0.isSame(as: first) } ? first : .any
    }

    private func isSame(as other: ValueType) -> Bool {
        switch (self, other) {
        case (.number, .number), (.string, .string), (.date, .date), (.data, .data), (.uuid, .uuid), (.uri, .uri),
            (.entity, .entity):
            true
        case (.object(let schema, let entity), .object(let otherSchema, let otherEntity)),
            (.objectID(let schema, let entity), .objectID(let otherSchema, let otherEntity)):
            entity == otherEntity && schema.names == otherSchema.names && schema.entities == otherSchema.entities
        case (.collection(let kind, let element), .collection(let otherKind, let otherElement)):
            kind == otherKind && element.isSame(as: otherElement)
        default: false
        }
    }
}
