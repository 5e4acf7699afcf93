import CausewayEngine
import CausewayModel
import CausewayObjects
import CausewayPlist
import CausewayPreparation
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores
import Foundation

/// A store of the first of some model versions and a bundle with all of them, in a folder of its own.
final class Scenario {
    static let uuid = "0E1D2C3B-4A59-4687-8796-A5B4C3D2E1F0"

    let folder: String
    var store: String { folder + "/Store.sqlite" }
    var models: String { folder + "/Model.xcdatamodeld" }
    /// The originals that migrations have left, sorted by name.
    var backups: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasPrefix("Store.sqlite.premigration-") }.sorted().map { "\(folder)/\($0)" }
    }
    /// The only backup; where there is none, a path without a file.
    var backup: String { backups.count == 1 ? backups[0] : store + ".no-backup" }
    var workDirectory: String { folder + "/.Store.sqlite.migration" }

    /// The versions are V1, V2, …; `rows` is SQL that fills the tables of the first, and all else that belongs to
    /// the store.
    convenience init(
        _ versions: String..., framework: Int = 1509, history: Bool = false, wal: Bool = false, rows: String = ""
    ) throws {
        try self.init(versions: versions, framework: framework, history: history, wal: wal, rows: rows)
    }

    init(
        versions: [String], framework: Int = 1509, history: Bool = false, wal: Bool = false, rows: String = "",
        in parent: URL = FileManager.default.temporaryDirectory
    ) throws {
        folder = parent.resolvingSymlinksInPath().appending(path: "causeway-engine-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (index, text) in versions.enumerated() {
            let version = "\(models)/V\(index + 1).xcdatamodel"
            try FileManager.default.createDirectory(atPath: version, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: URL(filePath: version + "/contents"))
        }
        try Self.makeStore(
            at: store, model: versions[0], framework: framework, history: history, wal: wal, rows: rows)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Without models: a store of a model that is elsewhere.
    init(model: ManagedObjectModel, framework: Int = 1509, rows: String) throws {
        folder =
            FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
            .appending(path: "causeway-engine-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Self.makeStore(at: store, model: model, framework: framework, rows: rows)
    }

    static func makeStore(
        at path: String, model text: String, framework: Int = 1509, history: Bool = false, wal: Bool = false,
        rows: String = ""
    ) throws {
        try makeStore(
            at: path, model: ModelReader.model(source: Array(text.utf8)), framework: framework, history: history,
            wal: wal, rows: rows)
    }

    static func makeStore(
        at path: String, model: ManagedObjectModel, framework: Int, history: Bool = false, wal: Bool = false,
        rows: String
    ) throws {
        let layout = try StoreLayout(model: model, frameworkVersion: framework, hints: LayoutHints())
        let connection = try Connection(path: path, mode: .create, hardening: .own)
        let statements = try layout.statements()
        for statement in statements.inOrder + (history ? statements.historyStatements : [])
        where statement.kind != .trigger {
            try connection.execute(statement.sql)
        }
        for row in layout.primaryKeyRows {
            try connection.execute(
                "INSERT INTO Z_PRIMARYKEY VALUES (\(row.number), '\(row.name)', \(row.parent), 0)")
        }
        let hashes = VersionHashes(model)
        var metadata = StoreMetadata(
            uuid: uuid, entityHashes: hashes.entities, versionIdentifiers: model.versionIdentifiers,
            frameworkVersion: framework)
        (metadata.hashesDigest, metadata.checksum) = (hashes.digest, hashes.checksum)
        metadata.other = ["AppKey": .string("kept"), "AppList": .array([.integer(1), .boolean(true)])]
        try metadata.write(to: connection)
        var cache = try connection.prepare("INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)")
        try cache.bind(try ModelCacheWriter.cache(of: model), at: 1)
        try cache.run()
        try connection.execute(rows)
        for statement in statements.triggerStatements { try connection.execute(statement.sql) }
        for table in layout.tables {
            try connection.execute(
                """
                UPDATE Z_PRIMARYKEY SET Z_MAX = max(Z_MAX, (SELECT ifnull(max(Z_PK), 0) FROM \(table.name))) \
                WHERE Z_NAME = '\(table.rootEntity)'
                """)
        }
        if wal { try connection.setJournalMode(.wal) }
    }

    func request(
        to target: String? = nil, output: String? = nil, fuses: Bool = true, batchRows: Int = 100, jobs: Int = 2,
        engine: EngineChoice = .auto
    ) -> MigrationRequest {
        var request = MigrationRequest(
            store: store, models: models, output: output, target: target,
            options: EngineOptions(batchRows: batchRows, mappingBatchRows: batchRows, jobs: jobs))
        request.fusesSteps = fuses
        request.options.engine = engine
        return request
    }

    /// From V1 to V2 by a mapping model, into a new file of the scenario's folder.
    func request(
        by mapping: SwiftMappingModel, _ engine: EngineChoice, output: String, batchRows: Int = 1_024, jobs: Int = 2
    ) -> MigrationRequest {
        var request = request(
            to: "V2", output: folder + "/" + output, batchRows: batchRows, jobs: jobs, engine: engine)
        request.code.add(mapping)
        return request
    }

    /// Migrates to the last version, in place.
    @discardableResult func migrate(fuses: Bool = true) throws -> MigrationOutcome {
        try Migration(request(to: lastVersion, fuses: fuses)).run()
    }

    var lastVersion: String {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: models)) ?? []
        return "V\(names.count)"
    }

    static func execute(_ sql: String, _ path: String) throws {
        let connection = try Connection(path: path, mode: .readWrite, hardening: .own)
        try connection.execute(sql)
    }

    /// Rows of the store as text.
    func rows(_ sql: String) throws -> [String] { try Database.rows(sql, in: store) }
}

