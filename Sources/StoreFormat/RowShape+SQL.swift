import CausewaySQLite

// The one place where a row shape becomes SQL.
extension RowShape {
    /// The statement's text. It reads the table itself: an index may be stale, and has a damaged store's rows with
    /// other values or not at all; and one in the order of the rows that lacks some cells would cause random access to
    /// the table, where SQLite's merge sort reads it once.
    package var sql: String {
        var text = "SELECT " + cells.map(self.text).joined(separator: ", ") + " FROM \(table) AS t NOT INDEXED" + joins
        if !conditions.isEmpty { text += " WHERE " + conditions.map(self.text).joined(separator: " AND ") }
        text += " ORDER BY " + (order.isEmpty ? ownOrder : order.map { String($0 + 1) }.joined(separator: ", "))
        return text
    }

    /// As `sql`, but only the rows whose rowid is above the one parameter. For seekable statements.
    package var sqlAfterKey: String {
        let bound = (conditions.map(self.text) + ["\(ownOrder) > ?1"]).joined(separator: " AND ")
        return "SELECT " + cells.map(self.text).joined(separator: ", ")
            + " FROM \(table) AS t NOT INDEXED\(joins) WHERE "
            + bound + " ORDER BY \(ownOrder)"
    }

    private var ownOrder: String {
        switch rowOrder {
        case .rowID(let name): return name.map { "t.\($0)" } ?? "t.rowid"
        case .key(let terms):
            return terms.map { "t.\($0.column) COLLATE \($0.collation)\($0.isDescending ? " DESC" : "")" }
                .joined(separator: ", ")
        }
    }

    /// Counts the rows that `sql` gives, through an index where that is faster.
    package var countSQL: String { countSQL(of: "\(table) AS t") }

    /// Counts them in the table itself: an index may be stale.
    package var ownCountSQL: String { countSQL(of: "\(table) AS t NOT INDEXED") }

    private func countSQL(of rows: String) -> String {
        "SELECT count(*) FROM \(rows)"
            + (conditions.isEmpty ? "" : " WHERE " + conditions.map(self.text).joined(separator: " AND "))
    }

    /// Links that other tables hold, each once: `f0`, `f1`, …
    private var related: [RelatedKey] {
        var result: [RelatedKey] = []
        for cell in cells {
            var cell = cell
            while case .position(let owner, _, _) = cell { cell = owner }
            switch cell {
            case .related(let key), .relatedEntity(let key, _):
                if !key.isOfRowItself, !result.contains(key) { result.append(key) }
            case .column, .position: break
            }
        }
        return result
    }

    /// Places in lists, each once: `p0`, `p1`, …
    private var positions: [Cell] {
        cells.reduce(into: []) { result, cell in
            if case .position = cell, !result.contains(cell) { result.append(cell) }
        }
    }

    /// The first link of each key. SQLite sorts them, and finds them through an index that it makes once per statement:
    /// the store's own may be stale, or not there.
    private var relatedJoins: String {
        related.enumerated().map { place, key in
            """
             LEFT JOIN (SELECT k, v FROM (\(key.first)) WHERE n = 1) AS f\(place) ON f\(place).k = t."Z_PK"
            """
        }.joined()
    }

    /// With the places, for which SQLite sorts keys: a window over the rows themselves would sort all of their cells,
    /// twice, in files as large as the table.
    private var joins: String {
        relatedJoins
            + positions.enumerated().map { number, cell in
                guard case .position(let owner, let by, let besides) = cell else { return "" }
                let key = text(owner)
                let counted = besides.isEmpty ? [] : ["t.\"Z_ENT\" NOT IN (\(besides.list))"]
                let rows = (conditions.map(self.text) + ["\(key) IS NOT NULL"] + counted).joined(separator: " AND ")
                return """
                     LEFT JOIN (SELECT \(ownOrder) AS k, 1024 + 1024 * row_number() OVER \
                    (PARTITION BY \(key) ORDER BY t.\(by), \(ownOrder)) \
                    AS v FROM \(table) AS t NOT INDEXED\(relatedJoins) WHERE \(rows)) AS p\(number) ON p\(number).k = \(ownOrder)
                    """
            }.joined()
    }

    private func text(_ cell: Cell) -> String {
        switch cell {
        case .column(let name): return "t.\(name)"
        case .related(let key): return text(key)
        case .relatedEntity(let key, let table):
            return "(SELECT r.\"Z_ENT\" FROM \(table) AS r WHERE r.\"Z_PK\" = \(text(key)))"
        case .position: return positions.firstIndex(of: cell).map { "p\($0).v" } ?? "NULL"
        }
    }

    private func text(_ key: RelatedKey) -> String {
        if let place = related.firstIndex(of: key) { return "f\(place).v" }
        return "(SELECT o.\(key.value) FROM \(key.table) AS o WHERE o.\(key.key) = t.\"Z_PK\")"
    }

    private func text(_ condition: Condition) -> String { text(condition, of: "t") }

    /// `row` is the name of the row in the statement: `t`, or another table's.
    private func text(_ condition: Condition, of row: String) -> String {
        switch condition {
        case .notNull(let cell): return "\(text(cell)) IS NOT NULL"
        case .oneOf(let column, let numbers):
            return "\(row).\(column) IN (\(numbers.map(String.init).joined(separator: ", ")))"
        case .targetIsNot(let column, let table, let entities):
            return """
                NOT EXISTS (SELECT 1 FROM \(table) AS e WHERE e."Z_PK" = \(row).\(column) \
                AND e."Z_ENT" IN (\(entities.map(String.init).joined(separator: ", "))))
                """
        case .isNone(let first, let second, let pairs):
            let texts = pairs.map {
                "(\(row).\(first) IS \($0.first.literal) AND \(row).\(second) IS \($0.second.literal))"
            }
            return "NOT (\(texts.joined(separator: " OR ")))"
        case .targetMeets(let column, let table, let conditions):
            let met = conditions.map { text($0, of: "e") }.joined(separator: " AND ")
            return """
                NOT EXISTS (SELECT 1 FROM \(table) AS e WHERE e."Z_PK" = \(row).\(column) AND (\(met)) IS NOT TRUE)
                """
        }
    }
}

extension [Int] {
    /// As SQL lists them.
    fileprivate var list: String { map(String.init).joined(separator: ", ") }
}

extension String {
    /// As SQL writes a text.
    fileprivate var literal: String {
        "'\(split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''"))'"
    }
}

extension RowShape.RelatedKey {
    /// Whether it is a column of the row itself, under whose key it is found.
    fileprivate var isOfRowItself: Bool { key.name == "Z_PK" }

    /// All links as `k` (this row's key), `v` (the other end's) and `n`, which is 1 for the first link of each key.
    package var first: String {
        let order = order.map { "o.\($0), " } ?? ""
        let candidates =
            besides.map {
                """
                 WHERE ((SELECT e."Z_ENT" FROM \($0.table) AS e WHERE e."Z_PK" = o.\($0.column)) \
                IN (\($0.entities.list))) IS NOT TRUE
                """
            } ?? ""
        return """
            SELECT o.\(key) AS k, o.\(value) AS v, row_number() OVER \
            (PARTITION BY o.\(key) ORDER BY \(order)o.\(value)) AS n FROM \(table) AS o NOT INDEXED\(candidates)
            """
    }
}
