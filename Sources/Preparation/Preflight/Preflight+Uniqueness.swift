import CausewayModel
import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// Duplicates under the destination's uniqueness constraints. SQLite groups the rows, in temporary files if they don't
/// fit into its cache: one scan with a sort for each constraint that no unique index of the source guarantees.
extension Preflight {
    func uniqueness(_ breaches: [Breach]) throws -> Findings {
        var findings = Findings()
        var asked: Set<Constraint> = []
        let leftOut = breaches.filter(\.isLeftOut).map(\.rows) + (try misfits())
        for (index, origins) in RowOrigin.all(steps).enumerated() {
            let step = steps[index]
            for name in step.layout.entities {
                for properties in step.layout.model.entities[name]?.uniquenessConstraints ?? [] {
                    for constraint in constraints(properties, of: name, step, origins)
                    where asked.insert(constraint).inserted {
                        if let columns = constraint.plainColumns, try isUnique(columns, in: constraint.table) {
                            continue
                        }
                        let place = "\(step.versions.last ?? ""): \(name)"
                        let subject = "\(place): \(properties.joined(separator: " and ")) must be unique"
                        try ask(constraint, subject, of: index, without: leftOut, &findings)
                    }
                }
            }
        }
        return findings
    }

    /// By table of the first store; none if SQL can't express the values, or if they are NULL, which clashes with
    /// nothing.
    private func constraints(
        _ properties: [String], of entity: String, _ step: StepPlan, _ origins: [RowOrigin]
    ) -> [Constraint] {
        let columns = properties.compactMap { step.layout.column(of: $0, in: entity)?.name }
        guard !columns.isEmpty, columns.count == properties.count, let table = step.layout.table(of: entity) else {
            return []
        }
        var result: [String: Constraint] = [:]
        for origin in origins where origin.newTable == table.name {
            let values = columns.map(origin.value)
            if values.contains("NULL") { continue }
            // Duplicates that SQL can't find here, SQLite reports when it makes the index.
            guard !values.contains(nil) else { return [] }
            result[origin.table, default: Constraint(table: origin.table, values: [:])].values[origin.number] =
                values.compactMap(\.self)
        }
        return result.values.sorted { $0.table < $1.table }
    }

    /// `rows` are what the steps leave out; handlers of earlier steps may change those that stay.
    private func ask(
        _ constraint: Constraint, _ subject: String, of index: Int, without rows: [LeftOutRows],
        _ findings: inout Findings
    ) throws {
        // Rows that later steps leave out are still there in this one.
        let gone = rows.filter { $0.step <= index && $0.table == constraint.table }
        guard let found = try duplicates(constraint, without: gone, subject, &findings) else { return }
        let deciders = deciders[..<index].flatMap(\.self)
        guard !deciders.isEmpty else {
            return findings.refuse(
                "\(subject), but \(found)",
                remedy: """
                    take the uniqueness constraint out of the model, or change or delete the duplicates in a copy of the \
                    store
                    """)
        }
        findings.notices.append(
            """
            \(subject), and \(found): whether they still do then depends on \(deciders.joined(separator: " and ")); the \
            step \(steps[index].versions.joined(separator: " → ")) checks it when it begins
            """)
    }

    /// Duplicates that are there once `rows` are left out; a notice where only some of these may be.
    private func duplicates(
        _ constraint: Constraint, without rows: [LeftOutRows], _ subject: String, _ findings: inout Findings
    ) throws -> String? {
        let leftOut = LeftOutRows.merged(rows)
        let all = try duplicates(constraint, without: leftOut.map { $0.holds($0.condition.surely) })
        guard let found = all, leftOut.contains(where: { !$0.condition.isCertain }) else { return all }
        let sure = try duplicates(constraint, without: leftOut.map { $0.holds($0.condition.perhaps) })
        if sure == nil {
            findings.notices.append(
                """
                \(subject), and \(found), unless they are left out before: which rows go for their links is known only \
                then, as links to rows that are left out end; where such rows are left, the run ends there
                """)
        }
        return sure
    }

