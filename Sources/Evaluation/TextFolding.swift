import CausewayExpressions

/// Text made comparable under `[c]` and `[d]`, without ICU.
enum TextFolding {
    static func fold(_ text: String, _ options: Predicate.Options) -> String {
        var folded = text
        if options.contains(.diacriticInsensitive) { folded = withoutDiacritics(folded) }
        // Upper first: ß becomes ss, and both small sigmas become one.
        if options.contains(.caseInsensitive) { folded = folded.uppercased().lowercased() }
        return folded
    }

    /// Marks after Latin, Greek and Cyrillic letters are dropped, composed or not; Foundation keeps those of other
    /// scripts, where a mark makes another letter.
    static func withoutDiacritics(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
        var result = String.UnicodeScalarView()
        var isEuropean = false
        for scalar in text.unicodeScalars {
            if scalar.value >= 0x300, isEuropean, scalar.properties.generalCategory == .nonspacingMark { continue }
            let base = DiacriticTable.base[scalar] ?? scalar
            isEuropean = base.value < 0x510
            result.append(base)
        }
        return String(result)
    }
}
