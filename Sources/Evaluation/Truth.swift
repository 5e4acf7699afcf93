/// The answer of a predicate. A filter follows SQL, whose comparisons with NULL are unknown; an expression, which is
/// evaluated in memory, has two answers only.
enum Truth: Sendable {
    case yes, no, unknown

    init(_ holds: Bool) { self = holds ? .yes : .no }

    /// NOT of unknown is unknown.
    var negated: Truth {
        switch self {
        case .yes: .no
        case .no: .yes
        case .unknown: .unknown
        }
    }
}

/// What a comparison with NULL gives.
enum NullRule: Sendable {
    /// Foundation's, for value expressions: NULL equals NULL, and differs from everything else.
    case memory
    /// SQLite's, for filters and fetches: unknown. `x == nil` with the literal, or with a variable that is NULL, is
    /// `x IS NULL`, as Core Data translates it.
    case sql
}
