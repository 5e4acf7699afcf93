import Causeway
import CausewayGenerator
import CausewaySQLite
import Foundation
import Testing

/// Salvage of damaged stores: every row that SQLite still reads, and rows of intact leaves besides.
@Suite("Salvage", .timeLimit(.minutes(60)))
struct SalvageTests {
    static let pageSize = 4_096

    /// A generated store, checkpointed: pages are where the file has them.
    static func store(in folder: borrowing TemporaryFolder, rows: Int) throws -> String {
        let path = folder.path("Store.sqlite")
        let model = SharedStores.project.appending(path: "Fixtures/Orchard/Orchard.xcdatamodeld")
        try StoreGeneration(model: model.path(percentEncoded: false), output: path, rows: rows, seed: 3).run()
        return path
    }

    private static func damage(_ path: String, _ pages: [Int], _ byte: UInt8 = 0xA5) throws {
        let file = try FileHandle(forUpdating: URL(filePath: path))
        for page in pages {
            try file.seek(toOffset: UInt64((page - 1) * pageSize))
            try file.write(contentsOf: Data(repeating: byte, count: pageSize))
        }
        try file.close()
    }

    /// Z_PK of the rows that SQLite reads before it meets damage, from both ends, by entity.
    static func readable(_ path: String) throws -> [String: Set<String>] {
        var result: [String: Set<String>] = [:]
        guard let connection = try? Connection(path: path, mode: .immutable, hardening: .own) else { return [:] }
        var names: [Int64: String] = [:]
        do {
            var list = try connection.prepare("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY WHERE Z_ENT < 16000")
            while try list.step() { names[list.int64(at: 0)] = try list.string(at: 1) }
        } catch {}
        var tables: [String] = []
        do {
            var list = try connection.prepare(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%Z_OPT%'")
            while try list.step() { if let name = try list.string(at: 0) { tables.append(name) } }
        } catch {}
        for table in tables {
            for order in ["ASC", "DESC"] {
                do {
                    var rows = try connection.prepare(
                        "SELECT * FROM \(try SQLIdentifier(table)) NOT INDEXED ORDER BY Z_PK \(order)")
                    while try rows.step() {
                        guard let name = names[rows.int64(at: 1)] else { continue }
                        result[name, default: []].insert("p\(rows.int64(at: 0))\"")
                    }
                } catch {}
            }
        }
        return result
    }

    /// Keys in the files of a salvage, by entity.
    static func salvaged(
        _ summary: SalvageSummary, _ file: KeyPath<SalvageSummary.Entity, String?>
    ) throws -> [String: Set<String>] {
        var result: [String: Set<String>] = [:]
        for entity in summary.entities {
            guard let name = entity[keyPath: file] else { continue }
            let text = String(
                decoding: try Data(contentsOf: URL(filePath: summary.output + "/" + name)), as: UTF8.self)
            for line in text.split(separator: "\n") {
                let uri = line.prefix { $0 != "," }
                let slash = try #require(uri.lastIndex(of: "/"))
                result[entity.name, default: []].insert(uri[uri.index(after: slash)...].filter { $0 != "}" })
            }
        }
        return result
    }

    @Test("a sound store gives the rows that an export gives")
    func sound() throws {
        let folder = try TemporaryFolder()
        let store = try Self.store(in: folder, rows: 2_000)
        let exported = try StoreExport(store: store, output: folder.path("Out")).run()
        let summary = try StoreExport(store: store, output: folder.path("Salvaged")).salvage()
        #expect(summary.rowCount == exported.rowCount && summary.damage == [] && summary.warnings == [])
        #expect(
            Dictionary(uniqueKeysWithValues: summary.entities.map { ($0.name, $0.rows) })
                == Dictionary(uniqueKeysWithValues: exported.entities.filter { $0.rows > 0 }.map { ($0.name, $0.rows) })
        )
        #expect(summary.entities.allSatisfy { $0.recovered == 0 && $0.deleted == 0 })
    }

