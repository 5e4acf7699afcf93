import CausewaySQLiteFile
import CausewayStores

/// Rows of an entity mapping, from a statement or out of pages.
struct MappingSource: RowSource, ~Copyable {
    private var statement: StatementSource?
    private var pages: PageSource?

    init(_ statement: consuming StatementSource) {
        self.statement = consume statement
        pages = nil
    }

    init(_ pages: consuming PageSource) {
        statement = nil
        self.pages = consume pages
    }

    mutating func fill(_ batch: RowBatch, limits: BatchLimits) throws(EngineError) -> Bool {
        if let more = try statement?.fill(batch, limits: limits) { return more }
        return try pages?.fill(batch, limits: limits) ?? false
    }
}
