package import CausewaySQLite

/// The statement that streams the rows of one table, with what must be looked up elsewhere.
///
/// Names come from a store that isn't trusted, so every one is an `SQLIdentifier`.
package struct RowSelect: Hashable, Sendable {
    /// One cell of the result.
    package indirect enum Cell: Hashable, Sendable {
        /// A column of the table itself.
        case column(SQLIdentifier)
        /// The key of the first row that a link stored elsewhere leads to.
        case related(RelatedKey)
        /// The Z_ENT of that row, which lives in `table`.
        case relatedEntity(RelatedKey, table: SQLIdentifier)
        /// The row's place among the rows with the same owner: 2048, 3072, … by key, as Core Data numbers a fresh list
        /// (InsideStoreFormat §5.4); NULL where the owner is NULL.
        case position(owner: Cell, by: SQLIdentifier)
    }

    /// A link that isn't stored in the row itself.
    package struct RelatedKey: Hashable, Sendable {
        /// The other end's table, or the join table.
        package var table: SQLIdentifier
        /// The column that holds this row's key.
        package var key: SQLIdentifier
        /// The column that holds the other end's key.
        package var value: SQLIdentifier
        /// Orders the candidates before their keys do.
        package var order: SQLIdentifier?
        /// Whether an index leads with `key`; without one all links are sorted once instead of searched for every row.
        package var isIndexed = true

        package init(
            table: SQLIdentifier, key: SQLIdentifier, value: SQLIdentifier, order: SQLIdentifier? = nil,
            isIndexed: Bool = true
        ) {
            self.isIndexed = isIndexed
            self.table = table
            self.key = key
            self.value = value
            self.order = order
        }
    }

    /// What a row must fulfil.
    package enum Condition: Hashable, Sendable {
        case notNull(Cell)
        /// The integer column holds one of these.
        case oneOf(SQLIdentifier, [Int])
        /// The row of `table` that the column names isn't of one of these entities.
        case targetIsNot(SQLIdentifier, table: SQLIdentifier, entities: [Int])
    }

    /// The order in which a table's own b-tree has its rows.
    package enum RowOrder: Hashable, Sendable {
        /// By rowid, under a name that no other column has.
        case rowID(SQLIdentifier?)
        /// By the primary key of a table WITHOUT ROWID.
        case key([KeyTerm])
    }

    /// One column of a primary key as its b-tree orders it.
    package struct KeyTerm: Hashable, Sendable {
        package var column: SQLIdentifier
        package var collation: SQLIdentifier
        package var isDescending: Bool

        package init(column: SQLIdentifier, collation: SQLIdentifier, isDescending: Bool) {
            self.column = column
            self.collation = collation
            self.isDescending = isDescending
        }
    }

    package var table: SQLIdentifier
    package var cells: [Cell] { didSet { places = nil } }
    /// Of the cells; nil until it is asked for. A hierarchy's table has hundreds, each asked for by every entity.
    private var places: [Cell: Int]?
    package var conditions: [Condition]
    /// Result columns, counted from 1, that order the rows; empty for the table's own order.
    package var order: [Int]
    /// The table's own order.
    package var rowOrder = RowOrder.rowID(nil)

    package init(table: SQLIdentifier, cells: [Cell] = [], conditions: [Condition] = [], order: [Int] = []) {
        self.table = table
        self.cells = cells
        self.conditions = conditions
        self.order = order
    }

    /// The index of `cell` in the result, appended if it isn't there.
    package mutating func index(of cell: Cell) -> Int {
        var places =
            self.places ?? Dictionary(zip(cells, 0...), uniquingKeysWith: { first, _ in first })
        self.places = nil
        defer { self.places = places }
        if let index = places[cell] { return index }
        places[cell] = cells.count
        cells.append(cell)
        return cells.count - 1
    }

    package static func == (left: RowSelect, right: RowSelect) -> Bool {
        left.table == right.table && left.cells == right.cells && left.conditions == right.conditions
            && left.order == right.order && left.rowOrder == right.rowOrder
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(table)
        hasher.combine(cells)
        hasher.combine(conditions)
        hasher.combine(order)
        hasher.combine(rowOrder)
    }

    /// The statement's text.
    package var sql: String {
        var text = "SELECT " + cells.map(self.text).joined(separator: ", ") + " FROM \(table) AS t"
        if isSortedApart { text += " NOT INDEXED" }
        text += joins
        if !conditions.isEmpty { text += " WHERE " + conditions.map(self.text).joined(separator: " AND ") }
        text += " ORDER BY " + (order.isEmpty ? ownOrder : order.map(String.init).joined(separator: ", "))
        return text
    }

    /// The rows are read as they lie in the table and sorted apart (an external merge sort): an index in their order that
    /// doesn't hold all cells would lead through the table at random. With the ordering cells alone the index has all.
    private var isSortedApart: Bool { !order.isEmpty && cells.count > order.count }

    /// Whether rows can be asked for from a key on: they come in the table's own order, and no cell counts rows.
    package var isSeekable: Bool {
        if case .key = rowOrder { return false }
        return order.isEmpty
            && !cells.contains {
                if case .position = $0 { return true }
                return false
            }
    }

    /// As `sql`, but only the rows whose rowid is above the one parameter. For seekable statements.
    package var sqlAfterKey: String {
        let bound = (conditions.map(self.text) + ["\(ownOrder) > ?1"]).joined(separator: " AND ")
        return "SELECT " + cells.map(self.text).joined(separator: ", ") + " FROM \(table) AS t\(joins) WHERE " + bound
            + " ORDER BY \(ownOrder)"
    }

    private var ownOrder: String {
        switch rowOrder {
        case .rowID(let name): return name.map { "t.\($0)" } ?? "t.rowid"
        case .key(let terms):
            return terms.map { "t.\($0.column) COLLATE \($0.collation)\($0.isDescending ? " DESC" : "")" }
                .joined(separator: ", ")
        }
    }

    /// Counts the rows that `sql` gives.
    package var countSQL: String {
        "SELECT count(*) FROM \(table) AS t"
            + (conditions.isEmpty ? "" : " WHERE " + conditions.map(self.text).joined(separator: " AND "))
    }

    /// Links without an index, each once: `f0`, `f1`, …
    private var unindexed: [RelatedKey] {
        var result: [RelatedKey] = []
        for cell in cells {
            var cell = cell
            while case .position(let owner, _) = cell { cell = owner }
            switch cell {
            case .related(let key), .relatedEntity(let key, _):
                if !key.isIndexed, !result.contains(key) { result.append(key) }
            case .column, .position: break
            }
        }
        return result
    }

    /// The first link of each key. SQLite sorts them, and finds them by an index that it makes once for the statement.
    private var joins: String {
        unindexed.enumerated().map { place, key in
            """
             LEFT JOIN (SELECT k, v FROM (\(key.first)) WHERE n = 1) AS f\(place) ON f\(place).k = t."Z_PK"
            """
        }.joined()
    }

    private func text(_ cell: Cell) -> String {
        switch cell {
        case .column(let name): return "t.\(name)"
        case .related(let key): return text(key)
        case .relatedEntity(let key, let table):
            return "(SELECT r.\"Z_ENT\" FROM \(table) AS r WHERE r.\"Z_PK\" = \(text(key)))"
        case .position(let owner, let by):
            let owner = text(owner)
            return """
                CASE WHEN \(owner) IS NULL THEN NULL \
                ELSE 1024 + 1024 * row_number() OVER (PARTITION BY \(owner) ORDER BY t.\(by)) END
                """
        }
    }

    private func text(_ key: RelatedKey) -> String {
        if let place = unindexed.firstIndex(of: key) { return "f\(place).v" }
        let order = key.order.map { "o.\($0), " } ?? ""
        return """
            (SELECT o.\(key.value) FROM \(key.table) AS o WHERE o.\(key.key) = t."Z_PK" \
            ORDER BY \(order)o.\(key.value) LIMIT 1)
            """
    }

    private func text(_ condition: Condition) -> String {
        switch condition {
        case .notNull(let cell): return "\(text(cell)) IS NOT NULL"
        case .oneOf(let column, let numbers):
            return "t.\(column) IN (\(numbers.map(String.init).joined(separator: ", ")))"
        case .targetIsNot(let column, let table, let entities):
            return """
                NOT EXISTS (SELECT 1 FROM \(table) AS e WHERE e."Z_PK" = t.\(column) \
                AND e."Z_ENT" IN (\(entities.map(String.init).joined(separator: ", "))))
                """
        }
    }
}

extension RowSelect.RelatedKey {
    /// All links as `k` (this row's key), `v` (the other end's) and `n`, which is 1 for the first link of each key.
    package var first: String {
        let order = order.map { "o.\($0), " } ?? ""
        return """
            SELECT o.\(key) AS k, o.\(value) AS v, row_number() OVER \
            (PARTITION BY o.\(key) ORDER BY \(order)o.\(value)) AS n FROM \(table) AS o
            """
    }
}