/// Databases as text in which storage classes differ.
enum Database {
    /// Each row's cells, separated by `|`.
    static func rows(_ sql: String, in path: String) throws -> [String] {
        let connection = try Connection(path: path, mode: .readOnly, hardening: .own)
        return try rows(sql, connection)
    }

    static func rows(_ sql: String, _ connection: borrowing Connection) throws -> [String] {
        var statement = try connection.prepare(sql)
        var result: [String] = []
        while try statement.step() {
            var cells: [String] = []
            for index in 0..<statement.columnCount {
                switch statement.type(at: index) {
                case .null: cells.append("NULL")
                case .integer: cells.append(String(statement.int64(at: index)))
                case .real: cells.append(String(statement.double(at: index)))
                case .text: cells.append("'" + printable(statement.bytes(at: index) ?? []) + "'")
                case .blob: cells.append("x'" + hexadecimal(statement.bytes(at: index) ?? []) + "'")
                }
            }
            result.append(cells.joined(separator: "|"))
        }
        return result
    }

    private static let digits = Array("0123456789abcdef".utf8)

    private static func printable(_ bytes: [UInt8]) -> String {
        if bytes.count > longest { return short(bytes) }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        for byte in bytes {
            if byte >= 0x20 && byte < 0x7f {
                text.append(byte)
            } else {
                text += [UInt8(ascii: "\\"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        if bytes.count > longest { return short(bytes) }
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Bytes that are shown one by one: for megabytes that takes minutes.
    private static let longest = 1_000

    private static func short(_ bytes: [UInt8]) -> String { "base64 " + Data(bytes).base64EncodedString() }

    /// Every object and every row.
    static func dump(_ path: String) throws -> [String] {
        let connection = try Connection(path: path, mode: .readOnly, hardening: .own)
        // The order of the schema's rows says only how the store was made.
        var result = try rows("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name", connection)
        for name in try rows("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name", connection) {
            let table = name.dropFirst().dropLast()
            result.append("-- \(table)")
            let found = try rows("SELECT * FROM \"\(table)\"", connection)
            // Rows of join tables have no number that VACUUM keeps.
            let isJoin = table.hasPrefix("Z_") && table.dropFirst(2).first?.isNumber == true
            result += isJoin ? found.sorted() : found
        }
        return result
    }
}

/// Names, kinds, modes and bytes of everything in a folder.
func snapshot(_ folder: String) throws -> [String: String] {
    var result: [String: String] = [:]
    let files = FileManager.default
    for name in try files.subpathsOfDirectory(atPath: folder) {
        let path = folder + "/" + name
        let attributes = try files.attributesOfItem(atPath: path)
        let kind = attributes[.type] as? FileAttributeType
        let content = kind == .typeRegular ? try Data(contentsOf: URL(filePath: path)).base64EncodedString() : ""
        result[name] = "\(kind?.rawValue ?? "") \(attributes[.posixPermissions] ?? "") \(content)"
    }
    return result
}

extension Scenario {
    /// Runs a migration that is interrupted at one of its progress events.
    ///
    /// - Returns: false where it ended before.
    static func isStopped(_ request: MigrationRequest, atProgress stop: Int) throws -> Bool {
        let cancellation = Cancellation()
        var seen = 0
        do {
            _ = try Migration(request, cancellation: cancellation) { event in
                guard case .progress = event else { return }
                seen += 1
                if seen == stop { cancellation.cancel() }
            }.run()
            return false
        } catch  where error.kind == .interrupted {
            return true
        }
    }
}

/// The error that `body` must throw.
func failure(_ body: () throws -> Void) throws -> EngineError {
    do {
        try body()
    } catch let error as EngineError {
        return error
    }
    throw NoFailure()
}

struct NoFailure: Error, CustomStringConvertible {
    var description: String { "nothing failed" }
}
