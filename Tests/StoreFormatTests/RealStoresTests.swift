import CausewayModel
import CausewayPlist
import CausewaySQLite
import CausewayStoreFormat
import Testing

@Suite("Stores as Core Data lays them out", .timeLimit(.minutes(60)))
struct RealStoresTests {
    @Test("a store binds to its cached model with nothing missing", arguments: SharedStores.stores)
    func binding(name: String) throws {
        try SharedStores.withStore(name) { connection in
            let metadata = try StoreMetadata(reading: connection)
            let model = try SharedStores.cachedModel(connection)
            let schema = try StoreSchema(reading: connection)
            let binding = try StoreBinding(schema, model: model, frameworkVersion: metadata.frameworkVersion)
            #expect(binding.problems.isEmpty, "\(binding.problems)")
            #expect(binding.extraColumns.isEmpty)
            #expect(binding.objects(.cloudKit).isEmpty)
            // Only Photos has objects of its own.
            #expect(binding.objects(.appMade).isEmpty || name.hasPrefix("photos/"), "\(binding.objects(.appMade))")
            #expect(binding.schema.isFresh ? binding.objects(.staleCoreData).isEmpty : true)
            if let history = schema.history { #expect(history == HistoryLayout(binding.layout)) }
            for table in binding.layout.tables {
                let positions = table.columns.map { binding.schema.table(table.name)?.position(of: $0.name) }
                #expect(positions == positions.sorted { ($0 ?? -1) < ($1 ?? -1) } && !positions.contains(nil))
            }
        }
    }

    /// Stores whose join tables follow a dictionary order that isn't derivable (InsideStoreFormat §5.3).
    private static let otherOrder = [
        "carekit/SampleStore2.1.sqlite", "wire/store1-27.wiredatabase", "wire/store1-28.wiredatabase",
        "wire/store2-3.wiredatabase",
    ]

    @Test("a fresh store's whole schema equals the generated one, in text and order", arguments: SharedStores.stores)
    func freshSchema(name: String) throws {
        try SharedStores.withStore(name) { connection in
            let metadata = try StoreMetadata(reading: connection)
            let schema = try StoreSchema(reading: connection)
            guard schema.isFresh else { return }
            let layout = try StoreLayout(
                model: try SharedStores.cachedModel(connection), frameworkVersion: metadata.frameworkVersion,
                hints: LayoutHints(schema))
            let statements = try layout.statements()
            let expected = statements.inOrder + (schema.history == nil ? [] : statements.historyStatements)
            let real = schema.objects.compactMap(\.sql)
            #expect(layout.undecidable.isEmpty)
            if Self.otherOrder.contains(name) {
                #expect(Set(real) == Set(expected.map(\.sql)) && real.count == expected.count)
                return
            }
            #expect(real == expected.map(\.sql))
            // A database made from these statements has the same objects, with those that SQLite adds.
            let copy = try Connection.inMemory()
            for statement in expected { try copy.execute(statement.sql) }
            let names = "SELECT type || ' ' || name FROM sqlite_master ORDER BY rowid"
            #expect(try copy.texts(names) == connection.texts(names))
        }
    }

    @Test("metadata is written as it was read", arguments: SharedStores.stores)
    func metadata(name: String) throws {
        try SharedStores.withStore(name) { connection in
            let metadata = try StoreMetadata(reading: connection)
            var statement = try connection.prepare("SELECT Z_PLIST FROM Z_METADATA")
            #expect(try statement.step())
            let stored = try PropertyList(parsing: statement.bytes(at: 0) ?? [])
            #expect(metadata.propertyList == stored)
            #expect(try PropertyList(parsing: metadata.plistBytes()) == stored)
        }
    }

    @Test("the metadata made from a store's model equals the store's", arguments: SharedStores.stores)
    func rewritten(name: String) throws {
        try SharedStores.withStore(name) { connection in
            let metadata = try StoreMetadata(reading: connection)
            let model = try SharedStores.cachedModel(connection)
            let hashes = VersionHashes(model)
            let identity = ModelIdentity(
                entityHashes: hashes.entities, digest: hashes.digest, checksum: hashes.checksum,
                versionIdentifiers: metadata.versionIdentifiers)
            #expect(metadata.rewritten(for: identity, frameworkVersion: metadata.frameworkVersion) == metadata)
        }
    }

    @Test("carried to its own model, a store keeps every join table's name and columns", arguments: SharedStores.stores)
    func carried(name: String) throws {
        try SharedStores.withStore(name) { connection in
            let metadata = try StoreMetadata(reading: connection)
            let model = try SharedStores.cachedModel(connection)
            let version = metadata.frameworkVersion
            let real = try StoreBinding(
                try StoreSchema(reading: connection), model: model, frameworkVersion: version
            ).layout
            let hints = try LayoutHints(
                carrying: real, to: model, frameworkVersion: version, sourceOf: { $0 })
            let layout = try StoreLayout(model: model, frameworkVersion: version, hints: hints)
            #expect(layout.joinTables == real.joinTables)
            #expect(layout.undecidable.isEmpty)
        }
    }

    @Test(
        "filling Photos' R-tree gives the one that its triggers made",
        .enabled(if: SharedStores.areThere, "shared/stores is missing"))
    func rTree() throws {
        try SharedStores.withStore("photos/Photos-10.15.4.sqlite") { connection in
            let layout = try StoreLayout(
                model: try SharedStores.cachedModel(connection),
                frameworkVersion: try StoreMetadata(reading: connection).frameworkVersion)
            let statements = try layout.statements()
            let tree = try #require(statements.rTreeStatements.first)
            let fill = try #require(statements.rTreeFills[tree.name])
            let select = "SELECT count(*) || ' ' || total(Z_PK) FROM \(tree.name)"
            let real = try connection.texts(select)
            try connection.execute("DELETE FROM \(tree.name)")
            try connection.execute(fill)
            #expect(try connection.texts(select) == real)
        }
    }
}
