/// Texts without a `String`: the fast form for hooks that see millions of rows.
///
/// ```swift
/// try post.withUTF8(content) { text in
///     try section.set(title) { made in
///         made.append(text.prefix(4))
///         made.append("...")
///     }
///     try section.set(body, to: text)
/// }
/// ```
extension ManagedObject {
    /// Lends a text to a closure: the bytes in the row, which aren't copied.
    ///
    /// - Parameters:
    ///   - key: a string or URI attribute, as for `string(_:)`.
    ///   - body: gets the text; it may make and change objects.
    /// - Returns: what `body` returns; nil for NULL, without calling it.
    /// - Throws: `ObjectError` as `string(_:)` does, also for a stored text that isn't valid UTF-8; what `body` throws.
    public func withUTF8<Result>(
        _ key: PropertyKey, _ body: (TextSpan) throws -> Result
    ) throws -> Result? {
        try context.withText(key, of: self, body)
    }

    /// Sets a string attribute to a text of a row, or a part of one. A whole text of the source row that is being
    /// migrated isn't copied.
    ///
    /// - Parameters:
    ///   - key: the attribute.
    ///   - text: the text.
    /// - Throws: `ObjectError` as `set(_:to:)` of a string does.
    public func set(_ key: PropertyKey, to text: TextSpan) throws(ObjectError) {
        try context.setText(key, of: objectID, to: text)
    }

    /// Sets a string attribute to UTF-8, of which it gets a copy.
    ///
    /// - Parameters:
    ///   - key: the attribute.
    ///   - utf8: the bytes.
    /// - Throws: `ObjectError` as `set(_:to:)` of a string does; with `.type` for bytes that aren't valid UTF-8, such
    ///   as a text that was cut inside a character.
    public func set(_ key: PropertyKey, toUTF8 utf8: Span<UInt8>) throws(ObjectError) {
        guard TextScalars.areValid(utf8) else {
            throw ObjectError(.type, "\(entityName).\(key.name): the bytes aren't valid UTF-8")
        }
        try context.setText(key, of: objectID, to: TextSpan(valid: utf8))
    }

    /// Sets a string attribute to a text that a closure puts together.
    ///
    /// - Parameters:
    ///   - key: the attribute.
    ///   - body: appends the parts; without any the text is empty.
    /// - Throws: `ObjectError` as `set(_:to:)` of a string does; what `body` throws, and then nothing is set.
    public func set(_ key: PropertyKey, building body: (inout TextBuilder) throws -> Void) throws {
        var memory: [UInt8] = []
        swap(&memory, &context.textMemory)
        var builder = TextBuilder(reusing: memory)
        try body(&builder)
        try context.setText(key, of: objectID, to: TextSpan(valid: builder.utf8.span))
        context.textMemory = builder.released()
    }
}
