import CausewaySQLite

/// The tables of the source, without rows: SQLite refuses here what it would refuse when they are read.
package struct SourceSchema: ~Copyable {
    private var scratch: ScratchSchema
    /// By name in lower case.
    private let tables: [String: StoreSchema.Object]
    private var defined: Set<String> = []

    package init(_ schema: StoreSchema) throws(StoreFormatError) {
        tables = Dictionary(
            schema.objects.filter { $0.kind == .table }.map { ($0.name.lowercased(), $0) },
            uniquingKeysWith: { first, _ in first })
        // With the same limits as reading a store.
        scratch = try ScratchSchema.empty(readsDoubleQuotedTexts: false, hardening: .untrusted)
    }

    /// Compiles the statements that stream and count the rows.
    ///
    /// - Throws: `unusableModel`, naming the table and SQLite's reason.
    package mutating func check(_ shape: RowShape) throws(StoreFormatError) {
        do throws(SQLiteError) {
            for name in shape.tables.sorted() {
                guard defined.insert(name.lowercased()).inserted, let table = tables[name.lowercased()] else {
                    continue
                }
                try scratch.connection.setDoubleQuotedTexts(true)
                _ = try scratch.define(table)
                try scratch.connection.setDoubleQuotedTexts(false)
            }
            for sql in [shape.sql, shape.countSQL] + (shape.isSeekable ? [shape.sqlAfterKey] : []) {
                _ = try scratch.connection.prepare(sql)
            }
        } catch {
            throw StoreFormatError(
                .unusableModel, "SQLite refuses the statement that reads its rows: \(error.message)",
                place: shape.table.name, cause: error)
        }
    }
}
