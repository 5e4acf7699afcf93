extension String {
    /// The text on one line, for a column or a message: line feeds and tabs are escaped, too. A file's name may have
    /// them.
    package var onOneLine: String {
        printable.replacing("\n", with: "\\u{a}").replacing("\t", with: "\\u{9}")
    }

    /// The text with control characters but line feeds and tabs escaped.
    package var printable: String {
        let isPlain = unicodeScalars.allSatisfy { !$0.isUnprintable }
        if isPlain { return self }
        var result = ""
        for scalar in unicodeScalars {
            if scalar.isUnprintable {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

extension Unicode.Scalar {
    /// Control characters, and the format characters that turn the direction of writing (CVE-2021-42574).
    package var isUnprintable: Bool {
        if self == "\n" || self == "\t" { return false }
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return true
        // U+200D joins emoji; it changes what is seen, not where.
        case .format: return value != 0x200D
        default: return false
        }
    }
}
