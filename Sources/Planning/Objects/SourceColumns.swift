import CausewayEvaluation
import CausewayMapping
import CausewayStoreFormat

/// The statement that reads one entity mapping's source rows, with the requested columns.
struct SourceColumns {
    let map: StorageMap
    let entity: Int32
    private(set) var shape: RowShape
    /// Result column by column of the table; −1 where it isn't read.
    private(set) var cells: [Int]
    private let table: Int

    init(map: StorageMap, entity: Int32) {
        self.map = map
        self.entity = entity
        table = map.table(of: entity) ?? 0
        shape = RowShape(table: map.tables[table].name)
        cells = Array(repeating: -1, count: map.tables[table].columns.count)
    }

    /// Reads key and entity first, and only the rows of the entity.
    mutating func begin(rows: SourceRows) throws(PlanError) {
        _ = try index(of: TableStorage.primaryKey)
        _ = try index(of: TableStorage.entityNumber)
        var numbers = [Int(entity)]
        if rows.includesSubentities, let tree = map.layout.numbers(ofTree: map.name(of: entity)) {
            numbers = Array(tree)
        }
        shape.conditions = [.oneOf(map.tables[table].columns[TableStorage.entityNumber], numbers)]
    }

    /// The cell of the shape for a column of the table.
    mutating func index(of column: Int) throws(PlanError) -> Int {
        if cells[column] >= 0 { return cells[column] }
        let index = shape.index(of: .column(map.tables[table].columns[column]))
        cells[column] = index
        return index
    }

    /// Reads every stored property of the entity.
    mutating func addAll() throws(PlanError) {
        for name in map.schema.names.indices {
            if case .attribute(let column, _)? = map.place(of: .init(index: name), entity: entity) {
                _ = try index(of: column)
            }
        }
        try addLinks()
    }

    /// Reads every key that the entity's rows hold.
    mutating func addLinks() throws(PlanError) {
        for name in map.schema.names.indices {
            guard case .toOne(let link)? = map.place(of: .init(index: name), entity: entity) else { continue }
            for column in [link.column, link.entityColumn, link.orderColumn] {
                if let column { _ = try index(of: column) }
            }
        }
    }
}
