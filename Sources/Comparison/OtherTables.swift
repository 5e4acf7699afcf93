import CausewaySQLite
import CausewayStores

/// Tables without entities: their rows are compared as multisets, by sums of digests. Each is read once, in any order.
struct OtherTables {
    let a: ComparedStore
    let b: ComparedStore
    let count: RowCount

    /// Compares all of them.
    func run() throws -> [StoreComparison.Table] {
        func named(_ tables: [ComparedOther]) -> [String: ComparedOther] {
            Dictionary(tables.map { ($0.name.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
        }
        let (mine, theirs) = (named(a.others), named(b.others))
        var tables: [StoreComparison.Table] = []
        for name in Set(mine.keys).union(theirs.keys).sorted() {
            if let table = try compare(mine[name], theirs[name]) { tables.append(table) }
        }
        return tables
    }

    private func compare(_ mine: ComparedOther?, _ theirs: ComparedOther?) throws -> StoreComparison.Table? {
        guard let either = mine ?? theirs else { return nil }
        let (columns, others) = (Set(mine?.columns ?? []), Set(theirs?.columns ?? []))
        var table = StoreComparison.Table(name: either.name)
        count.begin("rows of \(either.name)")
        let shared = columns.intersection(others).sorted()
        let sum = try mine.map { try self.sum(of: $0.name, shared, in: a) }
        let other = try theirs.map { try self.sum(of: $0.name, shared, in: b) }
        (table.rowsInA, table.rowsInB) = (sum?.rows, other?.rows)
        guard let sum, let other else { return table }
        table.columns = columns.symmetricDifference(others).sorted()
        table.rowsDiffer = sum != other
        return table
    }

    private struct Sum: Equatable {
        var rows = 0
        var digests = ContentDigest.zero
    }

    /// A sum of digests: rows that trade places give the same one, rows that are lost or doubled don't.
    private func sum(of table: String, _ columns: [String], in store: ComparedStore) throws -> Sum {
        var names: [String] = []
        for column in columns { names.append(try SQLIdentifier(column).quoted) }
        let list = names.isEmpty ? "NULL" : names.joined(separator: ", ")
        var statement = try store.store.connection.prepare("SELECT \(list) FROM \(try SQLIdentifier(table))")
        // History names entities by number.
        let isHistory = ComparedStore.historyTables.contains(table.lowercased())
        let numbered = isHistory ? columns.firstIndex { $0.uppercased() == "ZENTITY" } : nil
        var sum = Sum()
        var buffer = ContentBuffer()
        while try statement.step() {
            buffer.clear()
            for place in columns.indices {
                if place == numbered, statement.type(at: place) == .integer {
                    buffer.add(store.name(ofEntity: statement.int64(at: place)))
                } else {
                    buffer.add(statement, place)
                }
            }
            sum.rows += 1
            count.add(1)
            sum.digests.add(buffer.digest)
        }
        return sum
    }
}
