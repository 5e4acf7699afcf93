/// An object of a store with where it comes from.
package struct SchemaObject: Hashable, Sendable {
    package enum Origin: Hashable, Sendable {
        /// Core Data makes it for the store's model.
        case coreData
        /// Core Data made it for an earlier model and left it (store-format.md §10); a rebuild drops it.
        case staleCoreData
        /// The app's own; to be carried or reported, never dropped in silence.
        case appMade
        /// SQLite's own: statistics, indexes of constraints.
        case sqliteInternal
        /// Persistent history.
        case history
        /// CloudKit mirroring (`ANSCK…`).
        case cloudKit
    }

    package let object: StoreSchema.Object
    package let origin: Origin
}

/// Sorts a store's objects by origin, by their names and what the model asks for.
struct SchemaOrigins {
    /// Lower-cased names of what Core Data makes for the model.
    private let expected: Set<String>
    private let virtualTables: [String: SchemaObject.Origin]

    /// Endings of the tables behind SQLite's own virtual-table modules (rtree, fts3/4, fts5).
    private static let shadows = [
        "_node", "_rowid", "_parent", "_content", "_segments", "_segdir", "_docsize", "_stat", "_data", "_idx",
        "_config",
    ]

    init(_ statements: SchemaStatements, objects: [StoreSchema.Object]) {
        let expected = Set(statements.inOrder.map { $0.name.lowercased() })
        self.expected = expected
        virtualTables = Dictionary(
            objects.filter(\.isVirtualTable).map { object in
                let name = object.name.lowercased()
                let origin: SchemaObject.Origin =
                    expected.contains(name) ? .coreData : name.hasPrefix("z_rt_") ? .staleCoreData : .appMade
                return (name, origin)
            }, uniquingKeysWith: { first, _ in first })
    }

    func origin(of object: StoreSchema.Object) -> SchemaObject.Origin {
        let (name, table) = (object.name.lowercased(), object.table.lowercased())
        if name.hasPrefix("sqlite_") { return .sqliteInternal }
        if table.hasPrefix("ansck") { return .cloudKit }
        if HistoryLayout.Entity.allCases.contains(where: { $0.table.lowercased() == table }) {
            return object.kind == .table || object.kind == .index ? .history : .appMade
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
        for shadow in Self.shadows where name.hasSuffix(shadow) {
            if let origin = virtualTables[String(name.dropLast(shadow.count))] { return origin }
        }
        if expected.contains(name) { return .coreData }
        // A join table of an earlier model has a number in its name.
        let isJoin = name.hasPrefix("z_") && name.dropFirst(2).first?.isNumber == true
        return isJoin || object.name == "Z_MODELCACHE" ? .staleCoreData : .appMade
    }

    /// Core Data's naming patterns over all eras: `<TABLE>_<COLUMN>_INDEX`, `Z_<Entity>_<index>`, `<TABLE>_ZA_ZB`. Their
    /// table may have been renamed since. Core Data never indexes an order key.
    private func isStaleIndex(_ object: StoreSchema.Object) -> Bool {
        let name = object.name
        guard name.hasPrefix("Z"), expected.contains(object.table.lowercased()) else { return false }
        if name.hasSuffix("_INDEX") {
            let stem = name.dropLast("_INDEX".count)
            guard !stem.contains("_Z_FOK_") else { return false }
            return stem.hasSuffix("_REFLEXIVE") || stem.dropFirst().contains("_Z")
        }
        return name.hasPrefix("Z_") || name.hasPrefix(object.table + "_Z")
    }
}

extension StringProtocol {
    /// Whether the text holds the other, byte by byte: the standard library alone has no such search.
    fileprivate func contains(_ other: String) -> Bool {
        let (text, part) = (Array(utf8), Array(other.utf8))
        guard !part.isEmpty, text.count >= part.count else { return part.isEmpty }
        return (0...(text.count - part.count)).contains { text[$0..<$0 + part.count].elementsEqual(part) }
    }
}
