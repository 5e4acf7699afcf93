package import CausewaySQLite

extension CompiledFunctions {
    /// Functions of SQLite's whose result is no larger than their arguments, or a few bytes. Computing them for a row costs
    /// what reading the row costs.
    private static let bounded: Set<String> = [
        "->", "->>", "abs", "ceil", "ceiling", "date", "datetime", "floor", "glob", "instr", "json_array_length",
        "json_extract", "json_type", "json_valid", "julianday", "length", "like", "lower", "ltrim", "max", "min", "mod",
        "nullif", "round", "rtrim", "sign", "strftime", "substr", "substring", "time", "trim", "trunc", "typeof",
        "unicode", "unixepoch", "upper",
    ]
    /// Each may double what it is given.
    private static let maximumConcatenations = 16

    /// What a hostile schema could make SQLite compute without bound for each row: an index on
    /// `length(hex(zeroblob(450000000)))` costs a second a row. Nil where all is bounded.
    package var boundless: String? {
        if let name = names.subtracting(Self.bounded).min() { return name }
        return concatenations > Self.maximumConcatenations ? "||" : nil
    }
}
