/// The reserved words of the format language, in any case; `#` before one makes it a key (`#size`).
enum ReservedWords {
    /// What Apple's printer escapes.
    static let escaped: Set<String> = [
        "all", "and", "any", "anykey", "apply", "beginswith", "between", "cast", "contains", "endswith", "false",
        "falsepredicate", "fetch", "first", "function", "in", "intersect", "intersection", "last", "like", "matches",
        "minus", "nil", "no", "none", "not", "null", "or", "self", "size", "some", "subquery", "ternary",
        "tokenmatches", "true", "truepredicate", "union", "yes",
    ]

    /// Words that are unambiguous where an expression begins, and so are keys there even without `#`.
    static let harmless: Set<String> = ["anykey", "apply", "fetch", "first", "last", "size", "ternary"]

    /// The text that parses as `name`.
    static func escape(_ name: Substring) -> String {
        escaped.contains(name.lowercased()) ? "#" + name : String(name)
    }
}
