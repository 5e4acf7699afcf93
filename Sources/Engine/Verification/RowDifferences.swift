import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// Finds the rows in which source and new store differ, by a scan of both in the order of their keys.
///
/// Names entity, key and columns, never content.
struct RowDifferences {
    /// Most rows that are named.
    static let namedRows = 20

    let pass: RowPass
    let shape: DigestShape
    let isUTF8: Bool
    /// Whether every row of the destination table is this pass's.
    let isOnlyPass: Bool
    /// Columns that aren't compared.
    let skipped: Set<String>
    /// Keys of source rows that were quarantined.
    var leftOut = SortedKeys([])
    let cancellation: Cancellation?

    /// Empty where rows have no key to name them by.
    func findings(source: borrowing Connection, result: borrowing Connection) throws -> [String] {
        let keys = sourceKeys
        guard !keys.isEmpty else { return [] }
        let reading = try DestinationReading(pass, shape)
        let groups = Dictionary(shape.groups.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
        var before = try source.prepare(pass.shape.sql)
        var after = try result.prepare(reading.sql(ordered: true))
        var findings: [String] = []
        var left = try nextSource(&before, groups, keys)
        var right = try nextResult(&after, reading)
        var rows = 0
        while findings.count < Self.namedRows, left != nil || right != nil {
            try cancellation?.check(afterRow: &rows)
            let order = Self.compare(left?.keys, right?.keys)
            if order < 0, let row = left {
                findings.append("\(name(row)) is missing in the new store")
            } else if order > 0, let row = right {
                if isOnlyPass { findings.append("\(name(row)) isn't in the source") }
            } else if let row = left, let other = right {
                if row.group.offset != other.group.offset {
                    findings.append("\(name(row)) is a row of \(other.group.entity) in the new store")
                } else {
                    let columns = different(before, after, row.group, reading)
                    if !columns.isEmpty {
                        findings.append("\(name(row)): \(columns.joined(separator: ", ")) differ")
                    }
                }
            }
            if order <= 0 { left = try nextSource(&before, groups, keys) }
            if order >= 0 { right = try nextResult(&after, reading) }
        }
        if findings.count == Self.namedRows { findings.append("… and perhaps more rows of \(pass.title)") }
        return findings
    }

    private struct Row {
        let group: DigestShape.Group
        let keys: [Int64]
    }

    /// Result columns of the pass's statement by which its rows are ordered.
    private var sourceKeys: [Int] {
        if shape.key != nil { return pass.key.map { [$0] } ?? [] }
        let columns = DestinationReading.linkColumns(pass, shape)
        return columns.count == pass.shape.order.count ? pass.shape.order : []
    }

    private func nextSource(
        _ statement: inout Statement, _ groups: [Int: DigestShape.Group], _ keys: [Int]
    ) throws(SQLiteError) -> Row? {
        while try statement.step() {
            guard let number = pass.number(of: statement), let group = groups[number] else { continue }
            if !leftOut.isEmpty, let key = pass.key, leftOut.contains(statement.int64(at: key)) { continue }
            return Row(group: group, keys: statement.keys(at: keys))
        }
        return nil
    }

    private func nextResult(_ statement: inout Statement, _ reading: DestinationReading) throws(SQLiteError) -> Row? {
        while try statement.step() {
            guard let group = reading.group(of: statement) else { continue }
            return Row(group: group, keys: reading.orderingKeys(of: statement))
        }
        return nil
    }

    /// Below 0: only the source has the row; above 0: only the result.
    private static func compare(_ left: [Int64]?, _ right: [Int64]?) -> Int {
        guard let left else { return 1 }
        guard let right else { return -1 }
        for (one, other) in zip(left, right) where one != other { return one < other ? -1 : 1 }
        return 0
    }

    private func different(
        _ before: borrowing Statement, _ after: borrowing Statement, _ group: DigestShape.Group,
        _ reading: DestinationReading
    ) -> [String] {
        var columns: [String] = []
        for cell in group.cells where !skipped.contains(cell.column) {
            let expected = StatementContent.content(before, cell, isUTF8: isUTF8)
            let found = StatementContent.content(after, reading.position(cell), isUTF8: true)
            if expected != found { columns.append(cell.column) }
        }
        return columns
    }

    private func name(_ row: Row) -> String {
        "\(row.group.entity) " + row.keys.map { "p\($0)" }.joined(separator: " → ")
    }
}
