import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// The schema of a new store that began as a copy of the source.
struct StagingSchema {
    let file: StagingFile
    let edit: SchemaEdit
    /// Approximately the most bytes that the step's progress takes.
    let room: Int

    /// Whether an earlier run has changed it: the table of the progress is made in the same transaction.
    func isChanged() throws(EngineError) -> Bool {
        try EngineError.writing(title) { try ProgressRow.isReserved(on: try opened()) }
    }

    private var title: String { "\(file.path): its schema" }

    /// Its pages came from the source.
    private func opened() throws(SQLiteError) -> Connection {
        try Connection(path: file.path, mode: .readWrite, hardening: .untrusted)
    }

    /// Drops what doesn't stay, gives what stays its new text, and makes room for the progress; durable when it
    /// returns. Trees of dropped tables are empty, so this takes as long as the schema is large.
    func change() throws(EngineError) {
        let connection = try EngineError.writing(title) { try opened() }
        let journal = StagingJournal(of: file.path)
        try journal.keep(on: connection)
        try EngineError.writing(title) {
            try connection.setPragma("synchronous", to: "FULL")
            // Texts and names of the source must not survive in free pages.
            try connection.setPragma("secure_delete", to: 1)
            try connection.changingSchemaTable { () throws(SQLiteError) in
                try connection.begin(.immediate)
                try forget(connection)
                for object in edit.dropped {
                    try connection.execute("DROP \(object.kind.rawValue) \(try SQLIdentifier(object.name))")
                }
                try rewrite(connection)
                try ProgressRow.reserve(room, on: connection)
                try connection.commit()
            }
        }
        try journal.remove(on: connection)
    }

    /// Their modules can't read the empty tables under them.
    private func forget(_ connection: borrowing Connection) throws(SQLiteError) {
        var delete = try connection.prepare("DELETE FROM sqlite_schema WHERE type = 'table' AND name = ?")
        for object in edit.forgotten {
            try delete.bind(object.name, at: 1)
            try delete.run()
        }
    }

    private func rewrite(_ connection: borrowing Connection) throws(SQLiteError) {
        // By rowid: a new name may be another object's old one.
        var places: [String: Int64] = [:]
        var find = try connection.prepare("SELECT rowid, type, name FROM sqlite_schema")
        while try find.step() {
            let name = Self.lowercased(try find.string(at: 2) ?? "")
            places["\(try find.string(at: 1) ?? "") \(name)"] = find.int64(at: 0)
        }
        var rows: [(row: Int64, object: SchemaEdit.Kept)] = []
        for object in edit.kept {
            // The key of a WITHOUT ROWID table has no row.
            guard let row = places["\(object.kind.rawValue) \(Self.lowercased(object.name))"] else { continue }
            rows.append((row, object))
        }
        var update = try connection.prepare("UPDATE sqlite_schema SET name = ?, tbl_name = ?, sql = ? WHERE rowid = ?")
        for (row, object) in rows {
            try update.bind(object.newName, at: 1)
            try update.bind(object.newTable, at: 2)
            if let sql = object.sql { try update.bind(sql, at: 3) } else { try update.bindNull(at: 3) }
            try update.bind(row, at: 4)
            try update.run()
        }
    }

    /// As SQLite compares names: it takes Ä and ä for two.
    private static func lowercased(_ name: String) -> String {
        String(decoding: name.utf8.map { (65...90).contains($0) ? $0 | 32 : $0 }, as: UTF8.self)
    }
}
