/// A set of characters as regular expressions describe one.
indirect enum ScalarSet: Sendable {
    case all
    case one(Unicode.Scalar)
    case range(ClosedRange<Unicode.Scalar>)
    case category(@Sendable (Unicode.GeneralCategory) -> Bool)
    case property(@Sendable (Unicode.Scalar.Properties) -> Bool)
    case union([ScalarSet])
    case intersection([ScalarSet])
    case inverted(ScalarSet)
    /// Also characters that differ by case only.
    case caseless(ScalarSet)

    func contains(_ scalar: Unicode.Scalar) -> Bool {
        switch self {
        case .all: true
        case .one(let member): scalar == member
        case .range(let range): range.contains(scalar)
        case .category(let test): test(scalar.properties.generalCategory)
        case .property(let test): test(scalar.properties)
        case .union(let sets): sets.contains { $0.contains(scalar) }
        case .intersection(let sets): sets.allSatisfy { $0.contains(scalar) }
        case .inverted(let set): !set.contains(scalar)
        case .caseless(let set): Self.cases(of: scalar).contains { $0.map(set.contains) == true }
        }
    }

    private static func cases(of scalar: Unicode.Scalar) -> [Unicode.Scalar?] {
        func single(_ text: String) -> Unicode.Scalar? {
            text.unicodeScalars.count == 1 ? text.unicodeScalars.first : nil
        }
        let capital = single(scalar.properties.uppercaseMapping)
        // The small letter of the capital too: ς and σ.
        let again = capital.flatMap { single($0.properties.lowercaseMapping) }
        return [scalar, capital, again, single(scalar.properties.lowercaseMapping)]
    }

    /// What `.` doesn't match.
    static let lineEnd = ScalarSet.union([
        .range("\u{a}"..."\u{d}"), .one("\u{85}"), .range("\u{2028}"..."\u{2029}"),
    ])
    static let digit = ScalarSet.category { $0 == .decimalNumber }
    static let space = ScalarSet.property { $0.isWhitespace }
    static let horizontalSpace = ScalarSet.union([.one("\t"), .category { $0 == .spaceSeparator }])
    /// `\w`: letters, marks, digits, connectors and the two joiners.
    static let word = ScalarSet.union([
        .property { $0.isAlphabetic },
        .category {
            [.nonspacingMark, .spacingMark, .enclosingMark, .decimalNumber, .connectorPunctuation].contains($0)
        },
        .range("\u{200c}"..."\u{200d}"),
    ])

    /// The set of `\p{…}` and `[:…:]`, written with any case, spaces and hyphens; nil for an unknown name.
    static func named(_ name: String) -> ScalarSet? {
        var key = name.lowercased().filter { $0 != "_" && $0 != "-" && $0 != " " }
        if key.hasPrefix("is") { key.removeFirst(2) }
        for prefix in ["generalcategory=", "gc="] where key.hasPrefix(prefix) { key.removeFirst(prefix.count) }
        return categories[key].map { wanted in .category { wanted.contains($0) } } ?? properties[key]
    }

    private static let properties: [String: ScalarSet] = [
        "alphabetic": .property { $0.isAlphabetic }, "alpha": .property { $0.isAlphabetic },
        "whitespace": space, "space": space, "blank": horizontalSpace, "word": word, "any": .all,
        "lowercase": .property { $0.isLowercase }, "lower": .property { $0.isLowercase },
        "uppercase": .property { $0.isUppercase }, "upper": .property { $0.isUppercase },
        "ascii": .range("\0"..."\u{7f}"), "alnum": .union([.property { $0.isAlphabetic }, digit]),
        "hexdigit": .property { $0.isHexDigit }, "xdigit": .property { $0.isHexDigit },
        "emoji": .property { $0.isEmoji }, "ideographic": .property { $0.isIdeographic },
    ]

    private static let categories: [String: Set<Unicode.GeneralCategory>] = {
        let single: [String: Unicode.GeneralCategory] = [
            "lu": .uppercaseLetter, "ll": .lowercaseLetter, "lt": .titlecaseLetter, "lm": .modifierLetter,
            "lo": .otherLetter, "mn": .nonspacingMark, "mc": .spacingMark, "me": .enclosingMark,
            "nd": .decimalNumber, "nl": .letterNumber, "no": .otherNumber, "pc": .connectorPunctuation,
            "pd": .dashPunctuation, "ps": .openPunctuation, "pe": .closePunctuation, "pi": .initialPunctuation,
            "pf": .finalPunctuation, "po": .otherPunctuation, "sm": .mathSymbol, "sc": .currencySymbol,
            "sk": .modifierSymbol, "so": .otherSymbol, "zs": .spaceSeparator, "zl": .lineSeparator,
            "zp": .paragraphSeparator, "cc": .control, "cf": .format, "cs": .surrogate, "co": .privateUse,
            "cn": .unassigned,
        ]
        var all = single.mapValues { Set([$0]) }
        for (key, category) in single { all[String(key.prefix(1)), default: []].insert(category) }
        let long = [
            "letter": "l", "mark": "m", "number": "n", "punctuation": "p", "punct": "p", "symbol": "s",
            "separator": "z", "other": "c", "uppercaseletter": "lu", "lowercaseletter": "ll", "decimalnumber": "nd",
            "digit": "nd", "control": "cc", "cntrl": "cc",
        ]
        for (name, key) in long { all[name] = all[key] }
        return all
    }()
}
