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
        for statement in order + statements.triggerStatements {
            do throws(SQLiteError) {
                try made.run(statement.sql)
                guard statement.kind == .rTree, let fill = statements.rTreeFills[statement.name] else { continue }
                _ = try made.connection.compiledFunctions(of: fill)
            } catch {
                throw StoreFormatError(
                    .unusableModel,
                    "SQLite refuses the \(statement.index?.isUnique == true ? "unique " : "")\(statement.kind.word): "
                        + error.message,
                    place: statement.name == statement.table
                        ? statement.name : "\(statement.name) on \(statement.table)", cause: error)
            }
        }
        (objects, triggers) = try StoreFormatError.doing("looking at the new schema") { () throws(SQLiteError) in
            let names = try made.names()
            // They aren't needed any more, and every change of their tables would compile them.
            for statement in statements.triggerStatements { try made.drop(.trigger, statement.name) }
            return names
        }
        scratch = made
    }

    /// Compiles the statements that a migration runs in the new store. They are our own, and cost nothing without rows.
    /// Throws `unusableModel` with SQLite's reason, naming the place.
    package func check(_ statements: [String], place: String) throws(StoreFormatError) {
        do throws(SQLiteError) {
            for statement in statements { try scratch.run(statement) }
        } catch {
            throw StoreFormatError(
                .unusableModel, "SQLite refuses a statement that fills it: \(error.message)", place: place, cause: error
            )
        }
    }

    /// Compiles the INSERT of a pass. Throws as `check`.
    package func checkInsert(into table: String, columns: [String]) throws(StoreFormatError) {
        do throws(SQLiteError) {
            let names = try columns.map { (name: String) throws(SQLiteError) in try SQLIdentifier(name).quoted }
            _ = try scratch.connection.prepare(
                "INSERT INTO \(try SQLIdentifier(table)) (\(names.joined(separator: ", "))) "
                    + "VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))")
        } catch {
            throw StoreFormatError(
                .unusableModel, "SQLite refuses the statement that fills it: \(error.message)", place: table,
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
