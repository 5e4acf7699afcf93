import CausewayEngine
import CausewayModel
import CausewayPlatform
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// What the tables of an open store say, with a model or without one.
struct SchemaReader {
    private let store: SourceStore
    private let binding: StoreBinding?
    /// Rows by table and Z_ENT, history's included.
    private let rows: [String: [Int64: Int]]

    init(store: SourceStore, binding: StoreBinding?) throws {
        self.store = store
        self.binding = binding
        rows = try Self.rowsByEntity(in: store)
    }

    /// Entity tables are known by their house columns, which need no model.
    private static func rowsByEntity(in store: SourceStore) throws -> [String: [Int64: Int]] {
        let house = ["Z_PK", "Z_ENT", "Z_OPT"]
        var rows: [String: [Int64: Int]] = [:]
        for table in store.schema.tables.values where house.allSatisfy({ table.position(of: $0) != nil }) {
            var statement = try store.connection.prepare(
                "SELECT Z_ENT, count(*) FROM \(try SQLIdentifier(table.name)) GROUP BY Z_ENT")
            while try statement.step() {
                // NULL is read as 0, which no entity has.
                rows[table.name, default: [:]][statement.int64(at: 0), default: 0] += Int(
                    clamping: statement.int64(at: 1))
            }
        }
        return rows
    }

    /// Rows whose Z_ENT names no entity of their table.
    func unknownRows() -> Int {
        guard let binding else {
            let known = Set(store.schema.primaryKeys.map(\.number))
            return rows.values.flatMap(\.self).filter {
                !known.contains($0.key) && $0.key < HistoryLayout.firstNumber
            }.reduce(0) { $0 + $1.value }
        }
        return binding.layout.tables.reduce(0) { sum, table in
            let numbers = binding.layout.numbers(ofTree: table.rootEntity)
            return (rows[table.name] ?? [:]).filter { numbers?.contains(Int(clamping: $0.key)) != true }
                .reduce(sum) { $0 + $1.value }
        }
    }

    func entities() throws -> [StoreInspection.Entity] {
        if let binding {
            let model = binding.layout.model
            return binding.layout.primaryKeyRows.map { number, name, _ in
                let entity = model.entities[name]
                return StoreInspection.Entity(
                    name: name, number: number, parent: entity?.parent,
                    rows: binding.layout.table(of: name).flatMap { rows[$0.name]?[Int64(number)] } ?? 0,
                    isAbstract: entity?.isAbstract,
                    attributes: entity?.attributes.map { StoreInspection.Attribute($0) },
                    relationships: entity?.relationships.map { StoreInspection.Relationship($0) })
            }
        }
        let own = store.schema.primaryKeys.filter { $0.number < HistoryLayout.firstNumber }
        let all = rows.values.reduce(into: [:]) { $0.merge($1) { $0 + $1 } }
        let names = Dictionary(own.map { ($0.number, $0.name) }, uniquingKeysWith: { first, _ in first })
        return own.map {
            StoreInspection.Entity(
                name: $0.name, number: Int(clamping: $0.number), parent: names[$0.parent], rows: all[$0.number] ?? 0)
        }
    }

    func joinTables() throws -> [StoreInspection.JoinTable] {
        if let binding {
            return try binding.layout.joinTables.map { join in
                StoreInspection.JoinTable(
                    name: join.name, relationship: "\(join.owner).\(join.relationship)",
                    inverse: "\(join.inverseOwner).\(join.inverse)", rows: try count(join.name))
            }
        }
        // Core Data names them Z_<number><RELATIONSHIP> (InsideStoreFormat §5.3).
        let names = store.schema.tables.values.map(\.name).filter { name in
            name.uppercased().hasPrefix("Z_") && name.dropFirst(2).first?.isNumber == true
        }
        return try names.sorted().map {
            StoreInspection.JoinTable(name: $0, relationship: nil, inverse: nil, rows: try count($0))
        }
    }

    func features() throws -> StoreInspection.Features {
        let objects = store.schema.objects
        return StoreInspection.Features(
            isWAL: store.isWAL, history: try history(), externalData: try externalData(),
            derivedAttributes: binding.map { Self.derivedAttributes($0.layout) },
            uniquenessConstraints: binding.map { Self.uniquenessConstraints($0.layout) },
            rTrees: objects.filter { $0.isVirtualTable && $0.name.lowercased().hasPrefix("z_rt_") }.map(\.name)
                .sorted(),
            isCloudKitMirrored: !CloudKitTables.names(in: store.schema).isEmpty,
            cloudKit: try CloudKitCounts(store.schema, in: store.connection).map { CloudKitMirror($0) },
            appObjects: binding.map { Self.names($0.objects(.appMade)) },
            staleObjects: binding.map { Self.names($0.objects(.staleCoreData)) },
            unknownColumns: binding.map { binding in
                binding.extraColumns.flatMap { table, columns in columns.map { "\(table).\($0)" } }.sorted()
            },
            hasDeferredMigration: store.metadata.hasDeferredMigration)
    }

    private static func names(_ objects: [StoreSchema.Object]) -> [String] {
        objects.map { "\($0.kind.rawValue) \($0.name)" }
    }

    private static func derivedAttributes(_ layout: StoreLayout) -> [String] {
        layout.entities.flatMap { name in
            (layout.model.entities[name]?.attributes ?? []).filter { $0.derivation != nil }.map { "\(name).\($0.name)" }
        }
    }

    private static func uniquenessConstraints(_ layout: StoreLayout) -> [String] {
        layout.entities.flatMap { name in
            (layout.model.entities[name]?.uniquenessConstraints ?? []).map { "\(name) (\($0.joined(separator: ", ")))" }
        }
    }

    private func history() throws -> StoreInspection.History? {
        guard store.schema.history != nil else { return nil }
        let (change, transaction) = (HistoryLayout.Entity.change.table, HistoryLayout.Entity.transaction.table)
        return StoreInspection.History(
            changes: try count(change),
            transactions: store.schema.table(transaction) == nil ? 0 : try count(transaction))
    }

    private func externalData() throws -> StoreInspection.ExternalData? {
        let folder = store.location.externalData
        guard try Files.statusIfExists(folder)?.kind == .directory else { return nil }
        var (files, bytes) = (0, 0)
        for name in try Files.list(folder) {
            // The app may remove a file meanwhile: it isn't counted.
            guard let status = try Files.statusIfExists(Paths.join(folder, name)), status.kind == .regular else {
                continue
            }
            files += 1
            bytes += Int(clamping: status.size)
        }
        return StoreInspection.ExternalData(folder: folder, files: files, bytes: bytes)
    }

    private func count(_ table: String) throws -> Int {
        var statement = try store.connection.prepare("SELECT count(*) FROM \(try SQLIdentifier(table))")
        return try statement.step() ? Int(clamping: statement.int64(at: 0)) : 0
    }
}
