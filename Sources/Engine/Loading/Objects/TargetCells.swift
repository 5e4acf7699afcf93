import CausewayEvaluation
import CausewayObjects
import CausewayPlanning
import CausewayPreparation
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// What an expression like `$source.maker.name` gives, for each row that the to-one can lead to: read once, so that no
/// row of the mapping looks its target up.
///
/// Targets whose values don't fit into the memory aren't held: then each row looks its own up.
final class TargetCells: Sendable {
    /// Bytes of cells and places of all such expressions of a mapping.
    static let mostBytes = 16 << 20
    private static let rowsAtATime = 4_096

    /// One cell each.
    private let cells: RowBatch
    /// Places in `cells`, raised by one, by key; 0 where a key has none.
    private let places: [UInt32]
    /// Where the key is in the mapping's rows.
    let key: Int

    /// The place of a target's cell; nil where the row itself must look it up.
    func place(of key: Int64) -> Int? {
        guard key >= 0, key < Int64(places.count), places[Int(key)] > 0 else { return nil }
        return Int(places[Int(key)]) - 1
    }

    /// Moves a view to a cell.
    func load(_ place: Int, into view: RowView) throws(RecordError) { try view.load(place, of: cells) }

    /// A key path over one to-one.
    private struct Path {
        let link: ToOneStorage
        let column: Int
        let transfer: AttributeTransfer

        init?(_ fill: EntityMappingPlan.AttributeFill, _ plan: EntityMappingPlan, _ source: StorageMap) {
            guard case .compute(let expression) = fill.origin, case .path(let root, let path) = expression.shape,
                root == .evaluated || root == .variable("source"), path.count == 2,
                case .toOne(let link)? = source.place(of: path[0], entity: plan.sourceEntity ?? 0),
                case .attribute(let column, let attribute)? = source.place(of: path[1], entity: link.destination),
                let transfer = AttributeTransfer(from: attribute, to: fill.attribute)
            else { return nil }
            (self.link, self.column, self.transfer) = (link, column, transfer)
        }
    }

    /// Reads the targets.
    ///
    /// - Parameters:
    ///   - fill: the attribute that gets the values.
    ///   - plan: its mapping.
    ///   - source: the store.
    ///   - map: where it keeps what.
    ///   - bytesLeft: that may still be held; lowered.
    ///   - cancellation: checked while rows are read.
    ///
    /// nil for other expressions, and for a table that only SQLite can read.
    /// - Throws: what is damaged.
    init?(
        _ fill: EntityMappingPlan.AttributeFill, _ plan: EntityMappingPlan, of source: SourceStore, _ map: StorageMap,
        _ bytesLeft: inout Int, _ cancellation: Cancellation
    ) throws(EngineError) {
        guard let path = Path(fill, plan, map), plan.cells[path.link.column] >= 0,
            let table = map.table(of: path.link.destination),
            let file = try? source.pageFile(), let schema = source.schema.table(map.tables[table].name.name),
            !schema.columns.contains(where: { $0.isGenerated || $0.hasDefault })
        else { return nil }
        key = plan.cells[path.link.column]
        cells = RowBatch()
        var shape = RowShape(table: map.tables[table].name)
        let cell = shape.index(of: .column(map.tables[table].columns[path.column]))
        guard let rows = try? RowMap(RowMap.cells(shape, of: schema), defaults: schema.columns.map { _ in .null })
        else { return nil }
        var places: [UInt32] = []
        let title = "table \(map.tables[table].name.name)"
        var pages = PageSource(
            TableReader(
                file, root: Int(schema.rootPage), after: nil,
                claims: PageClaims(pageCount: file.layout.pageCount)),
            title: title)
        let (batch, view, writer) = (RowBatch(), RowView(rows), RecordWriter(capacity: 1))
        let limits = BatchLimits(
            rows: Self.rowsAtATime, bytes: EngineOptions.pageBatchBytes(pageSize: Int(source.pageSize)))
        var more = bytesLeft > 0
        while more {
            try cancellation.check()
            more = try pages.fill(batch, limits: limits)
            for row in 0..<batch.count {
                let key = batch.rowid(at: row)
                if key < 0 { continue }
                // The rows ascend, and a key far behind the others would cost as much as all between: the rest isn't
                // held.
                guard cells.footprint + max(places.count, Int(clamping: key)) * 4 <= bytesLeft else {
                    more = false
                    break
                }
                do throws(RecordError) {
                    try view.load(row, of: batch)
                    guard let value = Self.value(of: view, cell).flatMap({ path.transfer.cell($0) }) else { continue }
                    try Self.add(value, ofRow: key, to: cells, writer)
                } catch {
                    throw EngineError(.sourceData, "\(title), row \(key): \(error.message)")
                }
                if places.count <= Int(key) { places += repeatElement(0, count: Int(key) + 1 - places.count) }
                places[Int(key)] = UInt32(cells.count)
            }
            batch.removeAll(keepingCapacity: limits.bytes * 2)
        }
        self.places = places
        bytesLeft -= cells.footprint + places.count * 4
    }

    private static func add(
        _ value: CellValue, ofRow key: Int64, to cells: RowBatch, _ writer: RecordWriter
    ) throws(RecordError) {
        let encoded = try EncodedCells([value])
        writer.begin()
        writer.append(encoded)
        // The writer only refers to its bytes.
        try withExtendedLifetime(encoded) { () throws(RecordError) in try writer.finish(into: cells, rowid: key) }
    }

    /// nil for a text that isn't UTF-8, and for NaN.
    private static func value(of view: RowView, _ cell: Int) -> CellValue? {
        if view.isNull(at: cell) { return .null }
        if let integer = view.integer(at: cell) { return .integer(integer) }
        // SQLite reads NaN as NULL: whoever needs it looks it up.
        if let real = view.real(at: cell) { return real.isNaN ? nil : .real(real) }
        let bytes = unsafe view.unsafeBytes(at: cell)
        guard view.serialType(at: cell).isText else { return unsafe .blob(Array(bytes)) }
        return unsafe String(validating: bytes, as: UTF8.self).map { .text($0) }
    }
}
