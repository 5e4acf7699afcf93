import CausewayModel

/// The tables of persistent history (InsideStoreFormat §11).
package struct HistoryLayout: Hashable, Sendable {
    /// Z_PRIMARYKEY's rows of history: Z_SUPER is 0, Z_MAX is used.
    package enum Entity: Int, CaseIterable, Sendable {
        case change = 16001
        case transaction = 16002
        /// From framework version 865 on.
        case transactionString = 16003

        package var name: String {
            switch self {
            case .change: "CHANGE"
            case .transaction: "TRANSACTION"
            case .transactionString: "TRANSACTIONSTRING"
            }
        }
        package var table: String { "A" + name }
    }

    /// Entities of the model have smaller numbers than this; history's have larger ones.
    package static let firstNumber = 16000

    /// Number of `ZTOMBSTONE<i>` columns of ACHANGE.
    package let tombstones: Int
    /// Whether authors, bundles, … are numbers of rows in ATRANSACTIONSTRING.
    package let hasStrings: Bool

    package init(tombstones: Int, hasStrings: Bool) {
        self.tombstones = tombstones
        self.hasStrings = hasStrings
    }

    /// As Core Data makes it for the layout's model: one tombstone column for each attribute, inherited ones included,
    /// that an entity preserves on deletion; the entity with the most decides.
    package init(_ layout: StoreLayout) {
        let counts = layout.entities.map { entity in
            layout.model.lineage(of: entity).flatMap(\.attributes).count { $0.preservesValueInHistoryOnDeletion }
        }
        self.init(tombstones: counts.max() ?? 0, hasStrings: layout.frameworkVersion >= FrameworkEra.uniqueIndexes)
    }

    private static let houseColumns = ["Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER"]
    private static let stringKeys = ["ZAUTHORTS", "ZBUNDLEIDTS", "ZCONTEXTNAMETS", "ZPROCESSIDTS"]

    /// Columns that distinguish ACHANGE from an app's own table of this name.
    static let changeColumns = ["Z_PK", "Z_ENT", "Z_OPT", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID"]

    /// Columns that refer to ATRANSACTIONSTRING.Z_PK; empty in old stores.
    package var stringColumns: [String] { hasStrings ? Self.stringKeys : [] }

    /// Every column of a table with its type, in declared order; empty for a table that the layout lacks.
    package func columns(of entity: Entity) -> [String] {
        switch entity {
        case .change:
            Self.houseColumns
                + [
                    "ZCHANGETYPE INTEGER", "ZENTITY INTEGER", "ZENTITYPK INTEGER", "ZTRANSACTIONID INTEGER",
                    "ZCOLUMNS BLOB",
                ]
                + (0..<tombstones).map { "ZTOMBSTONE\($0) BLOB" }
        case .transaction:
            Self.houseColumns + stringColumns.map { $0 + " INTEGER" }
                + [
                    "ZTIMESTAMP FLOAT", "ZAUTHOR VARCHAR", "ZBUNDLEID VARCHAR", "ZCONTEXTNAME VARCHAR",
                    "ZPROCESSID VARCHAR", "ZQUERYGEN BLOB",
                ]
        case .transactionString:
            hasStrings ? Self.houseColumns + ["ZNAME VARCHAR"] : []
        }
    }

    /// Tables, then indexes, in Core Data's text and order.
    package var statements: [SchemaStatement] {
        let tables = Entity.allCases.compactMap { entity -> SchemaStatement? in
            let columns = columns(of: entity)
            guard !columns.isEmpty else { return nil }
            return SchemaStatement(
                kind: .historyTable, name: entity.table, table: entity.table,
                sql: "CREATE TABLE \(entity.table) ( \(columns.joined(separator: ", ")) )")
        }
        func index(
            _ name: String, _ table: String, _ column: String, isSpelledOut: Bool = true, unique: Bool = false
        ) -> SchemaStatement {
            SchemaStatement(
                TableIndex(
                    name, on: table, [.init(column)], isUnique: unique, origin: .history, isSpelledOut: isSpelledOut))
        }
        let (change, transaction) = (Entity.change.table, Entity.transaction.table)
        var indexes = [index("ACHANGE_ZTRANSACTIONID_INDEX", change, "ZTRANSACTIONID", isSpelledOut: false)]
        indexes += stringColumns.map { index("ATRANSACTION_\($0)_INDEX", transaction, $0, isSpelledOut: false) }
        indexes += [
            index("Z_TRANSACTION_TransactionAuthorIndex", transaction, "ZAUTHOR"),
            index("Z_TRANSACTION_TransactionTimestampIndex", transaction, "ZTIMESTAMP"),
        ]
        if hasStrings {
            let table = Entity.transactionString.table
            indexes.append(index("Z_TRANSACTIONSTRING_UNIQUE_NAME", table, "ZNAME", unique: true))
        }
        return tables + indexes
    }
}
