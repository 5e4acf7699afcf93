import CausewaySQLite

/// Rows of one of the first store's tables that a step leaves out.
struct LeftOutRows {
    /// Its index among the executed steps.
    let step: Int
    let table: String
    /// Z_ENT; any where there is none.
    var numbers: [Int]
    let condition: RowCondition

    /// Whether a row `t` is one of them.
    func holds(_ condition: String) -> String {
        let list = numbers.map(String.init).joined(separator: ", ")
        return numbers.isEmpty ? "(\(condition))" : "(t.Z_ENT IN (\(list)) AND (\(condition)))"
    }

    /// Merges the entries of entities with the same demand: subentities inherit their demands.
    static func merged(_ all: [LeftOutRows]) -> [LeftOutRows] {
        struct Question: Hashable {
            var table: String
            var condition: RowCondition
            var isOfAny: Bool
        }
        var places: [Question: Int] = [:]
        var result: [LeftOutRows] = []
        for rows in all {
            let question = Question(table: rows.table, condition: rows.condition, isOfAny: rows.numbers.isEmpty)
            if let place = places[question] {
                result[place].numbers += rows.numbers
            } else {
                places[question] = result.count
                result.append(rows)
            }
        }
        return result
    }
}

/// A condition on a row `t` that may be undecided for some rows.
struct RowCondition: Hashable {
    /// Surely holds.
    let surely: String
    /// May hold.
    let perhaps: String

    var isCertain: Bool { surely == perhaps }
}

extension RowCondition {
    init(_ condition: String) {
        self.init(surely: condition, perhaps: condition)
    }
}

/// Rows that may be gone when a step begins: earlier ones have left them out, and links to them have ended.
struct GoneRows {
    private var groups: [LeftOutRows] = []

    /// Adds those of which the store has any.
    mutating func add(_ rows: [LeftOutRows], in connection: borrowing Connection) throws(SQLiteError) {
        var census = RowCensus()
        let merged = LeftOutRows.merged(rows)
        let places = merged.map { census.add($0.holds($0.condition.perhaps), in: $0.table) }
        let counts = try census.counts(in: connection)
        groups += zip(merged, places).filter { counts[$1] > 0 }.map(\.0)
    }

    /// A SELECT of the keys of a table's rows; nil where all are there. Rows that may be gone because a linked row is
    /// gone aren't selected one by one: any may be.
    func keys(of table: String) throws(SQLiteError) -> String? {
        let terms = groups.filter { $0.table == table }.map {
            $0.holds($0.condition.isCertain ? $0.condition.perhaps : "1")
        }
        guard !terms.isEmpty else { return nil }
        return "SELECT t.Z_PK FROM \(try SQLIdentifier(table)) AS t WHERE \(BalancedSQL.joined(terms, by: "OR"))"
    }
}

/// How many rows each step leaves out.
struct LeftOutCounts {
    private struct Place: Hashable {
        var step: Int
        var entity: String
    }

    /// `least` counts different rows; `most` may count a row several times.
    private var counts: [Place: (least: Int, most: Int)] = [:]

    /// Rows of one entity that one step leaves out for one reason.
    mutating func add(step: Int, entity: String, least: Int, most: Int) {
        let known = counts[Place(step: step, entity: entity)] ?? (0, 0)
        counts[Place(step: step, entity: entity)] = (max(known.least, least), known.most + most)
    }

    static func += (all: inout LeftOutCounts, more: LeftOutCounts) {
        for (place, count) in more.counts {
            all.add(step: place.step, entity: place.entity, least: count.least, most: count.most)
        }
    }

    /// Rows that a step surely leaves out, by entity: those of different entities are different rows, and rows that
    /// earlier steps may leave out don't get that far.
    func least(inStep step: Int) -> [(entity: String, rows: Int)] {
        counts.filter { $0.key.step == step }.map { place, count in
            let before = counts.filter { $0.key.step < step && $0.key.entity == place.entity }
                .reduce(0) { $0 + $1.value.most }
            return (place.entity, max(0, count.least - before))
        }.sorted { $0.entity < $1.entity }
    }
}
