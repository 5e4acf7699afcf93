package import CausewaySQLite

/// What a pass reads: rows of one table, with their own and looked-up cells, under conditions, in an order.
///
/// A cell is named by its place among `cells`, for statements (`RowShape.sql`) and for readers of pages alike. Names
/// come from an untrusted store, so each is an `SQLIdentifier`.
package struct RowShape: Hashable, Sendable {
    /// One cell of a row.
    package indirect enum Cell: Hashable, Sendable {
        /// A column of the table itself.
        case column(SQLIdentifier)
        /// The key of the first row that a link stored elsewhere leads to.
        case related(RelatedKey)
        /// The Z_ENT of that row, which lives in `table`.
        case relatedEntity(RelatedKey, table: SQLIdentifier)
        /// The row's place among the rows with the same owner, except those of some Z_ENTs: 2048, 3072, … by key, as
        /// Core Data numbers a fresh list (InsideStoreFormat §5.4); NULL where the owner is NULL.
        case position(owner: Cell, by: SQLIdentifier, besides: [Int] = [])
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
        /// Rows at the other end that are no candidates; nil where all are.
        package var besides: Besides?

        /// Rows of a table by their Z_ENTs, and the column that holds their keys beside a link's.
        package struct Besides: Hashable, Sendable {
            package var column: SQLIdentifier
            package var table: SQLIdentifier
            package var entities: [Int]

            package init(column: SQLIdentifier, table: SQLIdentifier, entities: [Int]) {
                (self.column, self.table, self.entities) = (column, table, entities)
            }
        }

        package init(
            table: SQLIdentifier, key: SQLIdentifier, value: SQLIdentifier, order: SQLIdentifier? = nil
        ) {
            self.table = table
            self.key = key
            self.value = value
            self.order = order
        }
    }

    /// A condition on a row.
    package indirect enum Condition: Hashable, Sendable {
        case notNull(Cell)
        /// The integer column holds one of these.
        case oneOf(SQLIdentifier, [Int])
        /// The row of `table` that the column names isn't of one of these entities.
        case targetIsNot(SQLIdentifier, table: SQLIdentifier, entities: [Int])
        /// The texts of the two columns are none of these pairs.
        case isNone(SQLIdentifier, SQLIdentifier, of: [TextPair])
        /// The row of `table` that the column names meets these, each of which is about its own columns only; or there
        /// is no such row.
        case targetMeets(SQLIdentifier, table: SQLIdentifier, [Condition])
    }

    /// Two texts of a row.
    package struct TextPair: Hashable, Sendable {
        package var first: String
        package var second: String

        package init(_ first: String, _ second: String) {
            (self.first, self.second) = (first, second)
        }
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
    package var cells: [Cell] { didSet { places.byCell = nil } }
    private var places = Places()
    package var conditions: [Condition]
    /// Places of the cells that order the rows; empty for the table's own order.
    package var order: [Int]
    /// The table's own order.
    package var rowOrder = RowOrder.rowID(nil)

    package init(table: SQLIdentifier, cells: [Cell] = [], conditions: [Condition] = [], order: [Int] = []) {
        self.table = table
        self.cells = cells
        self.conditions = conditions
        self.order = order
    }

    /// The place of `cell`, appended if it isn't there.
    package mutating func index(of cell: Cell) -> Int {
        var places = places.byCell ?? Dictionary(zip(cells, 0...), uniquingKeysWith: { first, _ in first })
        self.places.byCell = nil
        defer { self.places.byCell = places }
        if let index = places[cell] { return index }
        places[cell] = cells.count
        cells.append(cell)
        return cells.count - 1
    }

    /// Indices of the cells, made on first use. A hierarchy's table has hundreds, each used by every entity. Equal
    /// shapes may differ in it.
    private struct Places: Hashable {
        var byCell: [Cell: Int]?

        static func == (left: Places, right: Places) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }

    /// Names of all tables that it reads.
    var tables: Set<String> {
        func tables(_ cell: Cell) -> [String] {
            switch cell {
            case .column: []
            case .related(let key): [key.table.name] + [key.besides?.table.name].compactMap(\.self)
            case .relatedEntity(let key, let table): tables(.related(key)) + [table.name]
            case .position(let owner, _, _): tables(owner)
            }
        }
        var result = Set(cells.flatMap(tables))
        for condition in conditions {
            switch condition {
            case .notNull(let cell): result.formUnion(tables(cell))
            case .oneOf, .isNone: break
            case .targetIsNot(_, let table, _), .targetMeets(_, let table, _): result.insert(table.name)
            }
        }
        return result.union([table.name])
    }

    /// Whether rows can be read from a key on: they come in the table's own order, and no cell counts rows.
    package var isSeekable: Bool {
        if case .key = rowOrder { return false }
        return order.isEmpty
            && !cells.contains {
                if case .position = $0 { return true }
                return false
            }
    }
}
