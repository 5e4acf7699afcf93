import CausewaySQLite

/// The complete schema of the new store, without rows: what SQLite would refuse at the end of a migration it refuses
/// here, before a byte is written.
package struct DestinationSchema: ~Copyable {
    var scratch: ScratchSchema
    /// Used names, in lower case.
    private(set) var objects: Set<String>
    private(set) var triggers: Set<String>

    /// Executes everything, in the order in which the store is made.
    ///
    /// - Throws: `unusableModel`, naming the object and SQLite's reason.
    package init(_ statements: SchemaStatements, hasHistory: Bool) throws(StoreFormatError) {
        var order = statements.tableStatements + statements.houseStatements
        if hasHistory { order += statements.historyStatements }
        order += statements.indexStatements
        order += statements.rTreeStatements
        let made = try ScratchSchema.empty(readsDoubleQuotedTexts: false)
        for statement in order {
            try Self.attempt(statement, in: made) { (scratch: borrowing ScratchSchema) throws(SQLiteError) in
                try scratch.run(statement.sql)
                if let fill = statements.rTreeFills[statement.name] { _ = try scratch.functions(of: fill) }
            }
        }
        for statement in statements.triggerStatements {
            try Self.attempt(statement, in: made) { (scratch: borrowing ScratchSchema) throws(SQLiteError) in
                try scratch.run(statement.sql)
            }
        }
        (objects, triggers) = try Self.names(of: made, dropping: statements.triggerStatements)
        scratch = made
    }

    /// Compiles the statements that a migration runs in the new store. They are our own, and cost nothing without rows.
    ///
    /// - Parameters:
    ///   - statements: in their order.
    ///   - place: the place that an error names.
    /// - Throws: `unusableModel` with SQLite's reason.
    package func check(_ statements: [String], place: String) throws(StoreFormatError) {
        do throws(SQLiteError) {
            for statement in statements { try scratch.run(statement) }
        } catch {
            throw StoreFormatError(
                .unusableModel, "SQLite refuses a statement that fills it: \(error.message)", place: place, cause: error
            )
        }
    }

    /// Compiles the INSERT of a pass.
    ///
    /// - Throws: as `check`.
    package func checkInsert(into table: String, columns: [String]) throws(StoreFormatError) {
        do throws(SQLiteError) {
            let names = try columns.map { (name: String) throws(SQLiteError) in try SQLIdentifier(name).quoted }
            try scratch.compile(
                """
                INSERT INTO \(try SQLIdentifier(table)) (\(names.joined(separator: ", "))) \
                VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))
                """)
        } catch {
            throw StoreFormatError(
                .unusableModel, "SQLite refuses the statement that fills it: \(error.message)", place: table,
                cause: error)
        }
    }

    /// Every name. Removes the triggers: they aren't needed any more, and every change of their tables would compile
    /// them.
    private static func names(
        of scratch: borrowing ScratchSchema, dropping triggers: [SchemaStatement]
    ) throws(StoreFormatError) -> (objects: Set<String>, triggers: Set<String>) {
        try StoreFormatError.doing("looking at the new schema") { () throws(SQLiteError) in
            let names = try scratch.names()
            for statement in triggers { try scratch.drop(.trigger, statement.name) }
            return names
        }
    }

    private static func attempt(
        _ statement: SchemaStatement, in scratch: borrowing ScratchSchema,
        _ body: (borrowing ScratchSchema) throws(SQLiteError) -> Void
    ) throws(StoreFormatError) {
        do throws(SQLiteError) {
            try body(scratch)
        } catch {
            let place =
                statement.name == statement.table ? statement.name : "\(statement.name) on \(statement.table)"
            throw StoreFormatError(
                .unusableModel,
                "SQLite refuses the \(statement.index?.isUnique == true ? "unique " : "")\(statement.kind.word): \(error.message)",
                place: place,
                cause: error)
        }
    }
}

extension SchemaStatement.Kind {
    fileprivate var word: String {
        switch self {
        case .entityTable, .house, .historyTable: "table"
        case .joinTable: "join table"
        case .index: "index"
        case .rTree: "R-tree"
        case .trigger: "trigger"
        }
    }
}
