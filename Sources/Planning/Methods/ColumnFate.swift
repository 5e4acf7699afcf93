import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat

/// What all rows of a pass have in one column: a cell of the source, perhaps as another number, or nothing.
struct ColumnFate {
    /// nil: NULL in every row.
    private(set) var cell: Int?
    /// The new number by the old one, if any differ; empty: carried.
    private(set) var numbers: [Int64: Int64] = [:]

    /// nil where rows get other values.
    init?(_ column: Int, of pass: RowPass) {
        var numbers: [Int64: Int64] = [:]
        var isCarried = false
        for (entity, projection) in pass.projections {
            guard projection.cells.indices.contains(column) else { return nil }
            switch projection.cells[column] {
            case .carry(let own):
                guard take(own) else { return nil }
                isCarried = true
            case .literal(.integer(let number)):
                // Z_ENT: the number of the row's entity.
                guard let discriminator = pass.discriminator,
                    isNamed(pass.destinationColumns[column], discriminator, pass), take(discriminator)
                else { return nil }
                numbers[Int64(entity)] = number
            case .entityNumber(let own, let map):
                guard take(own) else { return nil }
                for (from, to) in map {
                    let before = numbers.updateValue(Int64(to), forKey: Int64(from))
                    if let before, before != Int64(to) { return nil }
                }
            case .literal(.null):
                if cell != nil { return nil }
                continue
            default: return nil
            }
        }
        let hasNulls = pass.projections.values.contains {
            if case .literal(.null) = $0.cells[column] { true } else { false }
        }
        if cell != nil, hasNulls || isCarried && !numbers.isEmpty { return nil }
        if numbers.contains(where: { $0.key != $0.value }) { self.numbers = numbers }
    }

    private func isNamed(_ column: String, _ cell: Int, _ pass: RowPass) -> Bool {
        guard case .column(let name) = pass.shape.cells[cell] else { return false }
        return name.name == column
    }

    /// All rows must have the same cell.
    private mutating func take(_ own: Int) -> Bool {
        if let cell, cell != own { return false }
        cell = own
        return true
    }
}