    /// `2 rows of table ZTAG share theirs with another (p1 and p2)`; nil where there are none.
    private func duplicates(_ constraint: Constraint, without leftOut: [String]) throws -> String? {
        let numbers = constraint.values.keys.sorted()
        let list = "(\(numbers.map(String.init).joined(separator: ", ")))"
        let keys = constraint.expressions
        let conditions = ["t.Z_ENT IN \(list)"] + keys.map { "\($0) IS NOT NULL" } + leftOut.map { "\($0) IS NOT TRUE" }
        let rows = "\(try SQLIdentifier(constraint.table)) AS t WHERE \(BalancedSQL.joined(conditions, by: "AND"))"
        let values = keys.joined(separator: ", ")
        var statement = try source.connection.prepare(
            """
            SELECT count(*), sum(n) FROM (SELECT count(*) AS n FROM \(rows) GROUP BY \(values) HAVING count(*) > 1)
            """)
        guard try statement.step(), statement.int64(at: 0) > 0 else { return nil }
        let (groups, count) = (Int(clamping: statement.int64(at: 0)), Int(clamping: statement.int64(at: 1)))
        // Only where something is refused: the first keys of the first groups.
        var members = try source.connection.prepare(
            """
            SELECT k, g, c FROM (SELECT t.Z_PK AS k, min(t.Z_PK) OVER w AS g, count(*) OVER w AS c, \
            row_number() OVER (PARTITION BY \(values) ORDER BY t.Z_PK) AS n FROM \(rows) \
            WINDOW w AS (PARTITION BY \(values))) WHERE c > 1 AND n <= \(Self.namedMembers) ORDER BY g, k \
            LIMIT \(Self.namedRows * Self.namedMembers)
            """)
        var named: [(first: Int64, size: Int, keys: [Int64])] = []
        while try members.step() {
            let (key, first) = (members.int64(at: 0), members.int64(at: 1))
            if named.last?.first != first {
                guard named.count < Self.namedRows else { break }
                named.append((first, Int(clamping: members.int64(at: 2)), []))
            }
            named[named.count - 1].keys.append(key)
        }
        let texts = named.map { Self.list($0.keys, of: $0.size) } + (groups > named.count ? ["…"] : [])
        return "\(count) rows of table \(constraint.table) share theirs with another (\(texts.joined(separator: "; ")))"
    }

    /// Keys of a group that a violation names.
    private static let namedMembers = 5

    /// `p1, p2 and p3`, or `p1, p2, p3, p4, p5 and 7 more`.
    private static func list(_ keys: [Int64], of size: Int) -> String {
        var words = keys.map { "p\($0)" }
        if size > keys.count { words.append("\(size - keys.count) more") }
        return words.dropLast().joined(separator: ", ") + " and " + (words.last ?? "")
    }

    /// Links that a join table without a key has several times: the new one's key allows each once. Reads each such
    /// table once, with a sort.
    func repeatedLinks() throws -> Findings {
        var findings = Findings()
        for pass in step.passes where pass.kind == .links {
            guard let join = step.source.joinTables.first(where: { $0.name == pass.sourceTable }),
                case .column(let near)? = pass.shape.cells.first,
                case .column(let far)? = pass.shape.cells.dropFirst().first,
                try !isUnique(["t.\(near)", "t.\(far)"], in: join.name)
            else { continue }
            var statement = try source.connection.prepare(
                """
                SELECT t.\(near), t.\(far), count(*) FROM \(pass.shape.table) AS t NOT INDEXED \
                WHERE t.\(near) IS NOT NULL AND t.\(far) IS NOT NULL GROUP BY 1, 2 HAVING count(*) > 1
                """)
            var (links, named) = (0, [String]())
            while try statement.step() {
                links += 1
                guard named.count < Self.namedRows else { continue }
                named.append("p\(statement.int64(at: 0)) to p\(statement.int64(at: 1))")
            }
            guard links > 0 else { continue }
            findings.refuse(
                """
                \(join.owner).\(join.relationship): the join table \(join.name) has no key, and \
                \(links == 1 ? "1 link is" : "\(links) links are") in it several times \
                (\(named.joined(separator: ", "))\(links > named.count ? ", …" : ""))
                """,
                remedy: "delete the repeated rows in a copy of the store")
        }
        return findings
    }

    /// Whether a unique index over some of the columns, written `t."NAME"`, keeps rows from sharing them.
    private func isUnique(_ columns: [String], in table: String) throws(SQLiteError) -> Bool {
        // seq, name, unique, origin, partial
        var list = try source.connection.prepare("PRAGMA index_list(\(try SQLIdentifier(table)))")
        while try list.step() {
            guard let index = try list.string(at: 1), list.int64(at: 2) == 1, list.int64(at: 4) == 0 else { continue }
            // seqno, cid, name, desc, coll, key
            var parts = try source.connection.prepare("PRAGMA index_xinfo(\(try SQLIdentifier(index)))")
            var isCovered = true
            while try parts.step() {
                guard parts.int64(at: 5) == 1 else { continue }
                let name = try parts.string(at: 2).map { name throws(SQLiteError) in "t.\(try SQLIdentifier(name))" }
                let collation = try parts.string(at: 4)
                isCovered = isCovered && name.map(columns.contains) == true && collation == "BINARY"
            }
            if isCovered { return true }
        }
        return false
    }
}

/// A constraint on the first store's rows.
private struct Constraint: Hashable {
    var table: String
    /// Z_ENT of the rows that it concerns, with the values of its columns.
    var values: [Int: [String]]

    /// Columns that hold the values as they are, for all rows.
    var plainColumns: [String]? {
        guard let first = values.values.first, values.values.allSatisfy({ $0 == first }),
            first.allSatisfy({ $0.hasPrefix("t.") })
        else { return nil }
        return first
    }

    /// A term for each column, over rows `t`.
    var expressions: [String] {
        if let plainColumns { return plainColumns }
        let sorted = values.sorted { $0.key < $1.key }
        return (sorted.first?.value ?? []).indices.map { place in
            "CASE t.Z_ENT " + sorted.map { "WHEN \($0.key) THEN \($0.value[place])" }.joined(separator: " ") + " END"
        }
    }
}
