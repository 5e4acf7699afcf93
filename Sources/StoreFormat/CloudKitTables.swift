import CausewaySQLite

/// Core Data's tables for CloudKit mirroring (InsideStoreFormat §11).
package enum CloudKitTables {
    private static let prefix = "ansck"
    /// If a store has one of them, all its tables with this prefix are Core Data's: newer versions may have more.
    private static let known: Set<String> = [
        "ansckdatabasemetadata", "ansckevent", "ansckexportedobject", "ansckexportmetadata", "ansckexportoperation",
        "ansckhistoryanalyzerstate", "ansckimportoperation", "ansckimportpendingrelationship", "ansckmetadataentry",
        "ansckmirroredrelationship", "ansckrecordmetadata", "ansckrecordzonemetadata", "ansckrecordzonemovereceipt",
        "ansckrecordzonequery",
    ]

    /// Has a row for each object that is mirrored.
    package static let records = "ANSCKRECORDMETADATA"
    /// Has a row for each mirrored link of a many-to-many relationship.
    package static let links = "ANSCKMIRROREDRELATIONSHIP"

    /// Lower-cased names. An app's own table may have the prefix or even the name; it has no Z_PK then.
    package static func names(in schema: StoreSchema) -> Set<String> {
        let names = schema.tables.filter { $0.key.hasPrefix(prefix) && $0.value.position(of: "Z_PK") != nil }.keys
        return names.contains(where: known.contains) ? Set(names) : []
    }
}

/// What the rows of a table of CloudKit mirroring say about the app's entities, by the names of its columns: no
/// document describes these tables.
package struct CloudKitTable {
    package let table: StoreSchema.Table

    package init(_ table: StoreSchema.Table) {
        self.table = table
    }

    private func column(_ name: String) -> String? {
        table.position(of: name).map { table.columns[$0].name }
    }

    /// Columns that hold the Z_ENT of an object of the app's; its key is in `ZENTITYPK`.
    package var entityColumns: [String] { ["ZENTITYID", "ZENTITY"].compactMap(column) }

    /// The columns with the names of an entity and of its relationship.
    package var relationshipColumns: (entity: String, relationship: String)? {
        guard let entity = column("ZCDENTITYNAME"), let relationship = column("ZRELATIONSHIPNAME") else { return nil }
        return (entity, relationship)
    }

    /// The columns with the key of a row to which this one belongs, each with that row's table.
    package var owners: [(column: String, table: String)] {
        [("ZRECORDMETADATA", CloudKitTables.records), ("ZMIRROREDRELATIONSHIP", CloudKitTables.links)].compactMap {
            name, owner in
            guard owner.lowercased() != table.name.lowercased() else { return nil }
            return column(name).map { ($0, owner) }
        }
    }

    /// Columns of numbers that may be entities', for all that their names say.
    package var doubtfulColumns: [String] {
        table.columns.filter { column in
            let name = column.name.uppercased()
            return name.contains("ENTITY") && !["ZENTITYID", "ZENTITY", "ZENTITYPK"].contains(name)
                && Affinity(column.declaredType) == .numeric
        }.map(\.name)
    }

    /// Whether each row has its key as its rowid, and every column holds what was written into it.
    package var isOrdinary: Bool {
        guard let place = table.position(of: "Z_PK") else { return false }
        return table.isRowID(table.columns[place]) && !table.columns.contains(where: \.isGenerated)
    }
}
