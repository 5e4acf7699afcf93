import CausewayModel
import CausewayPreparation
import CausewaySQLite
import CausewayStoreFormat
import Foundation

/// What a store holds, whatever the order of its columns, and without cells that belong to no property of their row:
/// a table that stays keeps both, and Core Data sees neither.
struct OwnedCells {
    let lines: [String]

    /// Of the store at a path, which has this model.
    init(_ store: String, of model: ManagedObjectModel) throws {
        let path = store + ".owned"
        try FileManager.default.copyItem(atPath: store, toPath: path)
        let connection = try Connection(path: path, mode: .readWrite, hardening: .untrusted)
        let layout = try StoreLayout(model: model, frameworkVersion: 1509, hints: LayoutHints())
        for table in layout.tables {
            let there = Set(try Self.columns(of: table.name, in: connection).map { $0.uppercased() })
            for column in table.columns where there.contains(column.name.uppercased()) {
                guard let owner = column.role.owner(in: model) else { continue }
                let numbers = model.entityAndSubentities(of: owner).compactMap { layout.entityNumbers[$0] }
                try connection.execute(
                    """
                    UPDATE "\(table.name)" SET "\(column.name)" = NULL \
                    WHERE Z_ENT NOT IN (\(numbers.map { String($0) }.joined(separator: ", ")))
                    """)
            }
        }
        var lines = try Database.rows(
            "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE type != 'table' ORDER BY type, name", connection)
        for name in try Database.rows("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name", connection) {
            let table = String(name.dropFirst().dropLast())
            let columns = try Self.columns(of: table, in: connection).sorted()
            lines.append("-- \(table): \(columns.joined(separator: ", "))")
            let cells = columns.map { "\"\($0)\"" }.joined(separator: ", ")
            let found = try Database.rows("SELECT \(cells) FROM \"\(table)\"", connection)
            // Rows of join tables have no number that VACUUM keeps.
            let isJoin = table.hasPrefix("Z_") && table.dropFirst(2).first?.isNumber == true
            lines += isJoin ? found.sorted() : found
        }
        self.lines = lines
    }

    private static func columns(of table: String, in connection: borrowing Connection) throws -> [String] {
        try Database.rows("SELECT name FROM pragma_table_info('\(table)')", connection).map {
            String($0.dropFirst().dropLast())
        }
    }
}
