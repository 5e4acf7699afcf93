package import CausewayEvaluation
package import CausewayPlanning
package import CausewaySQLiteFile

/// A batch's results: rows, links and associations, ready to be written in the source's order.
///
/// Sendable although it refers to a batch: a worker hands it to the writer and gets it back, and doesn't touch it in
/// between.
package struct PendingRows: @unchecked Sendable {
    /// Most cells of a source record: SQLite's own limit of columns.
    package static let maximumCells = 2_000
    /// Cells of all tables, and links and associations, whose memory is kept for the next batch: 16 bytes each. A batch
    /// of which a policy made many more doesn't stay paid for.
    private static let keptCells = 1 << 20

    /// In the layout's order.
    package internal(set) var tables: [RowTable] = []
    var linkChanges: [LinkChange] = []
    /// The batch with the carried cells.
    package var batch: RowBatch?
    var associations: [PendingAssociation] = []
    /// Objects that were deleted, these rows or others.
    var deletions = 0

    init() {}

    /// None yet.
    package init(_ map: StorageMap) {
        tables = map.tables.map { RowTable(columnCount: $0.columns.count) }
    }

    /// The key that a row has been given, once the rows are written.
    package func key(of object: ObjectID, in map: StorageMap) -> Int64 {
        guard object.key < 0, let table = map.table(of: object.entity) else { return object.key }
        return tables[table].keys[Int(-(object.key + 1))]
    }

    /// The key that a row of these has been given; nil for a removed one.
    package func key(table: Int32, index: Int32) -> Int64? {
        // Without a copy of the table, whose arrays would be retained for each key.
        let (table, index) = (Int(table), Int(index))
        return tables[table].isRemoved(index) ? nil : tables[table].keys[index]
    }

    /// Whether an object was made for one of these rows, and deleted again.
    func isRemoved(_ object: ObjectID, in map: StorageMap) -> Bool {
        guard object.key < 0, let table = map.table(of: object.entity) else { return false }
        return tables[table].isRemoved(Int(-(object.key + 1)))
    }

    /// Whether a cell's link leads to one of these rows: a table's, of entities with these numbers.
    ///
    /// - Parameters:
    ///   - cell: of a row of this batch, which has its key.
    ///   - table: the target's place.
    ///   - numbers: Z_ENT of the targets.
    ///   - hint: where the search begins: links that ascend find their rows in one go; raised.
    /// - Returns: false also where the row is before the hint.
    package func leads(
        _ cell: StoredCell, to table: Int, of numbers: ClosedRange<Int>, from hint: inout Int
    ) -> Bool {
        switch cell {
        case .temporary(let other, let index):
            return Int(other) == table && tables[table].isNew(Int(index), of: numbers)
        case .integer(let key):
            while hint < tables[table].count, tables[table].keys[hint] < key { hint += 1 }
            return hint < tables[table].count && tables[table].keys[hint] == key
                && tables[table].isNew(hint, of: numbers)
        default: return false
        }
    }

    /// Whether the cells of a new row can be stored as they are: no link leads to a row that has no key yet, and no
    /// place is to be numbered.
    package func needsNoKeys(_ content: RowTable, _ row: Int) -> Bool {
        let first = row * content.columnCount
        for column in 0..<content.columnCount {
            switch content.cells[first + column] {
            case .temporary(let other, let index):
                let (other, index) = (Int(other), Int(index))
                guard tables[other].isRemoved(index) || tables[other].keys[index] != 0 else { return false }
            case .appended: return false
            default: continue
            }
        }
        return true
    }

    /// Whether all rows are new ones of one entity, each with the key of its source row, and nothing else was done.
    ///
    /// - Parameters:
    ///   - table: the entity's place among the tables.
    ///   - entity: its Z_ENT.
    /// - Returns: false also where rows were linked, changed or deleted.
    package func keepKeys(inTable table: Int, of entity: Int32) -> Bool {
        guard linkChanges.isEmpty, associations.isEmpty else { return false }
        return tables.indices.allSatisfy { place in
            let content = tables[place]
            guard content.hasChanges else { return true }
            guard place == table, content.changes.isEmpty, content.deletedKeys.isEmpty else { return false }
            return (0..<content.count).allSatisfy { row in
                !content.isNew(row) || content.entities[row] == entity && content.keys[row] != 0
            }
        }
    }

    func key(of reference: RowReference) -> Int64? {
        switch reference {
        case .key(let key): key
        case .temporary(let table, let index): key(table: table, index: index)
        }
    }

    /// Forgets everything, and keeps the memory for the next batch.
    package mutating func removeAll() {
        var kept = 0
        for index in tables.indices {
            kept += tables[index].cells.capacity
            if kept > Self.keptCells {
                kept -= tables[index].cells.capacity
                tables[index] = RowTable(columnCount: tables[index].columnCount)
            } else {
                tables[index].removeAll()
            }
        }
        linkChanges.removeAll(keepingCapacity: linkChanges.capacity <= Self.keptCells)
        associations.removeAll(keepingCapacity: associations.capacity <= Self.keptCells)
        batch = nil
        deletions = 0
    }
}

/// A destination row was made from a source row under an entity mapping.
struct PendingAssociation: Sendable {
    /// Place of the entity mapping in its step.
    var mapping: Int
    var source: ObjectID
    /// nil: the source row has no result, although a row has its key.
    var destination: ObjectID?
    /// Whether another hook than the source row's own has associated the object with it: that is further to what its
    /// own one makes, or has made.
    var isFurther = false
}
