import CausewayModel
import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// Ends the links to quarantined rows, after the rows and before the indexes: keys become NULL, with the target's Z_ENT
/// and the place in its order; join rows are deleted.
///
/// Delete rules don't apply, and no other row is removed: a row that loses a mandatory object stays, and is counted.
/// Mandatory to-manys that lose members aren't counted. If a relationship becomes a to-one and keeps the first of
/// several links, no other link replaces a first one that ends here. Carried derived values aren't recomputed.
///
/// Cost: a scan of each table for every relationship into a table that lost rows. Each relationship is a station.
struct QuarantinedLinks {
    let step: StepPlan
    let state: StepState
    let staging: StagingConnection
    let ledger: StepLedger
    let cancellation: Cancellation
    let events: (EngineEvent) -> Void

    private static let what = "links to quarantined rows"
    private static let list = "causeway_quarantined"

    /// A relationship whose links are in a column.
    private struct KeyColumn {
        let table: EntityTable
        /// The key's column first, then the columns that belong to it.
        let columns: [String]
        /// Number of the list with the keys.
        let place: Int
        let title: String
        let isMandatory: Bool
    }

    /// A join table's end whose rows may be quarantined.
    private struct JoinEnd {
        let column: String
        let place: Int
    }

    func end() throws(EngineError) {
        guard !state.quarantine.isEmpty else { return }
        try staging.interruptibly(endAll)
    }

    private func endAll() throws(EngineError) {
        try ending {
            let places = try fillList(on: staging.connection)
            var number = 0
            for column in keyColumns(places) {
                try ledger.once("quarantine links \(number)") { () throws(EngineError) in
                    try ending { try end(column, on: staging.connection) }
                }
                number += 1
            }
            for join in step.layout.joinTables {
                let ends = ends(of: join, places)
                guard !ends.isEmpty else { continue }
                try ledger.once("quarantine links \(number)") { () throws(EngineError) in
                    try ending { try end(ends, of: join, on: staging.connection) }
                }
                number += 1
            }
            try staging.connection.execute("DROP TABLE temp.\(Self.list)")
        }
    }

    /// Runs a station's body and turns its errors into the engine's.
    private func ending(_ body: () throws -> Void) throws(EngineError) {
        do {
            try cancellation.check()
            try body()
        } catch let error as SQLiteError {
            try cancellation.check()
            throw EngineError(writing: error, during: Self.what)
        } catch {
            throw EngineError(error, during: Self.what)
        }
    }

    /// Puts the keys into a temporary table: a file of SQLite's own, apart from the store.
    ///
    /// - Returns: the number of each destination table's list, by name.
    private func fillList(on connection: borrowing Connection) throws -> [String: Int] {
        try connection.execute(
            """
            CREATE TEMP TABLE \(Self.list) (place INTEGER, key INTEGER, PRIMARY KEY (place, key)) WITHOUT ROWID
            """)
        var places: [String: Int] = [:]
        var insert = try connection.prepare("INSERT OR IGNORE INTO temp.\(Self.list) VALUES (?, ?)")
        for pass in step.passes where pass.kind == .entity {
            let keys = state.quarantine.keys.keys(of: pass.id)
            if keys.isEmpty { continue }
            // Rows keep their keys, and no two source tables share a destination's: a key that was quarantined in a
            // source table is missing in every table which that one fills.
            for other in step.passes where other.kind == .entity && other.sourceTable == pass.sourceTable {
                places[other.destinationTable] = places[other.destinationTable] ?? places.count
            }
            let own = Set(
                step.passes.filter { $0.kind == .entity && $0.sourceTable == pass.sourceTable }
                    .compactMap { places[$0.destinationTable] }
            ).sorted()
            for place in own {
                try keys.forEach { key throws(EngineError) in
                    try EngineError.writing(Self.what) {
                        try insert.bind(Int64(place), at: 1)
                        try insert.bind(key, at: 2)
                        try insert.run()
                    }
                }
            }
        }
        return places
    }

    private func keyColumns(_ places: [String: Int]) -> [KeyColumn] {
        step.layout.tables.flatMap { table in
            step.layout.keyColumns(of: table).compactMap { key in
                step.layout.table(of: key.target).flatMap { places[$0.name] }.map {
                    KeyColumn(
                        table: table, columns: key.columns, place: $0, title: key.title, isMandatory: key.isMandatory)
                }
            }
        }
    }

    private func ends(of join: JoinTable, _ places: [String: Int]) -> [JoinEnd] {
        [(join.owner, join.ownerColumn), (join.inverseOwner, join.destinationColumn)].compactMap { entity, column in
            step.layout.table(of: entity).flatMap { places[$0.name] }.map { JoinEnd(column: column, place: $0) }
        }
    }

