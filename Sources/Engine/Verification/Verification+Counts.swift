import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewayPreparation
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// Compares the number of rows and links with the expected number.
extension Verification {
    /// Rows in each destination table against what was read for it.
    func tableCounts(_ result: borrowing Connection, _ outcome: inout Outcome) throws(SQLiteError) {
        for (table, expected) in passCounts.sorted(by: { $0.key < $1.key }) {
            let found = try result.count("SELECT count(*) FROM \(try SQLIdentifier(table))")
            if found != expected {
                outcome.add("\(table): \(expected) rows were written, \(found) are there", table: table)
            }
        }
        let left = tablesLeftToPages
        for pass in step.keptPasses where !left.contains(pass.destinationTable) {
            try keptCount(of: pass, result, &outcome)
        }
        readCounts(&outcome)
    }

    /// Rows that were read in the new store's pages against those that were copied.
    private func readCounts(_ outcome: inout Outcome) {
        guard let found = kept?.reading?.rows, let copied = kept?.rows else { return }
        let tables = tablesLeftToPages.filter { found.tables[$0] != nil }
        for table in tables.sorted() where found.tables[table] != copied.tables[table] {
            outcome.add(
                "\(table): \(copied.tables[table] ?? 0) rows were copied, \(found.tables[table] ?? 0) are there",
                table: table)
        }
        for table in step.layout.tables where tables.contains(table.name) {
            guard let numbers = step.layout.numbers(ofTree: table.rootEntity) else { continue }
            for number in numbers where (found.entities[number] ?? 0) != (copied.entities[number] ?? 0) {
                outcome.add(
                    """
                    \(table.name): of Z_ENT \(number) \(copied.entities[number] ?? 0) rows were copied, \
                    \(found.entities[number] ?? 0) are there
                    """, table: table.name)
            }
        }
    }

    /// Rows of a kept table against the source's.
    func keptCount(of pass: RowPass, _ result: borrowing Connection, _ outcome: inout Outcome) throws(SQLiteError) {
        let table = pass.destinationTable
        let found = try result.count("SELECT count(*) FROM \(try SQLIdentifier(table))")
        let expected = try sourceCount(of: pass, expecting: found)
        if found != expected {
            outcome.add("\(table): \(expected) rows in the source, \(found) are there", table: table)
        }
    }

    /// Rows that the source has for a pass: where its indexes say something else than what is expected, as its table
    /// says.
    private func sourceCount(of pass: RowPass, expecting expected: Int) throws(SQLiteError) -> Int {
        let count = try source.connection.count(pass.shape.countSQL)
        return count == expected ? count : try source.connection.count(pass.shape.ownCountSQL)
    }

    /// Rows that passes have written, by table; without join tables that policies write to as well.
    private var passCounts: [String: Int] {
        var result: [String: Int] = [:]
        for count in written.passes where !(written.hasObjects && count.pass.kind == .links) {
            result[count.pass.destinationTable, default: 0] += count.remaining
        }
        return result
    }

    /// The handlers must find the rows that were written.
    func expectedBeforeHandlers(_ counts: StoreCounts, _ outcome: inout Outcome) throws(SQLiteError) {
        for (table, expected) in passCounts.sorted(by: { $0.key < $1.key }) {
            guard let found = counts.tables[table], found != expected else { continue }
            outcome.add("\(table): \(expected) rows were written, the handlers found \(found)")
        }
        for pass in step.keptPasses {
            guard let found = counts.tables[pass.destinationTable] else { continue }
            let expected = try sourceCount(of: pass, expecting: found)
            guard found != expected else { continue }
            outcome.add("\(pass.destinationTable): \(expected) rows in the source, the handlers found \(found)")
        }
        for (entity, expected) in written.entities.sorted(by: { $0.key < $1.key }) {
            let found = step.layout.entityNumbers[entity].flatMap { counts.entities[$0] } ?? 0
            if found != expected {
                outcome.add("\(entity): \(expected) rows were made, the handlers found \(found)")
            }
        }
    }

