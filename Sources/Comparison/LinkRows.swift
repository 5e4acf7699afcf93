import CausewaySQLite
import CausewayStores

/// The rows of two stores' join tables, matched by the keys at both ends: both are read once, in the order of the keys.
struct LinkRows {
    let a: ComparedStore
    let b: ComparedStore
    let count: RowCount

    /// Compares all join tables.
    func run() throws -> [StoreComparison.Links] {
        func named(_ joins: [ComparedJoin]) -> [String: ComparedJoin] {
            Dictionary(joins.map { ("\($0.label) \($0.inverse ?? "")", $0) }, uniquingKeysWith: { first, _ in first })
        }
        let (mine, theirs) = (named(a.joins), named(b.joins))
        return try Set(mine.keys).union(theirs.keys).sorted().compactMap { try compare(mine[$0], theirs[$0]) }
    }

    private func compare(_ mine: ComparedJoin?, _ theirs: ComparedJoin?) throws -> StoreComparison.Links? {
        guard let either = mine ?? theirs else { return nil }
        var links = StoreComparison.Links(name: either.label, inverse: either.inverse)
        links.isMissing = mine == nil || theirs == nil
        count.begin("links of \(either.label)")
        let none = "SELECT NULL, NULL, NULL, NULL WHERE 0"
        var rows = try a.store.connection.prepare(try mine?.sql ?? none)
        var others = try b.store.connection.prepare(try theirs?.sql ?? none)
        var (hasA, hasB) = (try rows.step(), try others.step())
        while hasA || hasB {
            let order = hasA && hasB ? Self.order(rows, others) : hasA ? -1 : 1
            if order <= 0 { links.countInA += 1 }
            if order >= 0 { links.countInB += 1 }
            if order < 0 {
                Self.add(rows, &links.onlyInA, &links.firstOnlyInA)
            } else if order > 0 {
                Self.add(others, &links.onlyInB, &links.firstOnlyInB)
            } else if !Self.hasSamePlaces(rows, others) {
                Self.add(rows, &links.places, &links.firstPlaces)
            }
            count.add(order == 0 ? 2 : 1)
            if order <= 0 { hasA = try rows.step() }
            if order >= 0 { hasB = try others.step() }
        }
        return links
    }

    private static func order(_ row: borrowing Statement, _ other: borrowing Statement) -> Int {
        for column in 0..<2 {
            let (left, right) = (row.int64(at: column), other.int64(at: column))
            if left != right { return left < right ? -1 : 1 }
        }
        return 0
    }

    private static func hasSamePlaces(_ row: borrowing Statement, _ other: borrowing Statement) -> Bool {
        for column in 2..<4 {
            guard case .equal = CellComparison.verdict(row, column, other, column) else { return false }
        }
        return true
    }

    private static func add(_ row: borrowing Statement, _ count: inout Int, _ first: inout [[Int64]]) {
        if count < StoreComparison.Rows.namedRows { first.append([row.int64(at: 0), row.int64(at: 1)]) }
        count += 1
    }
}
