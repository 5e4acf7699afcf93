package import CausewaySQLiteFile

/// Rows of one table that a context holds: new ones, and stored ones that were read. All cells are in one array, and
/// all short texts in another, so that a row needs no allocation.
package struct RowTable {
    struct State: OptionSet {
        let rawValue: UInt8
        /// Not in the store yet.
        static let inserted = State(rawValue: 1)
        /// A removed new row, or a stored one that will be deleted.
        static let removed = State(rawValue: 2)
    }

    /// A cell whose place in an ordered relationship isn't numbered yet.
    struct AppendedCell: Hashable {
        var row: Int
        var column: Int
    }

    package let columnCount: Int
    /// Z_PK, 0 for a row that gets its key when it is written.
    package private(set) var keys: [Int64] = []
    package private(set) var entities: [Int32] = []
    private(set) var states: [State] = []
    /// The row of the source batch that carried cells belong to; −1 where there are none.
    package private(set) var sourceRows: [Int32] = []
    package internal(set) var cells: ContiguousArray<StoredCell> = []
    /// The bytes of the cells' texts, and other values that cells name by their place. What was replaced stays until
    /// the rows are forgotten.
    package internal(set) var texts: ContiguousArray<UInt8> = []
    package internal(set) var values: [CellValue] = []
    /// Columns that were changed since a stored row was read.
    package private(set) var changes: [Int: Set<Int>] = [:]
    /// Columns in which any stored row was changed.
    private(set) var changedColumns: Set<Int> = []
    private(set) var hasInserted = false
    /// New rows without removed ones; known once they have keys.
    package private(set) var newRows: [Int] = []
    /// Stored rows that will be deleted.
    package private(set) var deletedKeys: Set<Int64> = []
    /// In the order in which they were appended; a cell that was set again later is ignored.
    private(set) var appended: [AppendedCell] = []
    /// Most bytes of texts whose memory is kept for the next rows.
    private static let keptTextBytes = 1 << 22
    /// Rows by their keys, without those from `indexedRows` on: rows enter it when one is looked up.
    private var indexByKey: [Int64: Int] = [:]
    private var indexedRows = 0
    private var largestKey: Int64 = 0

    init(columnCount: Int) {
        self.columnCount = columnCount
    }

    package var count: Int { keys.count }

    /// Whether there is something to write.
    package var hasChanges: Bool { hasInserted || !changes.isEmpty || !deletedKeys.isEmpty }

    /// The place of the row with this key; nil for one that isn't held, or was removed.
    mutating func index(of key: Int64) -> Int? {
        if let last = keys.last, last == key, key != 0, !isRemoved(keys.count - 1) { return keys.count - 1 }
        guard key <= largestKey else { return nil }
        if indexedRows < keys.count { indexRows() }
        return indexByKey[key]
    }

    private mutating func indexRows() {
        for row in indexedRows..<keys.count where keys[row] != 0 && !isRemoved(row) { indexByKey[keys[row]] = row }
        indexedRows = keys.count
    }

    /// Adds a row whose cells are `template`; `key` 0 leaves its key open.
    mutating func append(
        key: Int64, entity: Int32, state: State, sourceRow: Int32, template: some Collection<StoredCell>
    ) -> Int {
        let index = keys.count
        keys.append(key)
        entities.append(entity)
        states.append(state)
        sourceRows.append(sourceRow)
        cells.append(contentsOf: template)
        if key > largestKey { largestKey = key }
        if state.contains(.inserted) { hasInserted = true }
        return index
    }

    /// A cell of a stored row was changed.
    mutating func noteChange(_ row: Int, _ column: Int) {
        guard !states[row].contains(.inserted) else { return }
        changes[row, default: []].insert(column)
        changedColumns.insert(column)
    }

    /// The cells with a place or to be numbered, in the order in which they got it last.
    func placedCells() -> [AppendedCell] {
        var seen: Set<AppendedCell> = []
        var result: [AppendedCell] = []
        for place in appended.reversed() where !isRemoved(place.row) {
            if seen.insert(place).inserted { result.append(place) }
        }
        return result.reversed()
    }

    /// Remembers that a cell was given an explicit place, in the order in which places are given.
    mutating func notePlace(_ row: Int, _ column: Int) {
        appended.append(AppendedCell(row: row, column: column))
    }

    /// Removes a new row, or marks a stored one for deletion.
    mutating func remove(_ row: Int) {
        if !states[row].contains(.inserted) { deletedKeys.insert(keys[row]) }
        states[row].insert(.removed)
        if row < indexedRows { indexByKey[keys[row]] = nil }
        changes[row] = nil
    }

    func isRemoved(_ row: Int) -> Bool { states[row].contains(.removed) }

    /// New, and not removed.
    package func isNew(_ row: Int) -> Bool { states[row] == .inserted }

    /// … and is of an entity with one of these numbers.
    func isNew(_ row: Int, of numbers: ClosedRange<Int>) -> Bool {
        isNew(row) && numbers.contains(Int(entities[row]))
    }

    /// Gives an appended cell its place.
    mutating func number(_ place: AppendedCell, _ value: Int64) {
        cells[place.row * columnCount + place.column] = .integer(value)
    }

    /// New rows get their keys in the order in which they were made. Marks a key that came from elsewhere as used.
    mutating func giveKeys(from space: inout KeySpace, table: Int) throws(ObjectError) {
        newRows.removeAll(keepingCapacity: true)
        guard hasInserted else { return }
        for row in states.indices where states[row].contains(.inserted) {
            if keys[row] != 0 {
                space.take(keys[row], in: table)
            } else if !isRemoved(row) {
                keys[row] = try space.next(in: table)
            }
            if !isRemoved(row) { newRows.append(row) }
        }
    }

    mutating func removeAll() {
        keys.removeAll(keepingCapacity: true)
        entities.removeAll(keepingCapacity: true)
        states.removeAll(keepingCapacity: true)
        sourceRows.removeAll(keepingCapacity: true)
        cells.removeAll(keepingCapacity: true)
        texts.removeAll(keepingCapacity: texts.capacity <= Self.keptTextBytes)
        values.removeAll(keepingCapacity: true)
        changes.removeAll(keepingCapacity: true)
        changedColumns.removeAll(keepingCapacity: true)
        newRows.removeAll(keepingCapacity: true)
        deletedKeys.removeAll(keepingCapacity: true)
        appended.removeAll(keepingCapacity: true)
        if indexedRows > 0 { indexByKey.removeAll(keepingCapacity: true) }
        (indexedRows, largestKey) = (0, 0)
        hasInserted = false
    }
}
