import CausewayPlanning
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// Whose the rows of a table are that is read once for several entity mappings; of one thread.
struct RowDivision {
    private let form: RowStop
    private let view: RowView
    private let cell: Int
    /// The mapping's place by Z_ENT, from `first` on; −1 without one.
    private let places: [Int]
    private let first: Int64
    /// Of the last batch's rows: the place of the mapping; −1 where none takes them.
    private(set) var owners: [Int] = []
    /// By the mapping's place: its rows.
    private(set) var rows: [[Int]]
    /// Rows that none takes.
    private(set) var others = 0

    /// - Parameter forms: of the mappings: each takes the rows of another entity.
    init(_ forms: [RowStop]) {
        form = forms[0]
        view = form.input.makeView(form.plan)
        cell = form.plan.cells[TableStorage.entityNumber]
        let numbers = forms.map(\.entity)
        let (low, high) = (numbers.min() ?? 0, numbers.max() ?? 0)
        var places = Array(repeating: -1, count: Int(high - low) + 1)
        for (place, number) in numbers.enumerated() { places[Int(number - low)] = place }
        (self.places, first) = (places, Int64(low))
        rows = forms.map { _ in [] }
    }

    /// Looks at the rows of a batch.
    ///
    /// - Throws: the first that can't be read, or whose Z_ENT names no entity of the table.
    mutating func divide(_ batch: RowBatch) throws(EngineError) {
        owners.removeAll(keepingCapacity: true)
        for place in rows.indices { rows[place].removeAll(keepingCapacity: true) }
        others = 0
        for row in 0..<batch.count {
            do throws(RecordError) {
                try view.load(row, of: batch)
            } catch {
                throw form.error(error, row: batch.rowid(at: row))
            }
            let owner = place(of: view.integer(at: cell))
            owners.append(owner)
            if owner >= 0 {
                rows[owner].append(row)
            } else {
                _ = try form.input.reading?.own.contain(view)
                others += 1
            }
        }
    }

    private func place(of number: Int64?) -> Int {
        guard let number, number >= first, number - first < Int64(places.count) else { return -1 }
        return places[Int(number - first)]
    }
}
