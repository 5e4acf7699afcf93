import CausewayMapping
import CausewayObjects
import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// For steps with mapping models: attributes that an entity mapping only copies, compared in source and new store.
///
/// For mappings without policy and filter that make all rows of their destination entity, as many as in the source.
/// Cells are hashed with their row's key where keys are kept, else as a multiset.
struct MappedColumns {
    let objects: ObjectStep
    /// Rows made, by destination entity.
    let written: [String: Int]
    let isUTF8: Bool
    let cancellation: Cancellation

    private struct Column {
        let name: String
        let input: Int
        let output: SQLIdentifier
    }

    private struct Sums: Equatable {
        var rows = 0
        var columns: [HashLanes]
        var values: [Int]

        init(_ count: Int) {
            columns = Array(repeating: HashLanes(first: 0, second: 0), count: count)
            values = Array(repeating: 0, count: count)
        }

        mutating func add(_ content: CellContent, _ row: HashLanes, at place: Int) {
            let lanes = CellHash.lanes(of: content, in: row)
            columns[place].first &+= lanes.first
            columns[place].second &+= lanes.second
            values[place] += 1
        }
    }

    func findings(source: borrowing Connection, result: borrowing Connection) throws -> [String] {
        var findings: [String] = []
        for plan in objects.mappings where plan.description.policyClassName == nil && plan.filter == nil {
            guard let number = plan.destinationEntity, plan.sourceEntity != nil,
                objects.mappings.filter({ $0.destinationEntity == number }).count == 1,
                let place = objects.destination.table(of: number)
            else { continue }
            let table = objects.destination.tables[place]
            let columns: [Column] = plan.attributes.compactMap { fill in
                guard case .carry(let input) = fill.origin, table.columns.indices.contains(fill.column) else {
                    return nil
                }
                return Column(name: fill.name, input: input, output: table.columns[fill.column])
            }
            guard !columns.isEmpty else { continue }
            let isKeyed = plan.keeping == .always
            let before = try sums(plan.shape.sql, columns.map(\.input), key: keyColumn(plan), isKeyed, isUTF8, source)
            // The validation rejected rows, or other code made some: then the columns can't be compared.
            let entity = objects.destination.name(of: number)
            guard before.rows == written[entity] else { continue }
            let sql = """
                SELECT "Z_PK", \(columns.map(\.output.quoted).joined(separator: ", ")) FROM \(table.name) \
                WHERE "Z_ENT" = \(number)
                """
            let after = try sums(sql, Array(1..<columns.count + 1), key: 0, isKeyed, true, result)
            if before.rows != after.rows {
                findings.append("\(entity): \(before.rows) rows in the source, \(after.rows) in the result")
            }
            for (place, column) in columns.enumerated()
            where before.columns[place] != after.columns[place] || before.values[place] != after.values[place] {
                findings.append(
                    """
                    \(entity).\(column.name): its values differ from the source's, though its mapping only copies them; \
                    where a policy of another mapping means to change them, verify with --verify quick
                    """)
            }
        }
        return findings
    }

    private func keyColumn(_ plan: EntityMappingPlan) -> Int? {
        plan.cells.indices.contains(TableStorage.primaryKey) && plan.cells[TableStorage.primaryKey] >= 0
            ? plan.cells[TableStorage.primaryKey] : nil
    }

    private func sums(
        _ sql: String, _ columns: [Int], key: Int?, _ isKeyed: Bool, _ isUTF8: Bool, _ database: borrowing Connection
    ) throws -> Sums {
        var sums = Sums(columns.count)
        var statement = try database.prepare(sql)
        while try statement.step() {
            try cancellation.check(afterRow: &sums.rows)
            let row = isKeyed ? CellHash.row(key: key.map { statement.int64(at: $0) } ?? 0) : CellHash.start
            for (place, column) in columns.enumerated() {
                guard let content = StatementContent.content(statement, column, isUTF8: isUTF8) else { continue }
                sums.add(content, row, at: place)
            }
        }
        return sums
    }
}
