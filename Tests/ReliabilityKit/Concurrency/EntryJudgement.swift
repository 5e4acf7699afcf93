internal import CausewayPlatform
package import CausewaySQLite

/// What a store of entries holds after a round, read by plain SQL.
package struct EntryJudgement {
    /// The markers that the store holds.
    package private(set) var markers: Set<String> = []
    package private(set) var rows = 0
    /// What is wrong with the store itself.
    package private(set) var faults: [String] = []

    package init(store: String) throws(SQLiteError) {
        let connection = try Connection(path: store, mode: .readWrite, hardening: .own)
        if let fault = try SoundnessCheck.fault(connection) { faults.append(fault) }
        if try Self.number("SELECT count(*) FROM pragma_table_info('ZENTRY') WHERE name = 'ZNOTE'", connection) == 0 {
            faults.append("the store isn't of version v2")
        }
        var repeated = 0
        var statement = try connection.prepare("SELECT ZMARKER FROM ZENTRY")
        while try statement.step() {
            rows += 1
            guard let marker = try statement.string(at: 0) else { continue }
            if !markers.insert(marker).inserted, marker.hasPrefix("w") { repeated += 1 }
        }
        if repeated > 0 { faults.append("\(repeated) rows are there twice") }
        let highest = try Self.number("SELECT coalesce(max(Z_PK), 0) FROM ZENTRY", connection)
        let counter = try Self.number("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Entry'", connection)
        if counter < highest { faults.append("Z_MAX is \(counter), but there is a row \(highest)") }
    }

    private static func number(_ sql: String, _ connection: borrowing Connection) throws(SQLiteError) -> Int64 {
        var statement = try connection.prepare(sql)
        guard try statement.step() else { return 0 }
        return statement.int64(at: 0)
    }
}
