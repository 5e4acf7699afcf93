import CausewayStoreFormat
import CausewayStores

/// A store whose model nobody knows: tables and columns under their own names. Numbers of entities in them become
/// names, so that two stores that number their entities differently have the same ones.
extension ComparedStore {
    var tablesWithoutModel: [ComparedTable] {
        let house = ["Z_PK", "Z_ENT", "Z_OPT"]
        let found = store.schema.tables.values.filter { table in
            house.allSatisfy { table.position(of: $0) != nil } && !Self.historyTables.contains(table.name.lowercased())
                && !table.name.uppercased().hasPrefix("ANSCK")
        }
        return found.sorted { $0.name < $1.name }.map { table in
            let columns = table.columns.map(\.name).filter { !house.contains($0.uppercased()) }
            let properties = columns.enumerated().map { place, column in
                let isBinary = table.position(of: column).map { table.columns[$0].declaredType.uppercased() } == "BLOB"
                return property(column, isBinary: isBinary, at: ComparedTable.firstColumn + place)
            }
            return ComparedTable(name: table.name, columns: columns, entities: [:], others: properties)
        }
    }

    private func property(_ column: String, isBinary: Bool, at position: Int) -> ComparedProperty {
        let name = named(column)
        let isEntity = name.isNumbered && name.rest.hasPrefix("_") && !column.hasPrefix("Z_")
        let kind: StoreComparison.Kind =
            column.hasPrefix("Z_FOK_") ? .place : isEntity ? .entityNumber : isBinary ? .external : .attribute
        return ComparedProperty(name: name.text, kind: kind, column: position)
    }

    /// `Z9_AUTHOR`, `Z9TAGS`, `Z_FOK_9TAGS` and `Z_9TAGS` with the entity's name in the number's place.
    func named(_ column: String) -> (text: String, rest: Substring, isNumbered: Bool) {
        for prefix in ["Z_FOK_", "Z_", "Z"] where column.hasPrefix(prefix) {
            let digits = column.dropFirst(prefix.count).prefix { $0.isASCII && $0.isNumber }
            let rest = column.dropFirst(prefix.count + digits.count)
            guard !digits.isEmpty, !rest.isEmpty, let number = Int64(digits) else { continue }
            return ("\(prefix)<\(name(ofEntity: number))>\(rest)", rest, true)
        }
        return (column, "", false)
    }

    /// Core Data names them Z_<number><RELATIONSHIP> (InsideStoreFormat §5.3).
    var joinsWithoutModel: [ComparedJoin] {
        store.schema.tables.values.sorted { $0.name < $1.name }.compactMap { table in
            guard table.name.uppercased().hasPrefix("Z_"), named(table.name).isNumbered,
                table.position(of: "Z_PK") == nil
            else { return nil }
            let keys = table.columns.map(\.name).filter { !$0.hasPrefix("Z_FOK_") }
                .sorted { named($0).text < named($1).text }
            guard keys.count == 2 else { return nil }
            func place(of key: String) -> String? {
                table.columns.map(\.name).first { $0 == "Z_FOK_" + key.dropFirst(2) }
            }
            return ComparedJoin(
                label: named(table.name).text, inverse: nil, table: table.name, first: keys[0], second: keys[1],
                firstPlace: place(of: keys[0]), secondPlace: place(of: keys[1]))
        }
    }
}