    /// Rows of the source against what was read.
    func sourceCounts(_ outcome: inout Outcome) throws(SQLiteError) {
        for count in written.passes where count.pass.elsewhere.isEmpty {
            let moved = count.written + count.dropped + count.quarantined
            let read = try sourceCount(of: count.pass, expecting: moved)
            if read != moved {
                outcome.add(
                    """
                    \(count.pass.title): \(read) rows in the source, \(count.written) written, \(count.dropped) dropped, \
                    \(count.quarantined) quarantined
                    """, table: count.pass.destinationTable)
            }
        }
    }

    /// Rows of each entity in the result, against what mapping models have made and the passes have carried; at `full`
    /// the latter are counted in the source once more.
    func entityCounts(_ result: borrowing Connection, _ outcome: inout Outcome) throws(SQLiteError) {
        var after: [Int: Int] = [:]
        for table in countedTables {
            if let counts = outcome.counts[table.name] {
                after.merge(counts) { $0 + $1 }
            } else {
                after.merge(try Self.entityCounts([table], of: step.layout, in: result)) { $0 + $1 }
            }
        }
        var expected = try expectedEntities(byIndex: true)
        // An index of the source may be stale.
        if !differences(expected, after).isEmpty { expected = try expectedEntities(byIndex: false) }
        for (entity, rows, found) in differences(expected, after) {
            outcome.add(
                "\(entity): \(rows) rows in the source, \(found) in the result",
                table: step.layout.table(of: entity)?.name)
        }
        let unknown = after.keys.filter { $0 < 1 || $0 > step.layout.entities.count }
        if !unknown.isEmpty {
            outcome.add("rows of entities that the model doesn't have: Z_ENT \(unknown.sorted())")
        }
    }

    /// Tables whose rows are counted in the new store.
    var countedTables: [EntityTable] {
        let left = tablesLeftToPages
        return step.layout.tables.filter { !left.contains($0.name) && !isReread($0.name) }
    }

    private func differences(
        _ expected: [String: Int], _ numbers: [Int: Int]
    ) -> [(entity: String, expected: Int, found: Int)] {
        expected.sorted { $0.key < $1.key }.compactMap { entity, rows in
            let found = step.layout.entityNumbers[entity].flatMap { numbers[$0] } ?? 0
            return rows == found ? nil : (entity, rows, found)
        }
    }

    private func expectedEntities(byIndex: Bool) throws(SQLiteError) -> [String: Int] {
        var expected = written.entities
        if !written.hasObjects {
            let left = tablesLeftToPages
            let kept = Set(step.keptPasses.filter { !left.contains($0.destinationTable) }.map(\.sourceTable))
            let carried = level == .full ? [:] : carriedRows
            let counted = try sourceRows(
                of: step.source.tables.filter { level == .full || kept.contains($0.name) }, byIndex: byIndex)
            for rows in [carried, counted] { expected.merge(rows) { $0 + $1 } }
        }
        return expected
    }

    /// Whether a table's records were read again when they were there: then its rows are those that were counted when
    /// they were packed, and nothing writes to it later.
    private func isReread(_ table: String) -> Bool {
        level == .quick && written.stage == nil && !written.hasObjects && written.reread.contains(table)
    }

    private var carriedRows: [String: Int] {
        var result = Dictionary(step.layout.entities.map { ($0, 0) }, uniquingKeysWith: { first, _ in first })
        for count in written.passes where count.pass.kind == .entity && !isReread(count.pass.destinationTable) {
            for group in count.digest.shape.summed {
                result[group.entity, default: 0] += Int(clamping: count.digest.destination[group.offset])
            }
        }
        return result
    }

