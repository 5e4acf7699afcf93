import CausewayPlanning
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// Tells a mapping's rows from those of other mappings in the same table, for every row that is read: it has nothing
/// more than that takes, as what is asked for a row is copied for a row.
struct OwnRows: Sendable {
    /// Z_ENT of the mapping's rows; nil where only these are read.
    private let entities: [Int64]?
    /// Z_ENT that rows of the table can have, those of abstract entities among them; nil: none is refused.
    private let numbers: ClosedRange<Int>?
    /// The cell of each column of the table; none where nothing is asked.
    private let cells: [Int]
    private let table: String

    /// Only the mapping's rows are read.
    init(of shape: RowShape) {
        (entities, numbers, cells, table) = (nil, nil, [], shape.table.name)
    }

    /// All rows of the table are read.
    ///
    /// - Parameters:
    ///   - shape: what is read of the rows.
    ///   - cells: the cell of each column of the table.
    ///   - layout: of the source.
    init(of shape: RowShape, cells: [Int], _ layout: StoreLayout) {
        let root = layout.table(named: shape.table.name)?.rootEntity
        (entities, numbers) = (shape.onlyEntities, root.flatMap { layout.numbers(ofTree: $0) } ?? 0...0)
        (self.cells, table) = (cells, shape.table.name)
    }

    /// Rows that a step before has made.
    ///
    /// - Parameters:
    ///   - plan: the mapping.
    ///   - cells: the cell of each column of its table.
    init(of plan: EntityMappingPlan, cells: [Int]) {
        (entities, numbers) = ([Int64(plan.sourceEntity ?? 0)], nil)
        (self.cells, table) = (cells, plan.shape.table.name)
    }

    /// Whether the row in a view is the mapping's.
    ///
    /// - Throws: where it is no entity's of the table.
    func contain(_ view: RowView) throws(EngineError) -> Bool {
        guard let entities else { return true }
        let number = view.integer(at: cells[TableStorage.entityNumber])
        if let number, entities.contains(number) { return true }
        guard let numbers else { return false }
        if let number, let number = Int(exactly: number), numbers.contains(number) { return false }
        throw EngineError(
            .sourceData,
            "table \(table): Z_ENT \(number.map(String.init) ?? "NULL") of a row names no entity of this table")
    }
}
