/// Rows of one table that a context holds: new ones, and stored ones that were read. Cells lie in one array, so that a
/// row costs no allocation of its own.
struct RowTable {
    struct State: OptionSet {
        let rawValue: UInt8
        /// Not in the store yet.
        static let inserted = State(rawValue: 1)
        /// Taken back before it was written.
        static let removed = State(rawValue: 2)
    }

    let columnCount: Int
    /// Z_PK, 0 for a row that gets its key when it is written.
    private(set) var keys: [Int64] = []
    private(set) var entities: [Int32] = []
    private(set) var states: [State] = []
    /// The row of the source batch that carried cells belong to; −1 where there are none.
    private(set) var sourceRows: [Int32] = []
    private(set) var cells: ContiguousArray<Cell> = []
    /// Columns that were changed since a stored row was read.
    private(set) var changes: [Int: Set<Int>] = [:]
    private var indexByKey: [Int64: Int] = [:]

    init(columnCount: Int) {
        self.columnCount = columnCount
    }

    var count: Int { keys.count }

    /// The place of the row with this key.
    func index(of key: Int64) -> Int? {
        if let last = keys.last, last == key { return keys.count - 1 }
        return indexByKey[key]
    }

    /// Adds a row whose cells are `template`; `key` 0 leaves its key open.
    mutating func append(
        key: Int64, entity: Int32, state: State, sourceRow: Int32, template: ContiguousArray<Cell>
    ) -> Int {
        let index = keys.count
        keys.append(key)
        entities.append(entity)
        states.append(state)
        sourceRows.append(sourceRow)
        cells.append(contentsOf: template)
        if key != 0 { indexByKey[key] = index }
        return index
    }

    func cell(_ row: Int, _ column: Int) -> Cell {
        cells[row * columnCount + column]
    }

    mutating func set(_ row: Int, _ column: Int, to cell: Cell) {
        cells[row * columnCount + column] = cell
        if !states[row].contains(.inserted) { changes[row, default: []].insert(column) }
    }

    mutating func remove(_ row: Int) {
        states[row].insert(.removed)
        indexByKey[keys[row]] = nil
        changes[row] = nil
    }

    func isRemoved(_ row: Int) -> Bool { states[row].contains(.removed) }

    /// A new row gets its key.
    mutating func give(key: Int64, to row: Int) {
        keys[row] = key
    }

    mutating func removeAll() {
        keys.removeAll(keepingCapacity: true)
        entities.removeAll(keepingCapacity: true)
        states.removeAll(keepingCapacity: true)
        sourceRows.removeAll(keepingCapacity: true)
        cells.removeAll(keepingCapacity: true)
        changes.removeAll(keepingCapacity: true)
        indexByKey.removeAll(keepingCapacity: true)
    }
}