    /// The pages of the largest table: its root and interior pages, and its leaves.
    static func pages(of path: String) throws -> (table: String, root: Int, leaves: [Int]) {
        let connection = try Connection(path: path, mode: .immutable, hardening: .own)
        let bytes = try Data(contentsOf: URL(filePath: path))
        var best = (table: "", root: 0, leaves: [Int]())
        var list = try connection.prepare(
            "SELECT name, rootpage FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%Z_OPT%'")
        while try list.step() {
            let root = Int(list.int64(at: 1))
            var (leaves, waiting) = ([Int](), [root])
            while let page = waiting.popLast() {
                let start = (page - 1) * pageSize
                func word(_ offset: Int, _ length: Int) -> Int {
                    bytes[start + offset..<start + offset + length].reduce(0) { $0 << 8 | Int($1) }
                }
                guard bytes[start] == 5 else {
                    leaves.append(page)
                    continue
                }
                waiting += (0..<word(3, 2)).map { word(word(12 + 2 * $0, 2), 4) } + [word(8, 4)]
            }
            if leaves.count > best.leaves.count { best = (try list.string(at: 0) ?? "", root, leaves.sorted()) }
        }
        return best
    }

    enum Wound: String, CaseIterable {
        case leaf, root, firstPage, schemaAndRoot, everyFifthPage, cutInHalf
    }

    @Test("every row that SQLite still reads is there, and rows of intact leaves besides", arguments: Wound.allCases)
    func damaged(wound: Wound) throws {
        let folder = try TemporaryFolder()
        let store = try Self.store(in: folder, rows: 4_000)
        let whole = try Self.readable(store)
        let (_, root, leaves) = try Self.pages(of: store)
        try #require(leaves.count > 3)
        let size = try Data(contentsOf: URL(filePath: store)).count
        switch wound {
        case .leaf: try Self.damage(store, [leaves[1]])
        case .root: try Self.damage(store, [root])
        case .firstPage: try Self.damage(store, [1])
        case .schemaAndRoot: try Self.damage(store, [1, root], 0)
        case .everyFifthPage: try Self.damage(store, Array(stride(from: 5, through: size / Self.pageSize, by: 5)))
        case .cutInHalf:
            let file = try FileHandle(forUpdating: URL(filePath: store))
            try file.truncate(atOffset: UInt64(size / 2 + 100))
            try file.close()
        }
        let readable = try Self.readable(store)
        var export = StoreExport(store: store, output: folder.path("Out"))
        let model = SharedStores.project.appending(path: "Fixtures/Orchard/Orchard.xcdatamodeld")
        // The cache may be among what is damaged.
        if wound == .everyFifthPage || wound == .cutInHalf { export.models = [model.path(percentEncoded: false)] }
        let summary = try export.salvage()
        let salvaged = try Self.salvaged(summary, \.file)
        for (entity, keys) in readable {
            #expect(keys.subtracting(salvaged[entity] ?? []) == [], "\(entity)")
        }
        for (entity, keys) in salvaged {
            #expect(keys.subtracting(whole[entity] ?? []) == [], "\(entity): made up")
        }
        let (all, read, found) = (count(whole), count(readable), count(salvaged))
        switch wound {
        case .leaf: #expect(found >= read && found > all * 8 / 10 && summary.damage != [])
        case .root: #expect(found == all && summary.entities.contains { $0.recovered > 0 } && found > read)
        case .firstPage, .schemaAndRoot: #expect(found == all && read == 0)
        case .everyFifthPage, .cutInHalf: #expect(found > read)
        }
    }

