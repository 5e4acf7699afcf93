/// A piece of a format string.
struct FormatToken: Equatable {
    enum Kind: Equatable {
        /// A name, a selector with its colons, `@operator`. `isKey` when `#` or `@` says that it's no keyword.
        case name(String, isKey: Bool)
        case variable(String)
        case string(String)
        /// Without a sign; the parser sees to that.
        case integer(UInt64)
        case real(Double)
        /// An operator or a bracket.
        case symbol(String)
        case end
    }

    var kind: Kind
    /// The bytes of the token in the text.
    var range: Range<Int>

    /// The name in lower case when it may be a keyword.
    var keyword: String? {
        if case .name(let text, isKey: false) = kind { text.lowercased() } else { nil }
    }

    func isSymbol(_ text: String) -> Bool { kind == .symbol(text) }

    /// For messages: "found …".
    var summary: String {
        switch kind {
        case .name(let text, _): "“\(text)”"
        case .variable(let name): "“$\(name)”"
        case .string: "a string"
        case .integer, .real: "a number"
        case .symbol(let text): "“\(text)”"
        case .end: "the end"
        }
    }
}
