import CausewayModel
import CausewayPlatform
import CausewaySQLite
import CausewayStoreFormat

extension SeedCorpus {
    /// Small whole stores with the smallest page size: of each era, with and without rows.
    func stores() throws -> [Seed] {
        var result: [Seed] = []
        // The last model's entity has a name that no table can have.
        for (index, text) in SeedTexts.models.dropLast().enumerated() {
            let model = try ModelReader.model(source: Array(text.utf8))
            for version in [419, 1_344] {
                let bytes = try SeedStore(model: model, frameworkVersion: version, rows: 2).bytes()
                result.append(Seed(name: "store-\(index)-\(version)", bytes: bytes))
            }
        }
        return result
    }
}

/// A store of a model, with the same number of rows in each table. The rows hold only keys.
struct SeedStore {
    let model: ManagedObjectModel
    let frameworkVersion: Int
    let rows: Int
    /// Bytes; SQLite's smallest.
    private static let pageSize: Int64 = 512

    init(model: ManagedObjectModel, frameworkVersion: Int, rows: Int) {
        self.model = model
        self.frameworkVersion = frameworkVersion
        self.rows = rows
    }

    /// The database file.
    func bytes() throws -> [UInt8] {
        let path = "/tmp/causeway-seed-\(UInt64.random(in: 0 ... .max)).sqlite"
        defer { _ = try? Files.unlink(path) }
        try write(to: path)
        return try Files.readFile(path, limit: 1 << 26)
    }

    /// Makes the file, which must not exist yet.
    func write(to path: String) throws {
        let connection = try Connection(path: path, mode: .create, hardening: .own)
        try connection.setPragma("page_size", to: Self.pageSize)
        try connection.begin(.immediate)
        let layout = try StoreLayout(model: model, frameworkVersion: frameworkVersion, hints: LayoutHints())
        // Triggers of derived attributes call a function that only Core Data has.
        try connection.registerNoOpFunction("NSCoreDataTriggerUpdateAffectedObjectValue")
        let statements = try layout.statements()
        for statement in statements.inOrder { try connection.execute(statement.sql) }
        for table in layout.tables {
            guard let number = layout.entityNumbers[table.rootEntity] else { continue }
            for key in 0..<rows {
                try connection.execute(
                    "INSERT INTO \(try SQLIdentifier(table.name)) (Z_PK, Z_ENT, Z_OPT) VALUES (\(key + 1), \(number), 1)"
                )
            }
        }
        for entity in layout.entities {
            let parent = model.entities[entity]?.parent.flatMap { layout.entityNumbers[$0] } ?? 0
            var insert = try connection.prepare("INSERT INTO Z_PRIMARYKEY VALUES (?, ?, ?, ?)")
            try insert.bind(Int64(layout.entityNumbers[entity] ?? 0), at: 1)
            try insert.bind(entity, at: 2)
            try insert.bind(Int64(parent), at: 3)
            try insert.bind(Int64(rows), at: 4)
            try insert.run()
        }
        let hashes = VersionHashes(model)
        try StoreMetadata(
            uuid: "01234567-89AB-CDEF-0123-456789ABCDEF", entityHashes: hashes.entities,
            versionIdentifiers: model.versionIdentifiers, frameworkVersion: frameworkVersion
        ).write(to: connection)
        if statements.houseStatements.contains(where: { $0.name == "Z_MODELCACHE" }) {
            var insert = try connection.prepare("INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)")
            try insert.bind(try ModelCacheWriter.cache(of: model), at: 1)
            try insert.run()
        }
        try connection.commit()
        try connection.close()
    }
}
