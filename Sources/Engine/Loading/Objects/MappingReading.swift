import CausewayMapping
import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores
import Synchronization

/// How the source rows of an entity mapping are read: out of the pages of their table where the new ones become pages,
/// else by a statement.
struct MappingReading: Sendable {
    /// For which stage of the mapping.
    enum Purpose {
        case create, relate
    }

    /// What is read of the rows, and the cell of each column of their table.
    let shape: RowShape
    let cells: [Int]
    private let title: String
    let source: SourceStore
    let limits: BatchLimits
    /// Where the mapping's cells are in the records of its table; nil: in their order, as in a statement's rows.
    let map: RowMap?
    private let table: Table?
    /// Z_ENT of the mapping's rows; nil where only these are read.
    private let entities: [Int64]?

    private struct Table: Sendable {
        let file: PageFile
        let root: Int
    }

    /// By a statement.
    init(_ plan: EntityMappingPlan, to purpose: Purpose, of source: SourceStore, options: EngineOptions) {
        (shape, cells) = Self.content(of: plan, purpose)
        (title, self.source) = (plan.description.name, source)
        limits = BatchLimits(rows: options.batchRows, bytes: options.batchBytes)
        (map, table, entities) = (nil, nil, nil)
    }

    /// Most rows of a batch that becomes pages: what a policy makes of one can be many times as large.
    private static let rowsAtATime = 4_096

    /// Out of pages, where the table's records can be read without SQLite. Batches follow from the store alone, so that
    /// pages do.
    init(_ plan: EntityMappingPlan, to purpose: Purpose, pagesOf source: SourceStore) {
        (shape, cells) = Self.content(of: plan, purpose)
        (title, self.source) = (plan.description.name, source)
        limits = BatchLimits(
            rows: Self.rowsAtATime, bytes: EngineOptions.pageBatchBytes(pageSize: Int(source.pageSize)) / 4)
        let found = Self.table(of: shape, in: source)
        (map, table) = (found?.map, found?.table)
        entities = found == nil ? nil : Self.entities(of: shape)
    }

    private static func content(of plan: EntityMappingPlan, _ purpose: Purpose) -> (RowShape, [Int]) {
        switch purpose {
        case .create: (plan.shape, plan.cells)
        case .relate: (plan.linkShape, plan.linkCells)
        }
    }

    private static func table(of shape: RowShape, in source: SourceStore) -> (table: Table, map: RowMap)? {
        guard let schema = source.schema.table(shape.table.name), let file = try? source.pageFile(),
            !schema.columns.contains(where: { $0.isGenerated || $0.hasDefault }), entities(of: shape) != nil,
            shape.cells.allSatisfy({ if case .column = $0 { true } else { false } }),
            let map = try? RowMap(
                RowMap.cells(shape, of: schema), defaults: schema.columns.map { _ in .null })
        else { return nil }
        return (Table(file: file, root: Int(schema.rootPage)), map)
    }

    /// Z_ENT of the mapping's rows, where nothing else decides which they are.
    private static func entities(of shape: RowShape) -> [Int64]? {
        guard shape.conditions.count == 1, case .oneOf(_, let numbers)? = shape.conditions.first else {
            return nil
        }
        return numbers.map { Int64($0) }
    }

    /// Whether the row in a view is the mapping's: the table's pages have those of other entities, too.
    func isOwn(_ view: RowView) -> Bool {
        guard let entities else { return true }
        return view.integer(at: cells[TableStorage.entityNumber]).map(entities.contains) ?? false
    }

    /// Reads one row after another.
    func makeView() -> RowView { map.map { RowView($0) } ?? RowView(capacity: shape.cells.count) }

    /// Whether the rows are read out of pages.
    var isOfPages: Bool { table != nil }

    /// Begins to read the rows.
    ///
    /// - Parameters:
    ///   - cursor: the rows after it; nil: all.
    ///   - claims: of the source's pages, by the trees that the step has read.
    /// - Returns: the rows, one batch after another.
    /// - Throws: where a statement can't be prepared.
    func open(
        after cursor: StepLedger.Cursor?, claiming claims: SourceClaims = SourceClaims()
    ) throws(EngineError) -> MappingSource {
        guard let table else {
            return MappingSource(
                try StatementSource.rows(
                    of: shape, key: cells[TableStorage.primaryKey], after: cursor, in: source.connection,
                    isUTF8: source.isUTF8, title: title))
        }
        let key = cursor.flatMap { $0.rows > 0 ? Mutant.isOn(.cursorTooEarly) ? $0.key - 1 : $0.key : nil }
        return MappingSource(
            PageSource(
                TableReader(
                    table.file, root: table.root, after: key, claims: claims.claims(of: table.root, table.file)),
                title: title))
    }
}

/// Whose the source's pages are: two tables that have the same page are damaged. A table that is read once more has none.
final class SourceClaims: Sendable {
    private let state = Mutex<(roots: Set<Int>, claims: PageClaims?)>(([], nil))

    /// What to read a tree with.
    fileprivate func claims(of root: Int, _ file: PageFile) -> PageClaims {
        state.withLock { state in
            guard state.roots.insert(root).inserted else { return PageClaims(pageCount: file.layout.pageCount) }
            let claims = state.claims ?? PageClaims(pageCount: file.layout.pageCount)
            state.claims = claims
            return claims
        }
    }
}

extension StepPlan {
    /// Whether all rows of its source are read out of pages, whose structure is checked there.
    func readsOnlyPages(of source: SourceStore) -> Bool {
        guard let objects else { return passesReadOnlyPages }
        guard objects.joins.isEmpty, passesReadOnlyPages else { return false }
        return objects.mappings.filter { $0.sourceEntity != nil }.allSatisfy { plan in
            methods.mappings[plan.index]?.method == .pages
                && MappingReading(plan, to: .create, pagesOf: source).isOfPages
        }
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
