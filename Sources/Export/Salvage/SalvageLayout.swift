import CausewayEvaluation
import CausewayModel
import CausewayObjects
import CausewayPlanning
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// The tables of a damaged store: as its schema says, and where that can't be read, as the model says that Core Data
/// made them.
struct SalvageLayout {
    let map: StorageMap
    /// In the map's order.
    let tables: [SalvagedTable]
    /// In the order of the layout's join tables.
    let links: [SalvagedTable]
    /// Tables that the schema doesn't tell, or tells wrongly.
    let missing: [String]
    /// Tables of links that the schema tells wrongly: no one knows which column is which.
    let unknownLinks: [String]

    private struct Parts {
        let map: StorageMap
        let tables: [SalvagedTable]
        let links: [SalvagedTable]
        let missing: [String]
        let unknownLinks: [String]
    }

    /// Where nothing but the tables themselves is known.
    init(map: StorageMap, tables: [SalvagedTable], links: [SalvagedTable]) {
        (self.map, self.tables, self.links) = (map, tables, links)
        (missing, unknownLinks) = ([], [])
    }

    /// The newest framework version of which layouts are known, for a store that doesn't tell its own.
    static let frameworkVersion = 1_145

    init(_ schema: SalvagedSchema, _ model: ManagedObjectModel, path: String) throws(EngineError) {
        let version = schema.metadata?.frameworkVersion ?? Self.frameworkVersion
        let stored = StoreSchema(objects: [], tables: Array(schema.tables.values), primaryKeys: [], schemaVersion: 0)
        let read = try EngineError.reading(path) { () throws -> Parts in
            let expected = try StoreLayout(model: model, frameworkVersion: version, hints: LayoutHints(stored))
            let isTheModel =
                schema.metadata.map { VersionHashes(model).differences(from: $0.entityHashes).isEmpty } ?? false
            let substitutes = Self.tables(of: expected).compactMap {
                Self.substitute($0, for: stored.table($0.name), isTheModel: isTheModel)
            }
            let replaced = Set(substitutes.map { $0.name.lowercased() })
            let complete = StoreSchema(
                objects: [], tables: schema.tables.filter { !replaced.contains($0.key) }.map(\.value) + substitutes,
                primaryKeys: [], schemaVersion: 0)
            var layout = try StoreBinding(complete, model: model, frameworkVersion: version).layout
            var (known, missing) = (complete, substitutes.map(\.name))
            if layout.tables.count != expected.tables.count {
                // What the schema says isn't the model's: the model's word counts.
                layout = expected
                known = StoreSchema(
                    objects: [], tables: Self.tables(of: expected), primaryKeys: [], schemaVersion: 0)
                missing = known.tables.values.map(\.name)
            }
            let tables = layout.tables.compactMap { table in
                known.table(table.name).map {
                    SalvagedTable(table, $0, numbers: layout.numbers(ofTree: table.rootEntity))
                }
            }
            let links = layout.joinTables.compactMap { join in known.table(join.name).map { SalvagedTable(join, $0) } }
            guard tables.count == layout.tables.count, links.count == layout.joinTables.count else {
                throw EngineError(.sourceData, "\(path): its tables aren't those of the model")
            }
            let joined = Set(
                layout.joinTables.flatMap { ["\($0.owner).\($0.relationship)", "\($0.inverseOwner).\($0.inverse)"] })
            let lost = expected.joinTables.filter { !joined.contains("\($0.owner).\($0.relationship)") }
            return Parts(
                map: try StorageMap(layout), tables: tables, links: links, missing: missing.sorted(),
                unknownLinks: lost.map(\.name).sorted())
        }
        (map, tables, links) = (read.map, read.tables, read.links)
        (missing, unknownLinks) = (read.missing, read.unknownLinks)
    }

    /// What takes the place of a table that the schema doesn't tell, or tells wrongly: without its first columns, or,
    /// where the model is certain, without one of the others. nil where the schema is right.
    private static func substitute(
        _ table: StoreSchema.Table, for stored: StoreSchema.Table?, isTheModel: Bool
    ) -> StoreSchema.Table? {
        guard let stored else { return table }
        // A table of links may have other names of columns; it has no house columns.
        guard table.position(of: "Z_ENT") != nil else { return nil }
        let isRight = table.columns.enumerated().allSatisfy { place, column in
            place < 3
                ? stored.position(of: column.name) == place : !isTheModel || stored.position(of: column.name) != nil
        }
        guard !isRight else { return nil }
        return StoreSchema.Table(
            name: table.name, rootPage: stored.rootPage, columns: table.columns, isWithoutRowID: false)
    }

    /// The tables that Core Data makes for a layout.
    static func tables(of layout: StoreLayout) -> [StoreSchema.Table] {
        layout.tables.map { table in
            StoreSchema.Table(
                name: table.name, rootPage: 0,
                columns: table.columns.map {
                    StoreSchema.Column(
                        name: $0.name, declaredType: $0.declaredType,
                        primaryKeyPlace: $0.role == .primaryKey ? 1 : 0)
                }, isWithoutRowID: false)
        }
            + layout.joinTables.map { join in
                let keys = [join.ownerColumn, join.destinationColumn]
                let places = [join.ownerOrderColumn, join.destinationOrderColumn].compactMap(\.self)
                return StoreSchema.Table(
                    name: join.name, rootPage: 0,
                    columns: (keys + places).map { StoreSchema.Column(name: $0, declaredType: "INTEGER") },
                    isWithoutRowID: false)
            }
    }
}
