import CausewayModel
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// The tables of CloudKit mirroring: entity numbers that name no entity, and keys above Z_MAX. That a row's object
/// isn't there is no trouble: it may wait for its deletion in the cloud.
struct MirrorExamination {
    let examination: StoreExamination
    let layout: StoreLayout

    func run(_ report: inout StoreExamination.Report) throws(EngineError) {
        let schema = examination.store.schema
        let tables = CloudKitTables.names(in: schema).sorted().compactMap { schema.table($0) }
        for table in tables {
            for column in CloudKitTable(table).entityColumns { try numbers(table.name, column, &report) }
        }
        // Core Data's names of these tables: NSCKEvent is in ANSCKEVENT.
        let names = Dictionary(tables.map { ($0.name.uppercased(), $0.name) }, uniquingKeysWith: { first, _ in first })
        for row in schema.primaryKeys where row.number >= HistoryLayout.firstNumber {
            guard let table = names["A" + row.name.uppercased()] else { continue }
            try examination.attempt(table, &report) { report throws in
                let largest = try examination.store.connection.largestKey(of: table)
                guard row.maximum < largest else { return }
                report.findings.append(
                    StoreFinding(
                        .primaryKeys,
                        "Z_PRIMARYKEY: Z_MAX of \(row.name) is \(row.maximum), but there is a row p\(largest)"))
            }
        }
    }

    private func numbers(
        _ table: String, _ column: String, _ report: inout StoreExamination.Report
    ) throws(EngineError) {
        try examination.attempt(table, &report) { report throws in
            let found = try FoundRows(
                """
                SELECT Z_PK FROM \(try SQLIdentifier(table)) \
                WHERE \(try SQLIdentifier(column)) NOT BETWEEN 1 AND \(layout.entities.count) ORDER BY Z_PK
                """, in: examination.store.connection, examination.cancellation)
            guard found.count > 0 else { return }
            report.findings.append(
                StoreFinding(
                    .cloudKit, "\(table).\(column) names no entity of the model in \(found.described)",
                    rows: found.count, keys: found.keys))
        }
    }
}
