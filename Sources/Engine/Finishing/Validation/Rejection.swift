import CausewayModel
import CausewayPreparation
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// Removes the rejected rows from the store as a migration drops rows: it writes them to the rejects file first, then
/// deletes the rows, sets keys that point to them to NULL, and deletes their join rows.
///
/// Delete rules don't apply: cascade removes no other object, and deny keeps none. A row that loses a mandatory object
/// breaks a rule itself, and has been rejected for that.
///
/// Cost: the rows by key; for each relationship into a table that lost rows, a scan of the table that holds the keys.
struct Rejection {
    let layout: StoreLayout
    let storeUUID: String
    let rules: ValidationRules
    let file: LineFile
    let cancellation: Cancellation

    /// A value of a line: its name, its place in the SELECT's result and its spelling.
    private struct Field {
        let name: String
        let index: Int
        let form: RejectedForm
    }

    /// `affected` are the places of the tables that lose rows.
    func run(
        _ ledger: borrowing ViolationLedger, affected: Set<Int>, on connection: borrowing Connection
    ) throws(EngineError) {
        for table in affected.sorted() { try write(table, ledger, on: connection) }
        try file.sync()
        for table in affected.sorted() {
            try cancellation.check()
            try ValidationSQL.execute(
                """
                DELETE FROM \(try ValidationSQL.quoted(layout.tables[table].name)) \
                WHERE Z_PK IN (SELECT key FROM temp.causeway_rejected WHERE place = \(table))
                """, on: connection)
        }
        for table in layout.tables { try unlink(table, affected, on: connection) }
        for check in rules.joinChecks { try removeLinks(check, affected, ledger, on: connection) }
    }

    // MARK: - Lines

    private func write(
        _ table: Int, _ ledger: borrowing ViolationLedger, on connection: borrowing Connection
    ) throws(EngineError) {
        let columns = layout.tables[table].columns
        let names = try columns.map { column throws(EngineError) in "t." + (try ValidationSQL.quoted(column.name)) }
        var fields: [Int: [Field]] = [:]
        // After the five columns about the rejection.
        let places = Dictionary(zip(columns.map(\.role), 5...), uniquingKeysWith: { first, _ in first })
        var statement = try ValidationSQL.prepare(
            """
            SELECT r.number, r.rule, r.other, r.key, r.round, \(names.joined(separator: ", ")) \
            FROM temp.causeway_rejected AS r CROSS JOIN \(try ValidationSQL.quoted(layout.tables[table].name)) AS t \
            ON t.Z_PK = r.key WHERE r.place = \(table) ORDER BY r.key
            """, on: connection)
        let line = JSONLineText(sink: file)
        var rows = 0
        while try ValidationSQL.next(&statement) {
            try cancellation.check(afterRow: &rows)
            let number = Int(statement.int64(at: 0))
            try line.begin(
                ledger.violation(
                    Int(statement.int64(at: 1)), number: number, key: statement.int64(at: 3),
                    other: statement.int64(at: 2)))
            if fields[number] == nil { fields[number] = self.fields(of: ledger.entityName(number), places) }
            for (offset, field) in (fields[number] ?? []).enumerated() {
                try line.name(field.name, isFirst: offset == 0)
                if case .link(let target) = field.form, !statement.isNull(at: field.index) {
                    let entity = target ?? Int(statement.int64(at: field.index + 1))
                    try line.string(
                        ObjectURI.of(statement.int64(at: field.index), ledger.entityName(entity), in: storeUUID))
                } else {
                    try line.value(of: statement, at: field.index, as: field.form)
                }
            }
            try line.text("}}\n")
        }
    }

    /// The entity's stored properties, inherited ones first, sorted by name within each entity. To-manys aren't
    /// included: their links are stored elsewhere.
    private func fields(of entity: String, _ places: [ColumnRole: Int]) -> [Field] {
        var result: [Field] = []
        for ancestor in layout.model.lineage(of: entity).reversed() {
            var own: [Field] = []
            func add(_ attribute: Attribute, _ path: String) {
                for element in attribute.elements { add(element, "\(path).\(element.name)") }
                guard let index = places[.attribute(entity: ancestor.name, path: path)] else { return }
                let form: RejectedForm =
                    switch attribute.type {
                    case .boolean: .boolean
                    case .uuid: .uuid
                    default: attribute.allowsExternalBinaryDataStorage ? .external : .plain
                    }
                own.append(Field(name: path, index: index, form: form))
            }
            for attribute in ancestor.attributes { add(attribute, attribute.name) }
            for relationship in ancestor.relationships {
                guard let index = places[.toOne(entity: ancestor.name, relationship: relationship.name)] else {
                    continue
                }
                let entityRole = ColumnRole.toOneEntity(entity: ancestor.name, relationship: relationship.name)
                // Core Data's layout puts the two side by side.
                let isBeside = places[entityRole] == index + 1
                let number = isBeside ? nil : layout.entityNumbers[relationship.destination]
                own.append(Field(name: relationship.name, index: index, form: .link(number: number)))
            }
            result += own.sorted { $0.name < $1.name }
        }
        return result
    }

    // MARK: - Rows

    /// Keys in one table that point to rejected rows, with the target's Z_ENT and the place in its order.
    private func unlink(
        _ table: EntityTable, _ affected: Set<Int>, on connection: borrowing Connection
    ) throws(EngineError) {
        for column in layout.keyColumns(of: table) {
            let home = layout.model.root(of: column.target)
            guard let root = layout.tables.firstIndex(where: { $0.rootEntity == home }), affected.contains(root) else {
                continue
            }
            try cancellation.check()
            let names = try column.columns.map { name throws(EngineError) in try ValidationSQL.quoted(name) }
            let (key, assignments) = (names[0], names.map { "\($0) = NULL" }.joined(separator: ", "))
            try ValidationSQL.execute(
                """
                UPDATE \(try ValidationSQL.quoted(table.name)) AS t SET \(assignments) \
                WHERE t.\(key) IS NOT NULL AND \(RejectedRows.contain("t.\(key)", ofTable: root))
                """, on: connection)
        }
    }

    private func removeLinks(
        _ check: JoinCheck, _ affected: Set<Int>, _ ledger: borrowing ViolationLedger,
        on connection: borrowing Connection
    ) throws(EngineError) {
        let table = try ValidationSQL.quoted(check.table)
        var conditions: [String] = []
        var missing: [String] = []
        for end in [check.owner, check.destination] {
            let key = "j." + (try ValidationSQL.quoted(end.column))
            if affected.contains(end.table) { conditions.append(RejectedRows.contain(key, ofTable: end.table)) }
            missing.append(
                """
                NOT EXISTS (SELECT 1 FROM \(try ValidationSQL.quoted(layout.tables[end.table].name)) AS d \
                WHERE d.Z_PK = \(key) AND d.Z_ENT BETWEEN \(end.numbers.lowerBound) AND \(end.numbers.upperBound))
                """)
        }
        if ledger.strayLinks > 0 { conditions.append("(\(missing.joined(separator: " AND ")))") }
        guard !conditions.isEmpty else { return }
        try cancellation.check()
        try ValidationSQL.execute(
            "DELETE FROM \(table) AS j WHERE \(conditions.joined(separator: " OR "))", on: connection)
    }
}
