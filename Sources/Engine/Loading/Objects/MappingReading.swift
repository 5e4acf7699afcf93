import CausewayMapping
import CausewayModel
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
    /// Of the columns that the cells are of; nil where a cell isn't a column's.
    let affinities: [Affinity?]
    private let table: Table?
    /// Tells the mapping's rows from others among those that are read.
    let own: OwnRows

    private struct Table: Sendable {
        let file: PageFile
        let root: Int
    }

    /// By a statement. The rows of each batch are written table by table, so that batches decide where pages are: they
    /// follow from the store alone, too.
    init(_ plan: EntityMappingPlan, to purpose: Purpose, of source: SourceStore, options: EngineOptions) {
        (shape, cells) = Self.content(of: plan, purpose)
        (title, self.source) = (plan.description.name, source)
        limits = BatchLimits(rows: options.mappingBatchRows, bytes: options.mappingBatchBytes)
        (map, table) = (nil, nil)
        own = OwnRows(of: shape)
        affinities = Self.affinities(of: shape, in: source)
    }

    /// Most rows of a batch that becomes pages: what a policy makes of one can be many times as large.
    private static let rowsAtATime = 4_096

    /// Out of pages, where the table's records can be read without SQLite and all of its rows are the mapping's: where
    /// others are among them, each mapping would read these too. Batches follow from the store alone, so that pages do.
    ///
    /// - Parameters:
    ///   - plan: the mapping.
    ///   - purpose: for which stage.
    ///   - source: that is read.
    ///   - layout: of the source.
    ///   - isShared: whether the table is read once for all mappings of its rows.
    init(
        _ plan: EntityMappingPlan, to purpose: Purpose, pagesOf source: SourceStore, _ layout: StoreLayout,
        isShared: Bool = false
    ) {
        let content = Self.content(of: plan, purpose)
        (shape, cells) = content
        (title, self.source) = (plan.description.name, source)
        limits = BatchLimits(
            rows: Self.rowsAtATime, bytes: EngineOptions.pageBatchBytes(pageSize: Int(source.pageSize)) / 4)
        let found = isShared || content.0.readsAllRows(of: layout) ? Self.table(of: content.0, in: source) : nil
        (map, table) = (found?.map, found?.table)
        own = found == nil ? OwnRows(of: content.0) : OwnRows(of: content.0, cells: content.1, layout)
        affinities = Self.affinities(of: content.0, in: source)
    }

    /// Out of pages, all rows of an inferred step's pass; nil where they can't be read so.
    init?(_ pass: RowPass, pagesOf source: SourceStore) {
        guard let schema = source.schema.table(pass.sourceTable), let file = try? source.pageFile(),
            pass.shape.cells.allSatisfy({ if case .column = $0 { true } else { false } }),
            let map = try? RowMap(
                RowMap.cells(pass.shape, of: schema), defaults: schema.columns.map { _ in .null })
        else { return nil }
        (shape, cells, title, self.source) = (pass.shape, [], pass.title, source)
        limits = BatchLimits(
            rows: Self.rowsAtATime, bytes: EngineOptions.pageBatchBytes(pageSize: Int(source.pageSize)) / 4)
        (self.map, table) = (map, Table(file: file, root: Int(schema.rootPage)))
        own = OwnRows(of: pass.shape)
        affinities = Self.affinities(of: pass.shape, in: source)
    }

    private static func affinities(of shape: RowShape, in source: SourceStore) -> [Affinity?] {
        let table = source.schema.table(shape.table.name)
        return shape.cells.map { cell in
            guard case .column(let name) = cell, let place = table?.position(of: name.name) else { return nil }
            return (table?.columns[place].declaredType).map { Affinity($0) }
        }
    }

    private static func content(of plan: EntityMappingPlan, _ purpose: Purpose) -> (RowShape, [Int]) {
        switch purpose {
        case .create: (plan.shape, plan.cells)
        case .relate: (plan.linkShape, plan.linkCells)
        }
    }

    private static func table(
        of shape: RowShape, in source: SourceStore
    ) -> (table: Table, map: RowMap)? {
        guard let schema = source.schema.table(shape.table.name), let file = try? source.pageFile(),
            !schema.columns.contains(where: { $0.isGenerated || $0.hasDefault }),
            shape.cells.allSatisfy({ if case .column = $0 { true } else { false } }),
            let map = try? RowMap(
                RowMap.cells(shape, of: schema), defaults: schema.columns.map { _ in .null })
        else { return nil }
        return (Table(file: file, root: Int(schema.rootPage)), map)
    }

    /// Reads one row after another.
    func makeView() -> RowView { map.map { RowView($0) } ?? RowView(capacity: shape.cells.count) }

    /// Whether the rows are read out of pages.
    var isOfPages: Bool { table != nil }

    /// The reader's part of a pipeline.
    ///
    /// - Parameters:
    ///   - cursor: the rows after it; nil: all.
    ///   - claims: of the source's pages, by the trees that the step has read.
    ///   - input: of a batch: gets the rows.
    /// - Returns: what opens the source on the reader's thread, and fills every batch.
    func reading<Batch>(
        after cursor: StepLedger.Cursor?, claiming claims: SourceClaims,
        into input: @escaping @Sendable (Batch) -> RowBatch
    ) -> OrderedPipeline<Batch>.Reading {
        { every throws(EngineError) in
            var source = try open(after: cursor, claiming: claims)
            try every { (batch: inout Batch) throws(EngineError) in try source.fill(input(batch), limits: limits) }
        }
    }

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
