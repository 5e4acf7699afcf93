import CausewayObjects
import CausewayPlanning
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat

/// The records of a batch's new rows, by table, as far as workers could make them.
struct FormedRows: Sendable {
    struct Table: Sendable {
        /// In the order in which the rows were made; rowids mean nothing before the rows have their keys.
        let records = RowBatch()
        /// Whether all of the table's new rows are here.
        fileprivate(set) var isWhole = false
        var findings = RecordInspection.Findings()
    }

    fileprivate(set) var tables: [Table] = []

    /// Keeps the memory for the next batch.
    mutating func removeAll(keepingCapacity limit: Int) {
        for table in tables.indices {
            tables[table].isWhole = false
            tables[table].records.removeAll(keepingCapacity: limit)
            tables[table].findings.removeAll()
        }
    }
}

/// Makes records of the rows that a worker's hooks have made, so that the one writer only gives keys and packs.
///
/// A row needs the writer where a cell of it needs a key that isn't given yet, or a place in an ordered relationship.
final class RowForming {
    private struct Table {
        let columns: [PolicyRecordFormer.Column]
        /// Of its records.
        let view: RowView
        var inspection: RecordInspection
        let hasPlaces: Bool
    }

    /// What all workers know of the tables: read before they begin, as the writer changes it.
    struct Layout: Sendable {
        fileprivate struct Table: Sendable {
            let columns: [PolicyRecordFormer.Column]
            let questions: [RowQuestion]
            let hasPlaces: Bool
        }

        fileprivate let tables: [Table]

        /// - Parameters:
        ///   - pages: that get the rows.
        ///   - map: of the new store.
        init(_ pages: RowPages, _ map: StorageMap) {
            tables = map.layout.tables.indices.map { table in
                Table(
                    columns: pages.columns(ofTable: table), questions: pages.inspection.questions(ofTable: table),
                    hasPlaces: map.layout.tables[table].columns.contains { $0.role.isPlace })
            }
        }
    }

    private let former = PolicyRecordFormer()
    private var tables: [Table]

    /// - Parameters:
    ///   - layout: of the tables.
    ///   - input: the source rows whose cells are carried.
    init(_ layout: Layout, from input: MappedRowForm.Input) {
        former.carry(from: input)
        tables = layout.tables.map { table in
            Table(
                columns: table.columns, view: RowView(capacity: table.columns.count),
                inspection: RecordInspection(table.questions, table.columns), hasPlaces: table.hasPlaces)
        }
    }

    /// Makes the records of all tables whose rows allow it.
    func form(_ rows: PendingRows, into formed: inout FormedRows) {
        while formed.tables.count < tables.count { formed.tables.append(FormedRows.Table()) }
        for table in tables.indices where rows.tables[table].hasChanges {
            formed.tables[table].isWhole = form(table, rows, into: &formed.tables[table])
        }
    }

    private func form(_ table: Int, _ rows: PendingRows, into formed: inout FormedRows.Table) -> Bool {
        guard !tables[table].hasPlaces else { return false }
        let inspects = !tables[table].inspection.isEmpty
        tables[table].inspection.begin(&formed.findings)
        // Held once: the arrays of a table would be retained for every row.
        let (content, columns, view) = (rows.tables[table], tables[table].columns, tables[table].view)
        for row in 0..<content.count where content.isNew(row) {
            guard rows.needsNoKeys(content, row) else { return false }
            do {
                try former.form(row, of: content, rows, columns, into: formed.records)
                guard inspects else { continue }
                try view.load(formed.records.count - 1, of: formed.records)
                tables[table].inspection.inspect(view, &formed.findings)
            } catch {
                // The writer says what is wrong.
                return false
            }
        }
        return true
    }
}
