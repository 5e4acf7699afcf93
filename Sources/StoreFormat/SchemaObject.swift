/// An object of a store with its origin.
package struct SchemaObject: Hashable, Sendable {
    package enum Origin: Hashable, Sendable {
        /// Core Data makes it for the store's model.
        case coreData
        /// Core Data made it for an earlier model and left it (InsideStoreFormat §10); a rebuild drops it.
        case staleCoreData
        /// The app's own; it is carried or reported, never dropped silently.
        case appMade
        /// SQLite's own: statistics, indexes of constraints.
        case sqliteInternal
        /// Persistent history.
        case history
        /// CloudKit mirroring (`CloudKitTables`).
        case cloudKit
    }

    package let object: StoreSchema.Object
    package let origin: Origin
}

/// Finds the origin of a store's objects, by their names and the model.
struct SchemaOrigins {
    /// Lower-cased names of the objects that Core Data makes for the model.
    private let expected: Set<String>
    private let virtualTables: [String: SchemaObject.Origin]
    private let schema: StoreSchema
    private let hasHistory: Bool
    private let cloudKit: Set<String>

    /// Endings of the tables behind SQLite's own virtual-table modules (rtree, fts3/4, fts5).
    private static let shadows = [
        "_node", "_rowid", "_parent", "_content", "_segments", "_segdir", "_docsize", "_stat", "_data", "_idx",
        "_config",
    ]

    /// Whether a table is one behind a virtual table; `virtual` are lower-cased names.
    static func isShadow(_ table: String, of virtual: Set<String>) -> Bool {
        owner(ofShadow: table.lowercased(), among: virtual) != nil
    }

    private static func owner(ofShadow name: String, among virtual: some Collection<String>) -> String? {
        shadows.lazy.filter(name.hasSuffix).map { String(name.dropLast($0.count)) }.first(where: virtual.contains)
    }

    init(_ statements: SchemaStatements, schema: StoreSchema) {
        self.schema = schema
        hasHistory = schema.history != nil
        cloudKit = CloudKitTables.names(in: schema)
        let expected = Set(statements.inOrder.map { $0.name.lowercased() })
        self.expected = expected
        virtualTables = Dictionary(
            schema.objects.filter(\.isVirtualTable).map { object in
                let name = object.name.lowercased()
                let origin: SchemaObject.Origin =
                    expected.contains(name) ? .coreData : name.hasPrefix("z_rt_") ? .staleCoreData : .appMade
                return (name, origin)
            }, uniquingKeysWith: { first, _ in first })
    }

    func origin(of object: StoreSchema.Object) -> SchemaObject.Origin {
        let (name, table) = (object.name.lowercased(), object.table.lowercased())
        if name.hasPrefix("sqlite_") { return .sqliteInternal }
        if cloudKit.contains(table) { return .cloudKit }
        // Without them these are an app's tables, whatever their names.
        if hasHistory, HistoryLayout.Entity.allCases.contains(where: { $0.table.lowercased() == table }) {
            return object.kind == .table || isHistoryIndex(object) ? .history : .appMade
        }
        switch object.kind {
        case .view: return .appMade
        case .table: return originOfTable(object, name)
        case .index: return expected.contains(name) ? .coreData : isStaleIndex(object) ? .staleCoreData : .appMade
        case .trigger:
            if expected.contains(name) { return .coreData }
            return name.hasPrefix("z_da_") || name.hasPrefix("z_rt_") ? .staleCoreData : .appMade
        }
    }

    private func originOfTable(_ object: StoreSchema.Object, _ name: String) -> SchemaObject.Origin {
        if let origin = virtualTables[name] { return origin }
        if let owner = Self.owner(ofShadow: name, among: virtualTables.keys), let origin = virtualTables[owner] {
            return origin
        }
        if expected.contains(name) { return .coreData }
        return isStaleJoin(object) || object.name == "Z_MODELCACHE" ? .staleCoreData : .appMade
    }

    /// A join table of an earlier model has a number in its own name and in those of all of its columns.
    private func isStaleJoin(_ object: StoreSchema.Object) -> Bool {
        func isNumbered(_ name: String, _ prefix: String) -> Bool {
            name.hasPrefix(prefix) && name.dropFirst(prefix.count).first?.isNumber == true
        }
        guard isNumbered(object.name, "Z_"), let table = schema.table(object.name) else { return false }
        return (2...4).contains(table.columns.count)
            && table.columns.allSatisfy {
                isNumbered($0.name, "Z_") || $0.name.hasPrefix("Z_FOK_") || $0.name == SchemaNames.reflexive
            }
    }

    private func isHistoryIndex(_ object: StoreSchema.Object) -> Bool {
        guard object.kind == .index else { return false }
        return object.name.hasPrefix(object.table + "_") || object.name.hasPrefix("Z_" + object.table.dropFirst() + "_")
    }

    /// Core Data's naming patterns over all eras: `<TABLE>_<COLUMN>_INDEX`, `Z_<Entity>_<index>`, `<TABLE>_ZA_ZB`.
    /// Their table may have been renamed since. Core Data never indexes an order key.
    private func isStaleIndex(_ object: StoreSchema.Object) -> Bool {
        let name = object.name
        guard name.hasPrefix("Z"), expected.contains(object.table.lowercased()) else { return false }
        if name.hasSuffix("_INDEX") {
            let stem = name.dropLast("_INDEX".count)
            guard !stem.utf8.contains("_Z_FOK_".utf8) else { return false }
            return stem.hasSuffix("_REFLEXIVE") || stem.dropFirst().utf8.contains("_Z".utf8)
        }
        return name.hasPrefix("Z_") || name.hasPrefix(object.table + "_Z")
    }
}
