import CausewayPreparation

/// A rule of one row.
struct RowQuestion: Sendable {
    enum Kind: Sendable {
        /// The cell isn't NULL.
        case isThere
        /// Its value passes.
        case passes(ValueTest)
        /// It leads to a row of one of these entities.
        case leads(table: Int, numbers: ClosedRange<Int>)
    }

    /// Among the rules' row checks.
    let place: Int
    /// Of the row's table, as the new store's map counts them.
    let column: Int
    let kind: Kind
}