    private func sourceRows(of tables: [EntityTable], byIndex: Bool) throws(SQLiteError) -> [String: Int] {
        var before: [Int: Int] = [:]
        for table in tables {
            // A row with the Z_ENT of another table's entity belongs to no entity: it was quarantined, or there would
            // be no new store.
            for (number, rows) in try Self.entityCounts(
                [table], of: step.source, in: source.connection, byIndex: byIndex)
            where step.source.entities.indices.contains(number - 1)
                && step.sourceModel.root(of: step.source.entities[number - 1]) == table.rootEntity
            {
                before[number] = rows
            }
        }
        var leftOut: [Int: Int] = [:]
        for count in written.passes where count.pass.kind == .entity {
            leftOut.merge(written.quarantined.counts(of: count.pass.id)) { $0 + $1 }
        }
        var result: [String: Int] = [:]
        for mapping in step.mapping.entityMappings {
            guard let to = mapping.destination else { continue }
            let number = mapping.source.flatMap { step.sourceNumbers[$0] }
            // Of entities whose table isn't counted, nothing is taken off either.
            result[to, default: 0] +=
                number.flatMap { number in before[number].map { $0 - (leftOut[number] ?? 0) } } ?? 0
        }
        return result
    }

    /// Links in each column that an index counts without its table, compared with the links that passes have carried.
    func linkCounts(_ result: borrowing Connection, _ outcome: inout Outcome) throws(SQLiteError) {
        guard !written.hasObjects else { return }
        let indexes = step.statements.indexStatements.compactMap(\.index)
        for table in step.layout.tables {
            let counts = written.passes.filter { $0.pass.kind == .entity && $0.pass.destinationTable == table.name }
            guard !counts.isEmpty else { continue }
            for column in table.columns {
                guard column.role.isKeyOfToOne,
                    indexes.contains(where: { $0.table == table.name && $0.isOf(column.name) })
                else { continue }
                let expected = counts.reduce(0) { $0 + $1.ended.applied(to: $1.digest).values(of: column.name) }
                let found = try result.count(
                    "SELECT count(\(try SQLIdentifier(column.name))) FROM \(try SQLIdentifier(table.name))")
                if found != expected {
                    outcome.add(
                        "\(table.name).\(column.name): \(expected) links were carried, \(found) are there",
                        table: table.name)
                }
            }
        }
    }

    /// Entities of a table whose rows are counted one by one; more are grouped.
    private static let mostCounted = 8

    static func entityCounts(
        _ tables: [EntityTable], of layout: StoreLayout, in connection: borrowing Connection, byIndex: Bool = true
    ) throws(SQLiteError) -> [Int: Int] {
        var result: [Int: Int] = [:]
        for table in tables {
            let rows = "\(try SQLIdentifier(table.name))\(byIndex ? "" : " NOT INDEXED")"
            if let numbers = layout.numbers(ofTree: table.rootEntity), numbers.count <= mostCounted,
                let counts = try counts(of: numbers, in: rows, connection)
            {
                result.merge(counts) { $0 + $1 }
                continue
            }
            var statement = try connection.prepare("SELECT Z_ENT, count(*) FROM \(rows) GROUP BY Z_ENT")
            while try statement.step() {
                result[Int(statement.int64(at: 0)), default: 0] += Int(statement.int64(at: 1))
            }
        }
        return result
    }

    /// Without the sort that groups cost where no index has them.
    ///
    /// - Returns: nil where other numbers are among the rows.
    private static func counts(
        of numbers: ClosedRange<Int>, in rows: String, _ connection: borrowing Connection
    ) throws(SQLiteError) -> [Int: Int]? {
        let sums = numbers.map { ", count(*) FILTER (WHERE Z_ENT = \($0))" }.joined()
        var statement = try connection.prepare("SELECT count(*)\(sums) FROM \(rows)")
        guard try statement.step() else { return nil }
        var result: [Int: Int] = [:]
        for (place, number) in numbers.enumerated() {
            let count = Int(statement.int64(at: place + 1))
            if count > 0 { result[number] = count }
        }
        return result.values.reduce(0, +) == Int(statement.int64(at: 0)) ? result : nil
    }
}

extension PassDigest {
    /// Cells of a destination column that aren't NULL, over all groups; 0 where nothing is carried into it.
    func values(of column: String) -> Int {
        shape.summed.reduce(0) { sum, group in
            let place = shape.columns(of: group).first { $0.name == column }?.place
            return sum + (place.map { Int(clamping: destination[$0 + 2]) } ?? 0)
        }
    }
}
