import CausewayMapping
import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// How the source rows of an entity mapping are read: out of the pages of their table where the new ones become pages,
/// else by a statement.
struct MappingReading: Sendable {
    let plan: EntityMappingPlan
    let source: SourceStore
    let limits: BatchLimits
    /// Where the mapping's cells are in the records of its table; nil: in their order, as in a statement's rows.
    let map: RowMap?
    private let table: Table?

    private struct Table: Sendable {
        let file: PageFile
        let root: Int
    }

    /// By a statement.
    init(_ plan: EntityMappingPlan, of source: SourceStore, options: EngineOptions) {
        (self.plan, self.source) = (plan, source)
        limits = BatchLimits(rows: options.batchRows, bytes: options.batchBytes)
        (map, table) = (nil, nil)
    }

    /// Most rows of a batch that becomes pages: what a policy makes of one can be many times as large.
    private static let rowsAtATime = 4_096

    /// Out of pages, where the table's records can be read without SQLite. Batches follow from the store alone, so that
    /// pages do.
    init(_ plan: EntityMappingPlan, pagesOf source: SourceStore) {
        (self.plan, self.source) = (plan, source)
        limits = BatchLimits(
            rows: Self.rowsAtATime, bytes: EngineOptions.pageBatchBytes(pageSize: Int(source.pageSize)) / 4)
        let found = Self.table(of: plan, in: source)
        (map, table) = (found?.map, found?.table)
    }

    private static func table(of plan: EntityMappingPlan, in source: SourceStore) -> (table: Table, map: RowMap)? {
        guard let schema = source.schema.table(plan.shape.table.name), let file = try? source.pageFile(),
            !schema.columns.contains(where: { $0.isGenerated || $0.hasDefault }), entities(of: plan) != nil,
            plan.shape.cells.allSatisfy({ if case .column = $0 { true } else { false } }),
            let map = try? RowMap(
                RowMap.cells(plan.shape, of: schema), defaults: schema.columns.map { _ in .null })
        else { return nil }
        return (Table(file: file, root: Int(schema.rootPage)), map)
    }

    /// Z_ENT of the mapping's rows, where nothing else decides which they are.
    private static func entities(of plan: EntityMappingPlan) -> Set<Int64>? {
        guard plan.shape.conditions.count == 1, case .oneOf(_, let numbers)? = plan.shape.conditions.first else {
            return nil
        }
        return Set(numbers.map { Int64($0) })
    }

    /// Z_ENT of the rows that are the mapping's; nil where only these are read.
    var entities: Set<Int64>? { table == nil ? nil : Self.entities(of: plan) }

    /// Reads one row after another.
    func makeView() -> RowView { map.map { RowView($0) } ?? RowView(capacity: plan.shape.cells.count) }

    /// The rows after a cursor (nil: all).
    func open(after cursor: StepLedger.Cursor?) throws(EngineError) -> MappingSource {
        let title = plan.description.name
        guard let table else {
            return MappingSource(
                try StatementSource.rows(
                    of: plan.shape, key: plan.cells[TableStorage.primaryKey], after: cursor, in: source.connection,
                    isUTF8: source.isUTF8, title: title))
        }
        let key = cursor.flatMap { $0.rows > 0 ? Mutant.isOn(.cursorTooEarly) ? $0.key - 1 : $0.key : nil }
        return MappingSource(
            PageSource(
                TableReader(
                    table.file, root: table.root, after: key,
                    claims: PageClaims(pageCount: table.file.layout.pageCount)),
                title: title))
    }
}

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
