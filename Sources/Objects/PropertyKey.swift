import CausewayEvaluation

/// A property's name, resolved once for a model where speed counts.
///
/// A literal works everywhere (`object.string("title")`) and costs a look-up each time; a key from
/// `ObjectContext.key(_:)` costs none:
///
/// ```swift
/// let content = manager.sourceContext.key("content")   // once, in begin
/// let text = try source.string(content)                 // for every row
/// ```
public struct PropertyKey: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The property's name; a composite's element is `composite.element`.
    public let name: String
    /// Its place in the model that resolved it; another model looks the name up.
    let handle: PropertyHandle?

    /// A key that is looked up at every use.
    ///
    /// - Parameter name: the property's name.
    public init(_ name: String) {
        self.name = name
        handle = nil
    }

    /// A key that is looked up at every use.
    ///
    /// - Parameter value: the property's name.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    init(_ name: String, handle: PropertyHandle) {
        self.name = name
        self.handle = handle
    }
}
