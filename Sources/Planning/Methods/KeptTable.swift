import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat

/// How a table of the source becomes one of the new store without a new record: every column stays where it is in the
/// records, integers may become others, and columns without a value come after them.
package struct KeptTable: Hashable, Sendable {
    /// The new table's columns, in the order of the records.
    package var columns: [String]
    /// How many of them the records of the source don't have.
    package var appended: Int
    /// Columns whose numbers change: Z_ENT, and the entities of links' targets.
    package var renumberings: [Renumbering]
}

extension KeptTable {
    /// Why a table can't stay as it is, in a few words.
    package struct Refusal: Error {
        package var reason: String

        init(_ reason: String) { self.reason = reason }
    }

    /// - Parameters:
    ///   - pass: the only one of the new table, and of the source's.
    ///   - before: the source's columns in the order of its records.
    ///   - types: the declared type of each new column.
    ///   - appends: whether Core Data appends columns to tables that it keeps.
    /// - Throws: why a cheaper method than making new records isn't possible.
    init(
        _ pass: RowPass, of before: [StoreSchema.Column], types: [String], appends: Bool
    ) throws(Refusal) {
        // Records that end before the column have its default, and the new text has none.
        if let column = before.first(where: \.hasDefault) { throw Refusal("column \(column.name) has a DEFAULT") }
        if let reason = pass.selection { throw Refusal(reason) }
        var places = [Int?](repeating: nil, count: before.count)
        var appended: [Int] = []
        var renumberings: [Renumbering] = []
        for column in pass.destinationColumns.indices {
            guard let fate = ColumnFate(column, of: pass) else {
                throw Refusal("column \(pass.destinationColumns[column]) gets new values")
            }
            guard let cell = fate.cell else {
                appended.append(column)
                continue
            }
            guard case .column(let name) = pass.shape.cells[cell],
                let place = before.firstIndex(where: { $0.name.lowercased() == name.name.lowercased() })
            else { throw Refusal("column \(pass.destinationColumns[column]) comes from another table") }
            guard places[place] == nil else { throw Refusal("column \(before[place].name) is copied") }
            guard Affinity(before[place].declaredType) == Affinity(types[column]) else {
                throw Refusal("column \(before[place].name) gets another type")
            }
            places[place] = column
            if !fate.numbers.isEmpty { renumberings.append(Renumbering(place: place, numbers: fate.numbers)) }
        }
        if let gone = places.firstIndex(of: nil) { throw Refusal("column \(before[gone].name) goes") }
        guard appended.isEmpty || appends else { throw Refusal("its framework version doesn't append columns") }
        columns = (places.compactMap(\.self) + appended).map { pass.destinationColumns[$0] }
        self.appended = appended.count
        self.renumberings = renumberings
    }

    /// Whether numbers change: the table's pages are patched.
    package var isPatched: Bool { !renumberings.isEmpty }
}
