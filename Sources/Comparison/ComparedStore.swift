import CausewayExamination
import CausewayModel
import CausewayPreparation
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// An open store with what a comparison reads of it.
struct ComparedStore {
    let store: SourceStore
    let versions: [String]
    let origin: ModelOrigin
    /// The store's tables with their model; nil where it is unknown.
    let binding: StoreBinding?
    /// Entity names by Z_ENT: the model's, or without one those of Z_PRIMARYKEY.
    private let names: [Int64: String]

    /// Finds the store's model among the given ones, else in its own cache.
    init(_ store: SourceStore, history: ModelHistory?) throws {
        self.store = store
        let matching = (history?.versions ?? []).filter { $0.hashes.entities == store.metadata.entityHashes }
        versions = matching.map(\.name)
        let identifiers = store.metadata.versionIdentifiers
        let chosen = matching.first { $0.model.versionIdentifiers == identifiers } ?? matching.last
        let cached = chosen == nil ? try Self.cachedModel(of: store) : nil
        origin = chosen != nil ? .models : cached != nil ? .storeCache : .unknown
        binding = try (chosen?.model ?? cached).map {
            try StoreBinding(store.schema, model: $0, frameworkVersion: store.metadata.frameworkVersion)
        }
        names = Self.names(store, binding)
    }

    /// The same store as if it had no model: where one of two stores has none, both are read by their tables.
    init(withoutModelOf other: ComparedStore) {
        (store, versions, origin, binding) = (other.store, other.versions, other.origin, nil)
        names = Self.names(other.store, nil)
    }

    private static func names(_ store: SourceStore, _ binding: StoreBinding?) -> [Int64: String] {
        var names: [Int64: String] = [:]
        if let binding {
            for row in binding.layout.primaryKeyRows { names[Int64(row.number)] = row.name }
        } else {
            for row in store.schema.primaryKeys where row.number < HistoryLayout.firstNumber {
                names[row.number] = row.name
            }
        }
        return names
    }

    /// nil where the store has no cache, or one of another model.
    private static func cachedModel(of store: SourceStore) throws(SQLiteError) -> ManagedObjectModel? {
        guard store.schema.table("Z_MODELCACHE") != nil else { return nil }
        var statement = try store.connection.prepare("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1")
        let content = try statement.step() ? statement.bytes(at: 0) : nil
        guard let model = try? ModelReader.model(cache: content),
            VersionHashes(model).differences(from: store.metadata.entityHashes).isEmpty
        else { return nil }
        return model
    }

    /// The name of an entity; a number that no entity has is named by itself.
    func name(ofEntity number: Int64) -> String { names[number] ?? "Z_ENT \(number)" }

    var entityNames: [String] { Array(names.values) }

    /// The Z_ENT of an entity; nil where the store has no such entity.
    func number(ofEntity name: String) -> Int64? { names.first { $0.value == name }?.key }

    // MARK: - Tables of entities

    /// With the model where there is one.
    var tables: [ComparedTable] {
        guard let binding else { return tablesWithoutModel }
        return binding.layout.tables.map { table in
            let columns = table.columns.filter { ![.primaryKey, .entityNumber, .optimisticLock].contains($0.role) }
            let extra = binding.extraColumns[table.name] ?? []
            var entities: [Int64: ComparedEntity] = [:]
            for name in binding.layout.entities where binding.layout.table(of: name)?.name == table.name {
                guard let number = binding.layout.entityNumbers[name] else { continue }
                let own = columns.enumerated().compactMap { place, column in
                    property(column, at: place, in: columns, of: name, binding.layout)
                }
                let unknown = extra.enumerated().map { place, column in
                    ComparedProperty(
                        name: column, kind: .column, column: ComparedTable.firstColumn + columns.count + place)
                }
                entities[Int64(number)] = ComparedEntity(name: name, properties: own + unknown)
            }
            return ComparedTable(
                name: table.name, columns: columns.map(\.name) + extra, entities: entities, others: [])
        }
    }

    /// The property that a column holds for rows of an entity; nil where these rows have none in it.
    private func property(
        _ column: Column, at place: Int, in columns: [Column], of entity: String, _ layout: StoreLayout
    ) -> ComparedProperty? {
        let model = layout.model
        guard let owner = column.role.owner(in: model), model.isKind(entity, of: owner) else { return nil }
        let position = ComparedTable.firstColumn + place
        switch column.role {
        case .primaryKey, .entityNumber, .optimisticLock, .toOneEntity: return nil
        case .attribute(_, let path):
            let isExternal = model.attribute(path, of: entity)?.attribute.allowsExternalBinaryDataStorage == true
            return ComparedProperty(name: path, kind: isExternal ? .external : .attribute, column: position)
        case .toOne(let declaring, let relationship):
            let role = ColumnRole.toOneEntity(entity: declaring, relationship: relationship)
            let beside = columns.firstIndex { $0.role == role }.map { ComparedTable.firstColumn + $0 }
            return ComparedProperty(name: relationship, kind: .toOne, column: position, entityColumn: beside)
        case .orderKey(_, let relationship):
            return ComparedProperty(name: relationship, kind: .place, column: position)
        case .virtualToOne(let owner, let relationship):
            return ComparedProperty(name: "\(owner).\(relationship)", kind: .toOne, column: position)
        case .virtualOrderKey(let owner, let relationship):
            return ComparedProperty(name: "\(owner).\(relationship)", kind: .place, column: position)
        }
    }

    // MARK: - Join tables

    var joins: [ComparedJoin] {
        guard let binding else { return joinsWithoutModel }
        return binding.layout.joinTables.map { join in
            let (owner, other) = ("\(join.owner).\(join.relationship)", "\(join.inverseOwner).\(join.inverse)")
            let isTurned = other < owner
            return ComparedJoin(
                label: isTurned ? other : owner, inverse: isTurned ? owner : other, table: join.name,
                first: isTurned ? join.destinationColumn : join.ownerColumn,
                second: isTurned ? join.ownerColumn : join.destinationColumn,
                firstPlace: isTurned ? join.destinationOrderColumn : join.ownerOrderColumn,
                secondPlace: isTurned ? join.ownerOrderColumn : join.destinationOrderColumn)
        }
    }

    // MARK: - Other tables

    /// Persistent history and the app's own tables; without a model, every table that is neither an entity's nor Core
    /// Data's own.
    var others: [ComparedOther] {
        let schema = store.schema
        let virtual = schema.objects.filter(\.isVirtualTable).map { $0.name.lowercased() + "_" }
        let known: Set<String>
        if let binding {
            let own = Set((binding.objects(.appMade) + binding.objects(.cloudKit)).map { $0.name.lowercased() })
            known = Set(schema.tables.keys).subtracting(own).subtracting(Self.historyTables)
        } else {
            known = Set(
                tablesWithoutModel.map { $0.name.lowercased() } + joinsWithoutModel.map { $0.table.lowercased() }
            )
            .union(Self.houseTables)
        }
        return schema.tables.filter { key, table in
            // Tables behind a virtual one hold what other tables do, in an order of their own.
            !known.contains(key) && !key.hasPrefix("sqlite_") && !virtual.contains { key.hasPrefix($0) }
        }.values.sorted { $0.name < $1.name }.map { table in
            ComparedOther(name: table.name, columns: table.columns.map(\.name).filter { $0 != "Z_OPT" })
        }
    }

    private static let houseTables: Set<String> = ["z_primarykey", "z_metadata", "z_modelcache"]
    static let historyTables = Set(HistoryLayout.Entity.allCases.map { $0.table.lowercased() })
}
