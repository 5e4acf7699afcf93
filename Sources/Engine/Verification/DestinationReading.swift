import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat

/// The statement that reads back what a pass has written, and what its result columns are.
struct DestinationReading {
    private let shape: DigestShape
    private let table: SQLIdentifier
    private let columns: [SQLIdentifier]
    /// Place in the result by place among the destination's columns.
    private let places: [Int: Int]
    /// Place in the result of the column that tells the groups apart, and the groups by its value.
    private let discriminator: (place: Int, groups: [Int64: DigestShape.Group])?
    private let order: [Int]

    /// - Throws: where the pass names what SQLite can't.
    init(_ pass: RowPass, _ shape: DigestShape) throws(SQLiteError) {
        self.shape = shape
        table = try SQLIdentifier(pass.destinationTable)
        var outputs = Set(shape.groups.flatMap { $0.cells.map(\.output) })
        if let key = shape.key { outputs.insert(key) }
        if let discriminator = shape.discriminator { outputs.insert(discriminator.output) }
        var columns: [SQLIdentifier] = []
        var places: [Int: Int] = [:]
        for output in outputs.sorted() {
            places[output] = columns.count
            columns.append(try SQLIdentifier(pass.destinationColumns[output]))
        }
        self.columns = columns
        self.places = places
        discriminator = shape.discriminator.flatMap { found in places[found.output].map { ($0, found.groups) } }
        order = (shape.key.map { [$0] } ?? Self.linkColumns(pass, shape)).compactMap { places[$0] }
    }

    func sql(ordered: Bool) -> String {
        let names = columns.isEmpty ? ["NULL"] : columns.map(\.quoted)
        let sorting =
            ordered && !order.isEmpty
            ? " ORDER BY " + order.map { String($0 + 1) }.joined(separator: ", ") : ""
        return "SELECT \(names.joined(separator: ", ")) FROM \(table)\(sorting)"
    }

    /// nil for rows of entities that the pass doesn't write.
    func group(of row: borrowing Statement) -> DigestShape.Group? {
        guard let discriminator else { return shape.groups.first }
        guard row.type(at: discriminator.place) == .integer else { return nil }
        return discriminator.groups[row.int64(at: discriminator.place)]
    }

    func key(of row: borrowing Statement) -> Int64 {
        shape.key.flatMap { places[$0] }.map { row.int64(at: $0) } ?? 0
    }

    /// The cell's index in the result.
    func position(_ cell: DigestShape.Cell) -> Int { places[cell.output] ?? -1 }

    /// The values that rows are ordered by: the key, or a link's two keys.
    func orderingKeys(of row: borrowing Statement) -> [Int64] { row.keys(at: order) }

    /// The destination's columns with the keys of a link's two ends, in the order in which the pass reads them.
    static func linkColumns(_ pass: RowPass, _ shape: DigestShape) -> [Int] {
        guard pass.kind == .links, let group = shape.groups.first else { return [] }
        return pass.shape.order.compactMap { position in
            group.cells.first { $0.input == position }?.output
        }
    }
}

extension Statement {
    /// The integers in these result columns.
    func keys(at cells: [Int]) -> [Int64] {
        var keys: [Int64] = []
        for cell in cells { keys.append(int64(at: cell)) }
        return keys
    }
}
