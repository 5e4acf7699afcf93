package import CausewaySQLite

extension CompiledFunctions {
    /// Functions of SQLite's whose result is no larger than their arguments, or a few bytes. Computing them for a row
    /// costs what reading the row costs.
    private static let bounded: Set<String> = [
        "->", "->>", "abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "ceiling", "char",
        "cos", "cosh", "date", "datetime", "degrees", "exp", "floor", "glob", "instr", "json_array_length",
        "json_error_position", "json_extract", "json_type", "json_valid", "julianday", "length", "like", "ln", "log",
        "log10", "log2", "lower", "ltrim", "max", "min", "mod", "nullif", "octet_length", "pi", "pow", "power",
        "radians", "round", "rtrim", "sign", "sin", "sinh", "soundex", "sqrt", "strftime", "substr", "substring",
        "tan", "tanh", "time", "timediff", "trim", "trunc", "typeof", "unhex", "unicode", "unixepoch", "upper",
    ]
    /// Functions whose result is at most a few times as long as their arguments, and how often that doubles the length.
    private static let doubling: [String: Int] = [
        "concat": 1, "concat_ws": 1, "hex": 1, "json": 1, "json_array": 3, "json_insert": 3, "json_object": 3,
        "json_patch": 1, "json_quote": 3, "json_remove": 1, "json_replace": 3, "json_set": 3, "quote": 1,
    ]
    /// Most doublings of a row's values.
    private static let maximumDoublings = 16
    /// Digits of a width or precision in a format: 99 at most.
    private static let maximumDigits = 2

    /// An unbounded function that a hostile schema makes SQLite call for each row: an index on
    /// `length(hex(zeroblob(450000000)))` costs a second per row. Nil if all functions are bounded.
    package var boundless: String? {
        var doublings = concatenations
        for call in calls {
            guard let growth = Self.growth(of: call) else { return call.name }
            doublings += growth
            if doublings > Self.maximumDoublings { return call.name }
        }
        return doublings > Self.maximumDoublings ? "||" : nil
    }

    /// How often the result doubles the arguments' length; nil if it is unbounded.
    private static func growth(of call: Call) -> Int? {
        if bounded.contains(call.name) { return 0 }
        if let growth = doubling[call.name] { return growth }
        switch call.name {
        case "replace":
            // Each byte may become the replacement.
            guard let replacement = call.texts[2] else { return nil }
            return Int.bitWidth - replacement.utf8.count.leadingZeroBitCount
        case "format", "printf":
            guard let format = call.texts[0], !format.utf8.contains(UInt8(ascii: "*")),
                format.split(whereSeparator: { !$0.isASCII || !$0.isNumber }).allSatisfy({ $0.count <= maximumDigits })
            else { return nil }
            return 1
        default: return nil
        }
    }
}
