/// The database's own description: the schema table, the columns of ordinary tables, Z_PRIMARYKEY.
///
/// Read once, within limits, and trusted only for names: `StoreBinding` decides what an object is.
package struct StoreSchema: Sendable {
    /// Rows of the schema table. Photos, the largest store known, has about 900.
    package static let maximumObjects = 20_000
    /// Bytes of names and SQL together. Photos has about 0.5 MB.
    package static let maximumBytes = 32 * 1024 * 1024
    /// Columns of all tables together; SQLite allows 2,000 per table. Limits the memory of hostile tables.
    package static let maximumColumns = 200_000
    /// Rows of Z_PRIMARYKEY; models have at most some hundred entities.
    package static let maximumPrimaryKeyRows = 20_000

    /// One row of the schema table.
    package struct Object: Hashable, Sendable {
        package enum Kind: String, Hashable, Sendable {
            case table, index, trigger, view
        }
        package let kind: Kind
        package let name: String
        /// The table that an index or trigger belongs to.
        package let table: String
        /// 0 for views, triggers and virtual tables.
        package let rootPage: Int64
        /// As stored, in the author's text; nil for the index of a table's own constraint.
        package let sql: String?

        /// The table that lists all others, and not itself.
        package static let schemaTable = Object(
            kind: .table, name: "sqlite_schema", table: "sqlite_schema", rootPage: 1, sql: nil)

        package var isVirtualTable: Bool { kind == .table && rootPage == 0 }
    }

    /// One column of an ordinary table.
    package struct Column: Hashable, Sendable {
        package let name: String
        package let declaredType: String
        /// Place in the primary key from 1; 0 for a column outside it.
        package let primaryKeyPlace: Int
        /// A generated column: virtual ones have no cell in the record.
        package let isGenerated: Bool
        /// Whether records that end before the column have another value than NULL in it (`DEFAULT`).
        package let hasDefault: Bool

        package init(
            name: String, declaredType: String, primaryKeyPlace: Int = 0, isGenerated: Bool = false,
            hasDefault: Bool = false
        ) {
            self.name = name
            self.declaredType = declaredType
            self.primaryKeyPlace = primaryKeyPlace
            self.isGenerated = isGenerated
            self.hasDefault = hasDefault
        }

        /// A column in Core Data's own text: `ZNAME VARCHAR`, `Z_PK INTEGER PRIMARY KEY`.
        package init(_ text: String) {
            let words = text.split(separator: " ")
            self.init(
                name: String(words.first ?? ""), declaredType: words.count > 1 ? String(words[1]) : "",
                primaryKeyPlace: words.count > 2 ? 1 : 0)
        }
    }

    /// One column of a primary key, as its index orders it.
    package struct KeyColumn: Hashable, Sendable {
        package let name: String
        package let collation: String
        package let isDescending: Bool
    }

    /// One ordinary table.
    package struct Table: Hashable, Sendable {
        package let name: String
        package let rootPage: Int64
        /// In declared order, which is the order of a record's cells.
        package let columns: [Column]
        package let isWithoutRowID: Bool
        /// The primary key if it has an index of its own, in the index's order; empty if the rowid is the key.
        package let primaryKey: [KeyColumn]
        /// By lower-cased name: a hostile table may have thousands of columns.
        private let positions: [String: Int]

        package init(
            name: String, rootPage: Int64, columns: [Column], isWithoutRowID: Bool, primaryKey: [KeyColumn] = []
        ) {
            self.name = name
            self.primaryKey = primaryKey
            self.rootPage = rootPage
            self.columns = columns
            self.isWithoutRowID = isWithoutRowID
            let names = columns.map { $0.name.lowercased() }
            positions = Dictionary(zip(names, 0...), uniquingKeysWith: { first, _ in first })
        }

        /// Place of a column by name, without regard to case, as SQLite compares.
        package func position(of column: String) -> Int? { positions[column.lowercased()] }

        /// Whether the column is another name of the rowid. `INTEGER PRIMARY KEY DESC` isn't: it has an index.
        package func isRowID(_ column: Column) -> Bool {
            !isWithoutRowID && primaryKey.isEmpty && column.primaryKeyPlace == 1
                && column.declaredType.uppercased() == "INTEGER" && !columns.contains { $0.primaryKeyPlace > 1 }
        }

        /// The name under which the rowid can be read and written; nil for a table without, and where other columns
        /// have all of its names.
        package var rowIDName: String? {
            guard !isWithoutRowID else { return nil }
            return columns.first(where: isRowID)?.name ?? ["rowid", "_rowid_", "oid"].first { position(of: $0) == nil }
        }
    }

    /// One row of Z_PRIMARYKEY.
    package struct PrimaryKeyRow: Hashable, Sendable {
        package let number: Int64
        package let name: String
        /// The parent's number; 0 for a root.
        package let parent: Int64
        /// Not reliable alone: −1 and values below the largest Z_PK occur (InsideStoreFormat §2).
        package let maximum: Int64

        package init(number: Int64, name: String, parent: Int64, maximum: Int64) {
            (self.number, self.name, self.parent, self.maximum) = (number, name, parent, maximum)
        }
    }

    /// In the order of the schema table.
    package let objects: [Object]
    /// Ordinary tables by lower-cased name.
    package let tables: [String: Table]
    /// In Z_ENT order, history's rows included.
    package let primaryKeys: [PrimaryKeyRow]
    /// `PRAGMA schema_version`.
    package let schemaVersion: Int64

    package init(objects: [Object], tables: [Table], primaryKeys: [PrimaryKeyRow], schemaVersion: Int64) {
        self.objects = objects
        self.tables = Dictionary(tables.map { ($0.name.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
        self.primaryKeys = primaryKeys
        self.schemaVersion = schemaVersion
    }

    /// The ordinary table of this name, without regard to case.
    package func table(_ name: String) -> Table? { tables[name.lowercased()] }

    /// Nothing was added or rebuilt since the store was made: the version counts the statements that made it
    /// (InsideStoreFormat §10).
    package var isFresh: Bool { schemaVersion == Int64(objects.count { $0.sql != nil }) }

    /// The existing history tables; nil if the store has none (InsideStoreFormat §11).
    package var history: HistoryLayout? {
        guard let change = table(HistoryLayout.Entity.change.table),
            HistoryLayout.changeColumns.allSatisfy({ change.position(of: $0) != nil })
        else { return nil }
        let transaction = table(HistoryLayout.Entity.transaction.table)
        return HistoryLayout(
            tombstones: change.columns.count {
                SchemaNames.clashNumber(of: $0.name, base: "ZTOMBSTONE") != nil || $0.name.uppercased() == "ZTOMBSTONE0"
            },
            hasStrings: transaction?.position(of: "ZAUTHORTS") != nil)
    }
}
