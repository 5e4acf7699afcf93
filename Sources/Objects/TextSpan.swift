import CausewayEvaluation

/// A text of a row, or a part of one, where it lies in memory: what `Substring` is to a `String`, without the string.
///
/// `ManagedObject.withUTF8(_:_:)` lends it to a closure; the compiler refuses to let it out. Its bytes are valid UTF-8,
/// since parts begin and end between characters or Unicode scalars. Where its methods say *character* they mean what
/// `String` means.
public struct TextSpan: ~Escapable {
    /// The bytes.
    public let utf8: Span<UInt8>
    /// The cell whose whole text it is; nil for a part.
    let origin: Origin?

    /// A cell of a row that is being migrated: its batch is the one that the view stands on.
    struct Origin {
        let view: ObjectIdentifier
        let object: ObjectID
        let row: Int32
        let cell: Int32
    }

    /// `utf8` is valid.
    @_lifetime(copy utf8)
    init(valid utf8: Span<UInt8>, origin: Origin? = nil) {
        self.utf8 = utf8
        self.origin = origin
    }

    @_lifetime(copy self)
    private func part(_ range: Range<Int>) -> TextSpan {
        range.count == utf8.count ? self : TextSpan(valid: utf8.extracting(range))
    }

    /// Whether it has no characters.
    public var isEmpty: Bool { utf8.isEmpty }

    // MARK: - Parts

    /// The first characters, as `String.prefix(_:)` counts them.
    ///
    /// - Parameter maxLength: how many characters; all of them if there are fewer.
    /// - Returns: the part.
    /// - Complexity: O(`maxLength`) for ASCII; other text is looked at to its end.
    @_lifetime(copy self)
    public func prefix(_ maxLength: Int) -> TextSpan { part(0..<offset(ofCharacter: maxLength)) }

    /// All but the first characters, as `String.dropFirst(_:)` counts them.
    ///
    /// - Parameter k: how many characters; nothing is left if there are fewer.
    /// - Returns: the part.
    /// - Complexity: O(`k`) for ASCII; other text is looked at to its end.
    @_lifetime(copy self)
    public func dropFirst(_ k: Int = 1) -> TextSpan { part(offset(ofCharacter: k)..<utf8.count) }

    /// The Unicode scalars from the first one on that satisfy a condition, up to one that doesn't.
    ///
    /// - Parameter predicate: the condition.
    /// - Returns: the part.
    /// - Throws: what `predicate` throws.
    @_lifetime(copy self)
    public func prefix(while predicate: (Unicode.Scalar) throws -> Bool) rethrows -> TextSpan {
        part(0..<(try offset(while: predicate)))
    }

    /// All but the part that `prefix(while:)` gives.
    ///
    /// - Parameter predicate: the condition.
    /// - Returns: the part.
    /// - Throws: what `predicate` throws.
    @_lifetime(copy self)
    public func drop(while predicate: (Unicode.Scalar) throws -> Bool) rethrows -> TextSpan {
        part((try offset(while: predicate))..<utf8.count)
    }

    /// Lends the parts between separators, one after another.
    ///
    /// - Parameters:
    ///   - separator: a Unicode scalar.
    ///   - omittingEmptySubsequences: whether empty parts are left out, as in `String.split`.
    ///   - body: called for each part.
    /// - Throws: what `body` throws.
    public func split(
        separator: Unicode.Scalar, omittingEmptySubsequences: Bool = true, _ body: (TextSpan) throws -> Void
    ) rethrows {
        var start = 0
        var index = 0
        while index < utf8.count {
            let length = TextScalars.length(of: utf8[index])
            if TextScalars.scalar(at: index, of: utf8) == separator {
                if start < index || !omittingEmptySubsequences { try body(part(start..<index)) }
                start = index + length
            }
            index += length
        }
        if start < index || !omittingEmptySubsequences { try body(part(start..<index)) }
    }

    private func offset(while predicate: (Unicode.Scalar) throws -> Bool) rethrows -> Int {
        var index = 0
        while index < utf8.count, try predicate(TextScalars.scalar(at: index, of: utf8)) {
            index += TextScalars.length(of: utf8[index])
        }
        return index
    }

    /// The byte at which the character with this number begins. Between two ASCII bytes other than CR LF there is
    /// always a boundary; what follows anything else is a question for `String`.
    private func offset(ofCharacter number: Int) -> Int {
        precondition(number >= 0, "a text can't have a negative number of characters")
        var index = 0
        while index < number, index < utf8.count {
            let next = index + 1 < utf8.count ? utf8[index + 1] : 0
            guard utf8[index] < 0x80, next < 0x80, utf8[index] != 0x0D || next != 0x0A else {
                return index + String(part(index..<utf8.count)).prefix(number - index).utf8.count
            }
            index += 1
        }
        return index
    }

    // MARK: - Comparing

    /// Whether the text has exactly a string's bytes: as the store compares, while Swift's strings are equal in all
    /// normal forms.
    public static func == (text: TextSpan, string: String) -> Bool {
        text.utf8.count == string.utf8.count && text.hasPrefix(string)
    }

    /// Whether the text hasn't a string's bytes.
    public static func != (text: TextSpan, string: String) -> Bool { !(text == string) }

    /// Whether the text begins with a string's bytes.
    ///
    /// - Parameter string: the string.
    /// - Returns: true for an empty string too.
    public func hasPrefix(_ string: String) -> Bool {
        var index = 0
        for byte in string.utf8 {
            guard index < utf8.count, utf8[index] == byte else { return false }
            index += 1
        }
        return true
    }
}

extension String {
    /// A copy of a row's text.
    ///
    /// - Parameter text: the text, or a part of it.
    public init(_ text: TextSpan) {
        self = TextScalars.string(ofValid: text.utf8)
    }
}
