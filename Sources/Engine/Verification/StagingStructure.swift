import CausewayPreparation
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// The structure of a new store's pages and rows, as SQLite finds it: table by table, on several connections at once.
///
/// A check of single tables says nothing about pages that no tree uses. Where the file has a pointer map it compares
/// every page of a tree with it, so that no two trees can have the same page, and beside it the trees' pages are
/// counted, so that none is without an owner; other files are checked as wholes, on one connection. Trees whose pages
/// were read before, and kept since, are left out.
struct StagingStructure {
    let path: String
    /// Also compares indexes with rows, as `full` does.
    let withIndexes: Bool
    /// Tables that SQLite needn't read, in lower case.
    let others: Set<String>
    /// What was read of the file before; nil where nothing was.
    let reading: KeptReading?
    /// Whether pages are the source's own, which aren't read: then nothing is said about pages without an owner.
    let sharesPages: Bool
    /// Tables whose rows are counted by entity while others are checked.
    let counted: [EntityTable]
    let layout: StoreLayout
    /// Connections at once.
    let jobs: Int
    let cancellation: Cancellation

    /// What is wrong, and how many rows of each entity the tables have that could be counted, by their names.
    struct Found {
        var findings: [String] = []
        var counts: [String: [Int: Int]] = [:]
    }

    /// What is checked at a time.
    private enum Part: Sendable {
        /// By SQLite.
        case table(String)
        /// Whose pages are claimed.
        case tree(TreeRoot)
        /// Whose rows are counted, by SQLite.
        case count(EntityTable)
    }

    private enum Answer: Sendable {
        case isSound(Bool)
        /// nil where it can't be read.
        case counts(String, [Int: Int]?)
    }

    /// Findings as for the whole file: where a part isn't sound, all of it is read again.
    ///
    /// - Parameters:
    ///   - result: the file's connection.
    ///   - advanced: told the part of the parts that is done.
    /// - Returns: no findings where the store is sound; no counts where it isn't, or was read as a whole.
    /// - Throws: `SQLiteError` where it couldn't be read; `EngineError` where the run was asked to stop.
    func found(_ result: borrowing Connection, advanced: (Double) -> Void = { _ in }) throws -> Found {
        let isWorthwhile = jobs > 1 || !others.isEmpty || sharesPages
        if isWorthwhile, StructureCheck.knowsTables, try result.pragmaInteger("auto_vacuum") != 0 {
            // While a connection is open on the file, and for as long as it is: nobody else may write it.
            let file = try StagingFile.pages(at: path)
            let claims = reading?.claims ?? PageClaims(pageCount: file.layout.pageCount)
            if let counts = try soundCounts(try parts(of: result, file), file, claims, advanced) {
                // What has no owner, or two.
                if sharesPages || (try? file.checkOwnership(claims)) != nil { return Found(counts: counts) }
            }
        }
        try cancellation.check()
        return Found(findings: try StructureCheck.findings(result, withIndexes: withIndexes))
    }

    /// What to check, the largest first; the schema's own table stands for the list of free pages.
    private func parts(
        of result: borrowing Connection, _ file: PageFile
    ) throws -> [(part: Part, leaves: Int)] {
        let schema = try StoreSchema(reading: result)
        var tables: [String: Int] = [:]
        var parts: [(part: Part, leaves: Int)] = []
        for object in schema.objects where object.rootPage > 0 {
            guard object.kind == .table || object.kind == .index else { continue }
            let tree = TreeRoot(object, in: schema)
            // What is damaged is found when it is read.
            let leaves = (try? file.leafCount(of: tree)) ?? 0
            if !sharesPages, reading?.trees.contains(tree) != true { parts.append((.tree(tree), leaves)) }
            let name = object.table.lowercased()
            if !others.contains(name) { tables[name, default: 0] += leaves }
            if object.kind == .table, let table = counted.first(where: { $0.name == object.name }) {
                parts.append((.count(table), leaves))
            }
        }
        parts += tables.sorted { $0.key < $1.key }.map { (.table($0.key), $0.value) }
        return parts.sorted { $0.leaves > $1.leaves } + [(part: .table("sqlite_schema"), leaves: 1)]
    }

    /// - Returns: nil where a part isn't sound.
    private func soundCounts(
        _ parts: [(part: Part, leaves: Int)], _ file: PageFile, _ claims: PageClaims, _ advanced: (Double) -> Void
    ) throws -> [String: [Int: Int]]? {
        let (path, withIndexes, cancellation, layout) = (path, withIndexes, cancellation, layout)
        let work = parts
        let whole = max(1, parts.reduce(0) { $0 + $1.leaves })
        var done = 0
        var areSound = true
        var counts: [String: [Int: Int]] = [:]
        try PlacePipeline(parts.indices, jobs: jobs, cancellation: cancellation).run { every throws(EngineError) in
            let connection = try EngineError.reading(path) {
                try Connection(path: path, mode: .readOnly, hardening: .untrusted)
            }
            try cancellation.interrupting(connection.interruptHandle) { () throws(EngineError) in
                try every { place throws(EngineError) in
                    switch work[place].part {
                    case .table(let table):
                        Answer.isSound(StructureCheck.isSound(connection, withIndexes: withIndexes, table))
                    case .tree(let tree): Answer.isSound((try? file.claim(tree, claims)) != nil)
                    case .count(let table):
                        Answer.counts(
                            table.name, try? Verification.entityCounts([table], of: layout, in: connection))
                    }
                }
            }
        } take: { (place: Int, answer: Answer) throws(EngineError) in
            done += work[place].leaves
            advanced(Double(done) / Double(whole))
            switch answer {
            case .isSound(let isSound): areSound = areSound && isSound
            case .counts(let table, let found): counts[table] = found
            }
        }
        return areSound ? counts : nil
    }
}
