/// The keys of the rows that a migration makes: counted up for each table from the largest that was ever given.
///
/// Rows get keys in the order in which they are written, which is the source's: the keys don't depend on batch size or
/// workers.
package struct KeySpace: Sendable {
    /// By table.
    private(set) var last: [Int64]

    /// `last` has the largest key that is taken for each table of the layout; 0 for none.
    package init(last: [Int64]) {
        self.last = last
    }

    /// A key that no row of the table has had. Throws `.exhausted` if the store has used the largest possible key.
    mutating func next(in table: Int) throws(ObjectError) -> Int64 {
        let (next, overflow) = last[table].addingReportingOverflow(1)
        guard !overflow else {
            throw ObjectError(
                .exhausted, "the store has used up its keys: Z_MAX or a Z_PK is the largest integer there is")
        }
        last[table] = next
        return next
    }

    /// Marks a key that came from elsewhere as used.
    mutating func take(_ key: Int64, in table: Int) {
        if key > last[table] { last[table] = key }
    }

    /// The largest key of the table so far: what Z_PRIMARYKEY's Z_MAX becomes.
    package func maximum(in table: Int) -> Int64 { last[table] }
}

/// `KeySpace`, shared by all writers of one store; used by one thread.
package final class KeySource {
    package internal(set) var keys: KeySpace
    /// Rows made so far and not deleted again, by Z_ENT.
    package internal(set) var rowCounts: [Int32: Int] = [:]
    /// Places given in ordered relationships, by table and column.
    var places: [PlaceColumn: Int64] = [:]

    struct PlaceColumn: Hashable {
        var table: String
        var column: String
    }

    package init(_ keys: KeySpace) {
        self.keys = keys
    }

    /// Keys for rows that are made outside of any context, which are counted.
    ///
    /// - Parameters:
    ///   - rows: how many, 1 at least.
    ///   - entity: their Z_ENT.
    ///   - table: their table's place.
    /// - Returns: the first of the keys, which follow each other.
    /// - Throws: `.exhausted` if the store has used the largest possible key.
    package func give(_ rows: Int, of entity: Int32, in table: Int) throws(ObjectError) -> Int64 {
        let first = try keys.next(in: table)
        for _ in 1..<rows { _ = try keys.next(in: table) }
        rowCounts[entity, default: 0] += rows
        return first
    }

    /// Counts rows that were made outside of any context.
    ///
    /// - Parameters:
    ///   - rows: how many.
    ///   - entity: their Z_ENT.
    ///   - last: the largest of their keys.
    ///   - table: their table's place.
    package func count(_ rows: Int, of entity: Int32, through last: Int64, in table: Int) {
        keys.take(last, in: table)
        rowCounts[entity, default: 0] += rows
    }

    /// Everything that a resumed run must know about the assigned keys.
    package struct State: Hashable, Sendable {
        /// By table of the layout.
        package var last: [Int64]
        /// Rows by Z_ENT.
        package var rows: [Int32: Int]
        /// The last places of ordered relationships, by table and column.
        package var places: [Place]

        package struct Place: Hashable, Sendable {
            package var table: String
            package var column: String
            package var place: Int64

            package init(table: String, column: String, place: Int64) {
                self.table = table
                self.column = column
                self.place = place
            }
        }

        package init(last: [Int64], rows: [Int32: Int], places: [Place]) {
            self.last = last
            self.rows = rows
            self.places = places
        }
    }

    /// The keys and places assigned so far; places in a fixed order.
    package var state: State {
        get {
            State(
                last: keys.last, rows: rowCounts,
                places: places.map { State.Place(table: $0.key.table, column: $0.key.column, place: $0.value) }
                    .sorted { ($0.table, $0.column) < ($1.table, $1.column) })
        }
        set {
            keys = KeySpace(last: newValue.last)
            rowCounts = newValue.rows
            places = Dictionary(
                newValue.places.map { (PlaceColumn(table: $0.table, column: $0.column), $0.place) },
                uniquingKeysWith: { $1 })
        }
    }
}
