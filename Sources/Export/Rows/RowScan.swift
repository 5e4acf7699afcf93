import CausewayEvaluation
import CausewayModel
import CausewayObjects
import CausewayPlanning
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// The rows of one entity, without its subentities', in the order of their keys.
struct RowScan {
    let store: SourceStore
    let map: StorageMap
    let notes: ExportNotes
    let filter: RowFilter?
    let limit: Int?
    let progress: ProgressCount

    /// Lends each chosen row: its key, and a cell for each of `columns`.
    ///
    /// - Parameters:
    ///   - entity: the entity's name, for messages.
    ///   - number: its Z_ENT.
    ///   - columns: places in the columns of the entity's table.
    ///   - body: false ends the scan.
    /// - Throws: what `body` throws, or where the store can't be read.
    func forEach(
        _ entity: String, _ number: Int32, _ columns: [Int],
        _ body: (Int64, [CellValue]) throws(EngineError) -> Bool
    ) throws(EngineError) {
        if limit == 0 { return }
        guard let place = map.table(of: number) else { return }
        let table = map.tables[place]
        let box = try EngineError.reading(store.location.path) {
            let key = table.columns[TableStorage.primaryKey]
            let names = ([key] + columns.map { table.columns[$0] }).map(\.quoted).joined(separator: ", ")
            let box = StatementBox(
                try store.connection.prepare(
                    """
                    SELECT \(names) FROM \(table.name) WHERE \(table.columns[TableStorage.entityNumber]) = ?1 \
                    ORDER BY \(key)
                    """))
            try box.statement.bind(Int64(number), at: 1)
            return box
        }
        let names = columns.map { map.layout.tables[place].columns[$0].property }
        var count = 0
        progress.begin(entity)
        while try EngineError.reading("\(store.location.path): \(entity)", { try box.statement.step() }) {
            try progress.add()
            let key = box.statement.int64(at: 0)
            if let filter, try !filter.takes(number, named: entity, key: key) { continue }
            var cells: [CellValue] = []
            cells.reserveCapacity(columns.count)
            for index in columns.indices {
                cells.append(cell(box.statement, index + 1, entity, key, names[index]))
            }
            count += 1
            guard try body(key, cells), limit.map({ count < $0 }) ?? true else { return }
        }
    }

    private func cell(
        _ row: borrowing Statement, _ index: Int, _ entity: String, _ key: Int64, _ property: String
    ) -> CellValue {
        switch row.type(at: index) {
        case .null: return .null
        case .integer: return .integer(row.int64(at: index))
        case .real: return .real(row.double(at: index))
        case .blob: return .blob(row.bytes(at: index) ?? [])
        case .text:
            let bytes = unsafe row.unsafeText(at: index)
            if let text = unsafe String(validating: bytes, as: UTF8.self) { return .text(text) }
            notes.add(.invalidText, entity, property, key: key)
            return .text(unsafe String(decoding: bytes, as: UTF8.self))
        }
    }
}

extension Column {
    /// The attribute or relationship that it holds; its own name where it holds none.
    fileprivate var property: String {
        switch role {
        case .attribute(_, let path): path
        case .toOne(_, let relationship): relationship
        default: name
        }
    }
}
