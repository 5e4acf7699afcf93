import CausewayModel
import CausewayPlanning
import CausewaySQLiteFile
import CausewayStoreFormat

/// One table whose rows are looked for: where its columns are in a record, and what a row of it looks like.
struct SalvagedTable {
    /// What a column's cells may be, by its declared type.
    private enum Form {
        case integer, number, text, blob, any

        init(_ declared: String) {
            switch declared.uppercased() {
            case "INTEGER": self = .integer
            case "FLOAT", "TIMESTAMP": self = .number
            case "VARCHAR": self = .text
            case "BLOB": self = .blob
            default: self = .any
            }
        }

        func takes(_ cell: CellValue) -> Bool {
            switch (self, cell) {
            case (_, .null), (.any, _), (.integer, .integer), (.number, .integer), (.number, .real), (.text, .text),
                (.blob, .blob):
                true
            default: false
            }
        }
    }

    let name: String
    /// 0 where the schema doesn't say.
    let root: Int
    /// nil for a table of links.
    let rootEntity: String?
    /// Z_ENT of the rows; nil for a table of links.
    let numbers: ClosedRange<Int>?
    /// Place of the map's columns, or of a link table's, in a record; nil for a column that the table lacks.
    let positions: [Int?]
    private let forms: [Form]

    /// An entity's table.
    init(_ table: EntityTable, _ stored: StoreSchema.Table, numbers: ClosedRange<Int>?) {
        name = stored.name
        root = Int(clamping: stored.rootPage)
        rootEntity = table.rootEntity
        self.numbers = numbers
        positions = table.columns.map { stored.position(of: $0.name) }
        // The layout knows the types; columns that only the table has may hold anything.
        let types = Dictionary(
            table.columns.map { ($0.name.lowercased(), $0.declaredType) }, uniquingKeysWith: { first, _ in first })
        forms = stored.columns.map { (column: StoreSchema.Column) -> Form in
            types[column.name.lowercased()].map { $0.hasPrefix("INTEGER") ? Form.integer : Form($0) } ?? .any
        }
    }

    /// A many-to-many's table: owner, member, the member's place, the owner's place.
    init(_ join: JoinTable, _ stored: StoreSchema.Table) {
        name = stored.name
        root = Int(clamping: stored.rootPage)
        rootEntity = nil
        numbers = nil
        let columns = [
            join.ownerColumn, join.destinationColumn, join.destinationOrderColumn, join.ownerOrderColumn,
        ]
        positions = columns.map { $0.flatMap { stored.position(of: $0) } }
        forms = stored.columns.map { _ in .integer }
    }

    /// The cell of a column of the map; NULL where the record ends before it.
    func cell(_ column: Int, of cells: [CellValue]) -> CellValue {
        guard let position = positions[column], position < cells.count else { return .null }
        return cells[position]
    }

    /// Of a link: owner, member, the member's place and the owner's place; nil for what isn't an integer.
    func ends(of cells: [CellValue]) -> [Int64?] {
        positions.indices.map { column in
            if case .integer(let number) = cell(column, of: cells) { number } else { nil }
        }
    }

    /// The Z_ENT of a row of this table; nil for a row of no entity of it.
    func entity(of cells: [CellValue]) -> Int32? {
        guard let numbers, case .integer(let number) = cell(TableStorage.entityNumber, of: cells),
            let number = Int32(exactly: number), numbers.contains(Int(number))
        else { return nil }
        return number
    }

    /// Whether a record that nothing else tells about can be a row of this table: its cells are no more than the
    /// columns, of their types, and its entity is one of the table's. A table of links has all its columns in every
    /// row.
    func fits(_ rowid: Int64, _ cells: [CellValue]) -> Bool {
        guard rowid > 0, cells.count <= forms.count,
            zip(cells, forms).allSatisfy({ $1.takes($0) })
        else { return false }
        if numbers == nil {
            return cells.count == forms.count && cells.prefix(2).allSatisfy { $0 != .null }
        }
        // The key is the rowid, and NULL in the record.
        return cell(TableStorage.primaryKey, of: cells) == .null && entity(of: cells) != nil
    }
}
