import CausewayEvaluation

/// Attributes as Swift's own types. NULL is nil; another type than the attribute's is an error.
extension ManagedObject {
    /// A string or URI attribute.
    ///
    /// - Parameter key: the attribute.
    /// - Returns: nil for NULL.
    /// - Throws: `ObjectError` where the attribute has another type or the row can't be read.
    public func string(_ key: PropertyKey) throws(ObjectError) -> String? {
        if let text = try context.text(key, of: objectID) { return text }
        return switch try value(key) {
        case .null: nil
        case .string(let text), .uri(let text), .decimal(let text): text
        default: throw mismatch(key, "string")
        }
    }

    /// An integer or boolean attribute.
    ///
    /// - Parameter key: the attribute.
    /// - Returns: nil for NULL.
    /// - Throws: `ObjectError` where the attribute has another type or the row can't be read.
    public func integer(_ key: PropertyKey) throws(ObjectError) -> Int64? {
        switch try value(key) {
        case .null: nil
        case .integer(let value): value
        case .boolean(let value): value ? 1 : 0
        default: throw mismatch(key, "integer")
        }
    }

    /// A boolean attribute.
    ///
    /// - Parameter key: the attribute.
    /// - Returns: nil for NULL.
    /// - Throws: `ObjectError` where the attribute has another type or the row can't be read.
    public func bool(_ key: PropertyKey) throws(ObjectError) -> Bool? {
        switch try value(key) {
        case .null: nil
        case .boolean(let value): value
        case .integer(let value): value != 0
        default: throw mismatch(key, "boolean")
        }
    }

    /// A number attribute as a double; a date as seconds since 2001-01-01 UTC.
    ///
    /// - Parameter key: the attribute.
    /// - Returns: nil for NULL.
    /// - Throws: `ObjectError` where the attribute has another type or the row can't be read.
    public func double(_ key: PropertyKey) throws(ObjectError) -> Double? {
        switch try value(key) {
        case .null: return nil
        case .real(let value), .date(let value): return value
        case .integer(let value): return Double(value)
        case .boolean(let value): return value ? 1 : 0
        case .decimal(let text):
            guard let number = Double(text) else { throw mismatch(key, "number") }
            return number
        default: throw mismatch(key, "number")
        }
    }

    /// A binary or transformable attribute.
    ///
    /// - Parameter key: the attribute.
    /// - Returns: nil for NULL.
    /// - Throws: `ObjectError` where the attribute has another type or the row can't be read.
    public func data(_ key: PropertyKey) throws(ObjectError) -> [UInt8]? {
        switch try value(key) {
        case .null: nil
        case .data(let bytes), .uuid(let bytes): bytes
        default: throw mismatch(key, "binary")
        }
    }

    /// Sets a string attribute.
    ///
    /// - Parameters:
    ///   - key: the attribute.
    ///   - text: nil for NULL.
    /// - Throws: `ObjectError` as `set(_:to:)` of any value does.
    public func set(_ key: PropertyKey, to text: String?) throws(ObjectError) {
        try set(key, to: text.map { Value.string($0) } ?? .null)
    }

    private func mismatch(_ key: PropertyKey, _ type: String) -> ObjectError {
        ObjectError(.type, "\(entityName).\(key.name) isn't a \(type) attribute")
    }
}
