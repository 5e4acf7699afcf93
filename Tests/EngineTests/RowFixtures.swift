import CausewayPlanning
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores
import Foundation
import Testing

@testable import CausewayEngine

/// A pass of one table into one, without a store around it.
enum RowFixture {
    /// The pass's cells: the key, the entity, a value, a place.
    static let columns = ["Z_PK", "Z_ENT", "V", "P"]
    static let external = ExternalValues(directory: NSTemporaryDirectory() + "no-external-files")

    /// A table without affinities, so that every storage class stays, with these rows.
    static func connection(_ rows: [String], table: String = "T") throws -> Connection {
        let connection = try Connection.inMemory()
        try connection.execute("CREATE TABLE \(table) (Z_PK INTEGER PRIMARY KEY, Z_ENT, V, P)")
        for row in rows { try connection.execute("INSERT INTO \(table) VALUES (\(row))") }
        return connection
    }

    /// `recipes` make the destination's columns; with `number`, only for rows with this Z_ENT.
    static func pass(
        _ recipes: [CellRecipe], keyed: Bool = true, number: Int? = nil, columns: [String] = columns
    ) throws -> RowPass {
        var shape = RowShape(table: try SQLIdentifier("T"))
        for name in columns { _ = shape.index(of: .column(try SQLIdentifier(name))) }
        return RowPass(
            kind: .entity, title: "Thing", shape: shape, destinationTable: "D",
            destinationColumns: recipes.indices.map { "C\($0)" }, key: keyed ? 0 : nil,
            discriminator: number == nil ? nil : 1,
            projections: [number ?? 0: RowProjection(entity: "Thing", cells: recipes)])
    }

    /// The rows that a statement of the pass gives.
    static func batch(_ pass: RowPass, in connection: borrowing Connection) throws -> RowBatch {
        var source = try StatementSource.rows(
            of: pass.shape, key: pass.key, after: nil, in: connection, isUTF8: true, title: pass.title)
        let batch = RowBatch()
        #expect(try !source.fill(batch, limits: BatchLimits(rows: .max, bytes: .max)))
        return batch
    }

    /// Every cell of the made rows.
    static func cells(_ batch: RowBatch, columns: Int) throws -> [[CellValue]] {
        let view = RowView(capacity: columns)
        return try (0..<batch.count).map { row in
            try view.load(row, of: batch)
            #expect(view.count == columns)
            return try (0..<view.count).map { try value(view, $0) }
        }
    }

    static func value(_ view: RowView, _ cell: Int) throws -> CellValue {
        let type = view.serialType(at: cell)
        if type.isNull { return .null }
        if let integer = view.integer(at: cell) { return .integer(integer) }
        if let real = view.real(at: cell) { return .real(real) }
        let bytes = unsafe Array(view.unsafeBytes(at: cell))
        return type.isText ? .text(String(decoding: bytes, as: UTF8.self)) : .blob(bytes)
    }

    /// Records of these cells.
    static func batch(_ rows: [[CellValue]]) throws -> RowBatch {
        let (batch, writer) = (RowBatch(), RecordWriter(capacity: 8))
        for (index, row) in rows.enumerated() {
            let cells = try EncodedCells(row)
            writer.begin()
            writer.append(cells)
            try writer.finish(into: batch, rowid: Int64(index + 1))
        }
        return batch
    }

    /// Puts made rows into a table, as the pass would.
    static func store(_ batch: RowBatch, of pass: RowPass) throws -> Connection {
        let connection = try Connection.inMemory()
        try connection.execute("CREATE TABLE D (\(pass.destinationColumns.joined(separator: ", ")))")
        for row in try cells(batch, columns: pass.destinationColumns.count) {
            try connection.execute("INSERT INTO D VALUES (\(row.map(literal).joined(separator: ", ")))")
        }
        return connection
    }

    private static func literal(_ value: CellValue) -> String {
        switch value {
        case .null: "NULL"
        case .integer(let value): String(value)
        case .real(let value): "\(value)"
        case .text(let value): "'\(value)'"
        case .blob(let value): "x'" + value.map { String(format: "%02x", $0) }.joined() + "'"
        }
    }
}
