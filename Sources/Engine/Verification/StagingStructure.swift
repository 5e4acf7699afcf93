import CausewayPreparation
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// The structure of a new store's pages and rows, as SQLite finds it: table by table, on several connections at once.
///
/// A check of single tables says nothing about pages that no tree uses. Where the file has a pointer map it compares
/// every page of a tree with it, so that no two trees can have the same page; other files are checked as wholes, on one
/// connection. Trees whose pages were read before, and kept since, are left out; then the owners of all pages are found.
struct StagingStructure {
    let path: String
    /// Also compares indexes with rows, as `full` does.
    let withIndexes: Bool
    /// Tables that SQLite needn't read, in lower case.
    let others: Set<String>
    /// Those of them that were read; nil where none was.
    let reading: KeptReading?
    /// Connections at once.
    let jobs: Int
    let cancellation: Cancellation

    /// What is checked at a time.
    private enum Part: Sendable {
        case table(String)
        /// That no page has two owners or none.
        case pages([TreeRoot], PageClaims)
    }

    /// Findings as for the whole file: where a part isn't sound, all of it is read again.
    ///
    /// - Parameter result: the file's connection.
    /// - Returns: nothing where the store is sound.
    /// - Throws: `SQLiteError` where it couldn't be read; `EngineError` where the run was asked to stop.
    func findings(_ result: borrowing Connection) throws -> [String] {
        let isWorthwhile = jobs > 1 || !others.isEmpty
        if isWorthwhile, StructureCheck.knowsTables, try result.pragmaInteger("auto_vacuum") != 0 {
            // While a connection is open on the file, and for as long as it is: nobody else may write it.
            let file = try StagingFile.pages(at: path)
            if try areSound(try parts(of: result, file), file) { return [] }
        }
        try cancellation.check()
        return try StructureCheck.findings(result, withIndexes: withIndexes)
    }

    /// The tables to check, those with the most leaves first; the schema's own stands for the list of free pages.
    private func parts(of result: borrowing Connection, _ file: PageFile) throws -> [Part] {
        let schema = try StoreSchema(reading: result)
        var leaves: [String: Int] = [:]
        var trees: [TreeRoot] = []
        for object in schema.objects where object.rootPage > 0 {
            guard object.kind == .table || object.kind == .index else { continue }
            let tree = TreeRoot(object, in: schema)
            if reading?.trees.contains(tree) == false { trees.append(tree) }
            let name = object.table.lowercased()
            guard !others.contains(name) else { continue }
            // What is damaged is found when it is read.
            leaves[name, default: 0] += (try? file.leafCount(of: tree)) ?? 0
        }
        let tables = leaves.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { Part.table($0.key) }
        return tables + [.table("sqlite_schema")] + (reading.map { [.pages(trees, $0.claims)] } ?? [])
    }

    private func areSound(_ parts: [Part], _ file: PageFile) throws -> Bool {
        let (path, withIndexes, cancellation) = (path, withIndexes, cancellation)
        var areSound = true
        try PlacePipeline(parts.indices, jobs: jobs, cancellation: cancellation).run { every throws(EngineError) in
            let connection = try EngineError.reading(path) {
                try Connection(path: path, mode: .readOnly, hardening: .untrusted)
            }
            try cancellation.interrupting(connection.interruptHandle) { () throws(EngineError) in
                try every { place throws(EngineError) in
                    switch parts[place] {
                    case .table(let table): StructureCheck.isSound(connection, withIndexes: withIndexes, table)
                    case .pages(let trees, let claims): (try? file.checkOwnership(claims, andOf: trees)) != nil
                    }
                }
            }
        } take: { _, isSound throws(EngineError) in
            areSound = areSound && isSound
        }
        return areSound
    }
}