    private static func isListed(_ column: SQLIdentifier, _ place: Int) -> String {
        "\(column) IN (SELECT key FROM temp.\(list) WHERE place = \(place))"
    }

    // MARK: - Ending

    private func end(_ column: KeyColumn, on connection: borrowing Connection) throws {
        let table = try SQLIdentifier(column.table.name)
        let names = try column.columns.map { try SQLIdentifier($0) }
        let condition = Self.isListed(names[0], column.place)
        var count = state.passes.first { $0.pass.kind == .entity && $0.pass.destinationTable == column.table.name }
        var select = try connection.prepare(
            "SELECT Z_PK, Z_ENT, \(names.map(\.quoted).joined(separator: ", ")) FROM \(table) WHERE \(condition)")
        var rows = 0
        while try select.step() {
            try cancellation.check(afterRow: &rows)
            let number = Int(clamping: select.int64(at: 1)) - 1
            guard let shape = count?.digest.shape, shape.key != nil, step.layout.entities.indices.contains(number),
                let group = shape.groups.first(where: { $0.entity == step.layout.entities[number] })
            else { continue }
            let row = CellHash.row(key: select.int64(at: 0))
            for (name, place) in shape.columns(of: group) {
                guard let name, let index = column.columns.firstIndex(of: name),
                    let content = StatementContent.content(select, index + 2, isUTF8: true)
                else { continue }
                count?.ended.end(CellHash.lanes(of: content, in: row), at: place)
            }
        }
        guard rows > 0 else { return }
        select.reset()
        let assignments = names.map { "\($0) = NULL" }.joined(separator: ", ")
        try connection.execute("UPDATE \(table) SET \(assignments) WHERE \(condition)")
        if let count { state.set(count) }
        state.quarantine.endedLinks += rows
        if column.isMandatory { state.quarantine.bereftRows += rows }
        warn(column.title, rows, isMandatory: column.isMandatory)
    }

    private func end(_ ends: [JoinEnd], of join: JoinTable, on connection: borrowing Connection) throws {
        let table = try SQLIdentifier(join.name)
        let condition = try ends.map { Self.isListed(try SQLIdentifier($0.column), $0.place) }
            .joined(separator: " OR ")
        guard
            var count = state.passes.first(where: { $0.pass.kind == .links && $0.pass.destinationTable == join.name }),
            let group = count.digest.shape.groups.first
        else { return }
        let names = try group.cells.map { try SQLIdentifier($0.column).quoted }
        var select = try connection.prepare("SELECT \(names.joined(separator: ", ")) FROM \(table) WHERE \(condition)")
        var rows = 0
        while try select.step() {
            try cancellation.check(afterRow: &rows)
            var lanes = CellHash.start
            for place in names.indices {
                let content = StatementContent.content(select, place, isUTF8: true) ?? CellHash.null
                lanes = CellHash.lanes(of: content, in: lanes)
            }
            count.ended.end(row: lanes, of: group)
        }
        guard rows > 0 else { return }
        select.reset()
        try connection.execute("DELETE FROM \(table) WHERE \(condition)")
        state.set(count)
        state.quarantine.endedLinks += rows
        warn("\(join.owner).\(join.relationship)", rows, isMandatory: false)
    }

    private func warn(_ title: String, _ rows: Int, isMandatory: Bool) {
        let rest = isMandatory ? "; the relationship is mandatory, and these rows have no object now" : ""
        events(
            .warning(
                "\(step.versions.joined(separator: " → ")): \(title): \(rows) links to quarantined rows ended\(rest)"))
    }
}

extension StoreLayout {
    /// The columns of a table that hold keys, each with those that belong to it: the target's Z_ENT, and the place in
    /// its order. `target` is the entity to which it leads.
    func keyColumns(of table: EntityTable) -> [(columns: [String], target: String, title: String, isMandatory: Bool)] {
        let names = Dictionary(table.columns.map { ($0.role, $0.name) }, uniquingKeysWith: { first, _ in first })
        return table.columns.compactMap { column in
            switch column.role {
            case .toOne(let entity, let name):
                guard let relationship = model.relationship(name, of: entity)?.relationship else { return nil }
                let besides: [ColumnRole] = [
                    .toOneEntity(entity: entity, relationship: name), .orderKey(entity: entity, relationship: name),
                ]
                return (
                    [column.name] + besides.compactMap { names[$0] }, relationship.destination, "\(entity).\(name)",
                    !relationship.isOptional
                )
            case .virtualToOne(let owner, let name):
                let besides = names[.virtualOrderKey(owner: owner, relationship: name)].map { [$0] } ?? []
                return ([column.name] + besides, owner, "\(owner).\(name)", false)
            default: return nil
            }
        }
    }
}
