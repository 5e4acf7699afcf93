import CausewayPreparation
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// The structure of a new store's pages and rows, as SQLite finds it: table by table, on several connections at once.
///
/// A check of single tables says nothing about pages that no tree uses. Where the file has a pointer map it compares
/// every page of a tree with it, so that no two trees can have the same page; other files are checked as wholes, on one
/// connection.
struct StagingStructure {
    let path: String
    /// Also compares indexes with rows, as `full` does.
    let withIndexes: Bool
    /// Tables that needn't be read, in lower case: their pages are the source's own.
    let unread: Set<String>
    /// Connections at once.
    let jobs: Int
    let cancellation: Cancellation

    /// Findings as for the whole file: where a table isn't sound, all of it is read again.
    ///
    /// - Parameter result: the file's connection.
    /// - Returns: nothing where the store is sound.
    /// - Throws: `SQLiteError` where it couldn't be read; `EngineError` where the run was asked to stop.
    func findings(_ result: borrowing Connection) throws -> [String] {
        let isWorthwhile = jobs > 1 || !unread.isEmpty
        if isWorthwhile, StructureCheck.knowsTables, try result.pragmaInteger("auto_vacuum") != 0,
            try areSound(try tables(of: result))
        {
            return []
        }
        try cancellation.check()
        return try StructureCheck.findings(result, withIndexes: withIndexes)
    }

    /// The tables to check, those with the most leaves first; the schema's own stands for the list of free pages.
    private func tables(of result: borrowing Connection) throws -> [String] {
        let schema = try StoreSchema(reading: result)
        var leaves: [String: Int] = [:]
        // While a connection is open on the file, and for as long as it is: nobody else may write it.
        let file = try StagingFile.pages(at: path)
        for object in schema.objects where object.rootPage > 0 {
            guard object.kind == .table || object.kind == .index else { continue }
            let name = object.table.lowercased()
            guard !unread.contains(name) else { continue }
            // What is damaged is found when it is read.
            leaves[name, default: 0] += (try? file.leafCount(of: TreeRoot(object, in: schema))) ?? 0
        }
        return leaves.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key) + ["sqlite_schema"]
    }

    private func areSound(_ tables: [String]) throws -> Bool {
        let (path, withIndexes, cancellation) = (path, withIndexes, cancellation)
        var areSound = true
        try PlacePipeline(tables.indices, jobs: jobs, cancellation: cancellation).run { every throws(EngineError) in
            let connection = try EngineError.reading(path) {
                try Connection(path: path, mode: .readOnly, hardening: .untrusted)
            }
            try cancellation.interrupting(connection.interruptHandle) { () throws(EngineError) in
                try every { place throws(EngineError) in
                    StructureCheck.isSound(connection, withIndexes: withIndexes, tables[place])
                }
            }
        } take: { _, isSound throws(EngineError) in
            areSound = areSound && isSound
        }
        return areSound
    }
}
