import CausewayModel
import CausewayPlanning
import CausewaySQLite
import CausewayStores

/// Dangling links, and links with another entity number than their target row: counted, and carried as they are.
///
/// Each table is read once for its keys and once for its links; the keys are kept in memory meanwhile, two bytes per
/// row. A query in SQL (`LinkQuestion`), with a look-up by key for each link, takes ten times as long if the keys
/// aren't sorted; it is used if the keys don't fit.
extension Preflight {
    package func links() throws -> Findings {
        var findings = Findings()
        var keys: [String: EntityKeys] = [:]
        var pagesLeft = EntityKeys.maximumPages
        let columns = try LinkColumn.all(step.source)
        for table in Set(columns.map(\.target)).sorted() {
            keys[table] = try EntityKeys(of: table, in: source.connection, pagesLeft: &pagesLeft)
        }
        for table in Set(columns.map(\.table)).sorted() {
            try count(columns.filter { $0.table == table }, of: table, keys, &findings)
        }
        return findings
    }

    private func count(
        _ columns: [LinkColumn], of table: String, _ keys: [String: EntityKeys], _ findings: inout Findings
    ) throws {
        let counted = columns.filter { keys[$0.target] != nil }
        for column in columns where keys[column.target] == nil {
            for question in column.questions {
                note(column, question.kind, try FoundRows(question.sql, in: source.connection, nil), &findings)
            }
        }
        guard !counted.isEmpty else { return }
        var select = counted[0].isOfJoinTable ? ["0", "0"] : ["Z_ENT", "Z_PK"]
        for column in counted {
            select.append("\(try SQLIdentifier(column.column))")
            select.append(try column.entityColumn.map { "\(try SQLIdentifier($0))" } ?? "NULL")
        }
        var dangling = counted.map { _ in FoundRows() }
        var misfits = dangling
        var statement = try source.connection.prepare(
            "SELECT \(select.joined(separator: ", ")) FROM \(try SQLIdentifier(table))")
        while try statement.step() {
            let number = statement.int64(at: 0)
            for (place, column) in counted.enumerated() {
                let cell = 2 + 2 * place
                guard !statement.isNull(at: cell), column.holders?.contains(number) ?? true else { continue }
                let key = statement.int64(at: cell)
                let found = keys[column.target]?.number(of: key) ?? 0
                if !column.numbers.contains(Int64(found)) {
                    dangling[place].add(column.isOfJoinTable ? key : statement.int64(at: 1))
                } else if column.entityColumn != nil, [.integer, .null].contains(statement.type(at: cell + 1)),
                    statement.int64(at: cell + 1) != Int64(found)
                {
                    // What is neither is a bad value.
                    misfits[place].add(statement.int64(at: 1))
                }
            }
        }
        for (place, column) in counted.enumerated() {
            note(column, column.danglingKind, dangling[place], &findings)
            note(column, .entityNumber, misfits[place], &findings)
        }
    }

    private func note(_ column: LinkColumn, _ kind: LinkQuestion.Kind, _ rows: FoundRows, _ findings: inout Findings) {
        guard rows.count > 0, let question = column.questions.first(where: { $0.kind == kind }) else { return }
        let ends = steps.contains { $0.objects != nil }
        findings.notices.append(
            """
            \(question.entity).\(question.relationship) \(question.complaint) in \(rows.described); such links \
            \(ends && kind != .entityNumber ? "end where a mapping model makes the rows" : "are carried as they are")
            """)
    }
}