    @Test("a pointer that leads to another table's pages loses none of its rows", arguments: ["Z_PRIMARYKEY", nil])
    func crossed(table: String?) throws {
        let folder = try TemporaryFolder()
        let store = try Self.store(in: folder, rows: 4_000)
        let (largest, root, _) = try Self.pages(of: store)
        let victim = try Self.root(of: table, but: largest, in: store)
        let file = try FileHandle(forUpdating: URL(filePath: store))
        try file.seek(toOffset: UInt64((root - 1) * Self.pageSize))
        let page = try #require(try file.read(upToCount: Self.pageSize))
        try file.seek(toOffset: UInt64((victim - 1) * Self.pageSize))
        try file.write(contentsOf: page)
        try file.close()
        let summary = try StoreExport(store: store, output: folder.path("Out")).salvage()
        let salvaged = try Self.salvaged(summary, \.file)
        #expect(count(salvaged) == 4_000, "\(summary.damage)")
        #expect(summary.entities.reduce(0) { $0 + $1.rows } == 4_000)
    }

    @Test("a column whose name is damaged in the schema keeps its values", arguments: [1, 3, 5])
    func garbled(column: Int) throws {
        let folder = try TemporaryFolder()
        let store = try Self.store(in: folder, rows: 2_000)
        let (table, _, _) = try Self.pages(of: store)
        var name = ""
        do {
            let connection = try Connection(path: store, mode: .immutable, hardening: .own)
            var list = try connection.prepare("SELECT name FROM pragma_table_info('\(table)') WHERE cid = \(column)")
            if try list.step() { name = try list.string(at: 0) ?? "" }
        }
        let whole = try StoreExport(store: store, output: folder.path("Whole")).salvage()
        var bytes = try Data(contentsOf: URL(filePath: store))
        let statement = try #require(bytes.range(of: Data("CREATE TABLE \(table) ".utf8)))
        let place = try #require(bytes.range(of: Data(" \(name) ".utf8), in: statement.upperBound..<bytes.endIndex))
        bytes[place.upperBound - 2] = UInt8(ascii: "#")
        try bytes.write(to: URL(filePath: store))
        let summary = try StoreExport(store: store, output: folder.path("Out")).salvage()
        #expect(summary.rowCount == whole.rowCount && summary.damage == [])
        #expect(
            summary.warnings.count == 1 && summary.warnings.contains { $0.contains("wrongly") && $0.contains(table) })
        for entity in whole.entities {
            let file = try #require(entity.file)
            #expect(
                try Data(contentsOf: URL(filePath: folder.path("Whole/" + file)))
                    == Data(contentsOf: URL(filePath: folder.path("Out/" + file))))
        }
    }

    /// Damages the store's own model, and its metadata where asked; the schema stays.
    private static func forget(_ path: String, metadata: Bool) throws {
        let connection = try Connection(path: path, mode: .readWrite, hardening: .own)
        try connection.execute("UPDATE Z_MODELCACHE SET Z_CONTENT = x'00112233'")
        if metadata { try connection.execute("UPDATE Z_METADATA SET Z_PLIST = x'00112233'") }
        try connection.execute("VACUUM")
    }

    @Test("without any model every row is there, by the names of tables and columns")
    func withoutModel() throws {
        let folder = try TemporaryFolder()
        let store = try Self.store(in: folder, rows: 2_000)
        let whole = try StoreExport(store: store, output: folder.path("Whole")).salvage()
        try Self.forget(store, metadata: false)
        let summary = try StoreExport(store: store, output: folder.path("Out")).salvage()
        #expect(summary.entities == whole.entities && summary.damage == [] && summary.modelOrigin == .unknown)
        #expect(try Self.salvaged(summary, \.file) == Self.salvaged(whole, \.file))
        #expect(summary.links.map(\.rows) == whole.links.map(\.rows))
        #expect(summary.warnings.count == 1)
    }

    @Test("where metadata and model are lost, the version whose tables are the store's is taken, not the current one")
    func nearestVersion() throws {
        let folder = try TemporaryFolder()
        let store = folder.path("Store.sqlite")
        let model = SharedStores.project.appending(path: "Fixtures/Orchard/Orchard.xcdatamodeld")
            .path(percentEncoded: false)
        var generation = StoreGeneration(model: model, output: store, rows: 500, seed: 3)
        generation.version = "v1"
        try generation.run()
        let whole = try StoreExport(store: store, output: folder.path("Whole")).salvage()
        try Self.forget(store, metadata: true)
        var export = StoreExport(store: store, output: folder.path("Out"))
        export.models = [model]
        let summary = try export.salvage()
        #expect(summary.version == "v1" && summary.entities == whole.entities)
    }

    @Test("rows of a last page that isn't whole, and of pointers that SQLite masks")
    func lenient() throws {
        let folder = try TemporaryFolder()
        let store = try Self.store(in: folder, rows: 4_000)
        let (_, _, leaves) = try Self.pages(of: store)
        var bytes = try Data(contentsOf: URL(filePath: store))
        // The high bits of the first cell's pointer; the file ends in the last leaf, without its last cells.
        let leaf = try #require(leaves.first)
        bytes[(leaf - 1) * Self.pageSize + 8] |= 0x20
        // Bytes that are said to be reserved at the end of every page.
        bytes[20] = 252
        let last = try #require(leaves.last)
        bytes = bytes.prefix((last - 1) * Self.pageSize + Self.pageSize - 200)
        try bytes.write(to: URL(filePath: store))
        let readable = try Self.readable(store)
        var export = StoreExport(store: store, output: folder.path("Out"))
        export.models = [
            SharedStores.project.appending(path: "Fixtures/Orchard/Orchard.xcdatamodeld").path(percentEncoded: false)
        ]
        let summary = try export.salvage()
        let salvaged = try Self.salvaged(summary, \.file)
        let incomplete = try Self.salvaged(summary, \.incompleteFile)
        for (entity, keys) in readable {
            // SQLite reads those at the very end with zeros in place of what isn't there.
            #expect(keys.subtracting(salvaged[entity] ?? []).subtracting(incomplete[entity] ?? []) == [], "\(entity)")
        }
        #expect(count(salvaged) > 100)
    }

    @Test("a pipe or a folder is no store, and isn't waited for", arguments: [true, false])
    func noFile(isPipe: Bool) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("Store.sqlite")
        if isPipe {
            #expect(unsafe mkfifo(path, 0o600) == 0)
        } else {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
        let error = #expect(throws: MigrationError.self) {
            try StoreExport(store: path, output: folder.path("Out")).salvage()
        }
        #expect(error?.code == .missing)
    }

    @Test("a header that says another size of pages loses nothing", arguments: [0x02, 0x08, 0x20, 0x40])
    func pageSize(high: UInt8) throws {
        let folder = try TemporaryFolder()
        let store = try Self.store(in: folder, rows: 1_000)
        var bytes = try Data(contentsOf: URL(filePath: store))
        bytes[16] = high
        try bytes.write(to: URL(filePath: store))
        #expect(try StoreExport(store: store, output: folder.path("Out")).salvage().rowCount == 1_000)
    }

    /// The root page of a table; nil: of the first other one of entities.
    private static func root(of table: String?, but largest: String, in path: String) throws -> Int {
        let connection = try Connection(path: path, mode: .immutable, hardening: .own)
        var list = try connection.prepare(
            "SELECT name, rootpage FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%Z_OPT%' ORDER BY name")
        if table != nil {
            list = try connection.prepare("SELECT name, rootpage FROM sqlite_schema WHERE name = 'Z_PRIMARYKEY'")
        }
        while try list.step() {
            if try list.string(at: 0) != largest { return Int(list.int64(at: 1)) }
        }
        throw CocoaError(.fileNoSuchFile)
    }

    private func count(_ keys: [String: Set<String>]) -> Int { keys.values.reduce(0) { $0 + $1.count } }

    @Test("rows out of freed pages are apart, and marked as deleted")
    func deleted() throws {
        let folder = try TemporaryFolder()
        let store = try Self.store(in: folder, rows: 4_000)
        let whole = try Self.readable(store)
        let (table, _, _) = try Self.pages(of: store)
        // Without the triggers of derived attributes, which call Core Data's functions.
        try Connection(path: store, mode: .readWrite, hardening: .untrusted).execute(
            "PRAGMA secure_delete = OFF; DELETE FROM \(try SQLIdentifier(table)); PRAGMA wal_checkpoint(TRUNCATE)")
        let summary = try StoreExport(store: store, output: folder.path("Out")).salvage()
        let live = try Self.salvaged(summary, \.file)
        #expect(live == (try Self.readable(store)))
        let deleted = try Self.salvaged(summary, \.deletedFile)
        #expect(count(deleted) > 0)
        #expect(deleted.allSatisfy { $1.subtracting(whole[$0] ?? []) == [] && $1.isDisjoint(with: live[$0] ?? []) })
        #expect(summary.entities.allSatisfy { $0.deletedFile?.hasSuffix(".deleted.jsonl") ?? true })
    }

    @Test("a row whose key another has is written apart, whatever became of its own")
    func secondKey() throws {
        let folder = try TemporaryFolder()
        let store = try Self.store(in: folder, rows: 4_000)
        let whole = count(try Self.readable(store))
        var bytes = try Data(contentsOf: URL(filePath: store))
        let pages = try Self.pages(of: store).leaves
        let leaf = (pages[pages.count / 2] - 1) * Self.pageSize
        func key(ofCell cell: Int) -> Range<Int> {
            var place = leaf + Int(bytes[leaf + 8 + 2 * cell]) << 8 + Int(bytes[leaf + 9 + 2 * cell])
            // After the payload's size.
            while bytes[place] > 127 { place += 1 }
            let end = (place + 1..<place + 10).first { bytes[$0] < 128 } ?? place
            return place + 1..<end + 1
        }
        let (first, second) = (key(ofCell: 0), key(ofCell: 1))
        try #require(first.count == second.count)
        bytes.replaceSubrange(second, with: bytes[first])
        try bytes.write(to: URL(filePath: store))
        let summary = try StoreExport(store: store, output: folder.path("Out")).salvage()
        #expect(summary.rowCount == whole - 1)
        #expect(summary.entities.map(\.copies).reduce(0, +) == 1)
        #expect(count(try Self.salvaged(summary, \.copiesFile)) == 1)
        #expect(summary.entities.contains { $0.copiesFile == $0.name + ".copies.jsonl" })
    }

    @Test(
        "real stores, whole and with damage, give every row that SQLite reads",
        .enabled(if: SharedStores.isThere, "\(SharedStores.missing)"), arguments: ExportTests.stores)
    func real(name: String) throws {
        let folder = try TemporaryFolder()
        let store = try folder.copyStore(SharedStores.path(name), as: "Store.sqlite")
        let inspection = try StoreInspection(store: store)
        let whole = try StoreExport(store: store, output: folder.path("Whole")).salvage()
        #expect(whole.rowCount == inspection.rowCount && whole.damage == [])
        // Pages of the -wal would come back over the damage.
        try Connection(path: store, mode: .readWrite, hardening: .own).execute("PRAGMA wal_checkpoint(TRUNCATE)")
        let size = try Data(contentsOf: URL(filePath: store)).count
        let model = try folder.copyStore(SharedStores.path(name), as: "Model.sqlite")
        try Self.damage(store, Array(stride(from: 7, through: size / Self.pageSize, by: 11)))
        let readable = try Self.readable(store)
        var export = StoreExport(store: store, output: folder.path("Out"))
        export.models = [model]
        let salvaged = try Self.salvaged(try export.salvage(), \.file)
        for (entity, keys) in readable where inspection.entities.contains(where: { $0.name == entity }) {
            #expect(keys.subtracting(salvaged[entity] ?? []) == [], "\(entity)")
        }
    }
}
