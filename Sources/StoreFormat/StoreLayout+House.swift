extension StoreLayout {
    /// Z_PRIMARYKEY, Z_METADATA and, from framework version 637, Z_MODELCACHE (InsideStoreFormat §1).
    package var houseStatements: [SchemaStatement] {
        var tables = [
            ("Z_PRIMARYKEY", "(Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)"),
            ("Z_METADATA", "(Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)"),
        ]
        if frameworkVersion >= FrameworkEra.modelCache { tables.append(("Z_MODELCACHE", "(Z_CONTENT BLOB)")) }
        return tables.map { name, columns in
            SchemaStatement(kind: .house, name: name, table: name, sql: "CREATE TABLE \(name) \(columns)")
        }
    }

    /// Tables and indexes of persistent history (InsideStoreFormat §11).
    package var historyStatements: [SchemaStatement] { HistoryLayout(self).statements }
}
