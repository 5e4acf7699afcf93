import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat

/// Whether a table can be rebuilt from the source's pages: its one pass reads its source table in rowid order, cell by
/// cell, and every row keeps its rowid. What SQLite would do with a value as it stores it (affinity) must be done
/// already.
struct TableRebuilding {
    /// Of the store that the step reads.
    let before: RecordColumns
    /// Of the store that it makes.
    let after: RecordColumns

    /// Why a table can't be rebuilt from pages; nil where it can.
    func reason(against passes: [RowPass]) -> String? {
        guard let pass = passes.first, passes.count == 1 else { return "several passes fill it" }
        let shape = pass.shape
        // Join tables keep the source's order: only the statement that fills their index is faster in the key's.
        guard shape.order.isEmpty || pass.kind == .links else { return "its rows are sorted" }
        guard case .rowID = shape.rowOrder, pass.key != nil || pass.kind == .links else {
            return "its rows have no rowid of their own"
        }
        guard shape.conditions.isEmpty else { return pass.selection }
        let isOwn = shape.cells.allSatisfy { if case .column = $0 { true } else { false } }
        guard isOwn else { return "some of its cells are looked up in other tables" }
        guard let before = before.columns(of: pass.sourceTable),
            let after = after.columns(of: pass.destinationTable)
        else { return "its columns aren't known" }
        if before.contains(where: \.isGenerated) { return "it has a generated column" }
        // The default would have to be computed as SQLite computes it.
        if before.contains(where: \.hasDefault) { return "it has a column with a DEFAULT" }
        guard pass.key.map({ keepsRowIDs(pass, key: $0, after) }) ?? true else { return "its rows get other rowids" }
        return storedOtherwise(pass, before, after).map {
            "column \($0): SQLite stores some of its values in another form"
        }
    }

    // MARK: - Rows and values

    /// Whether the rowid of every row is the cell `key` of the pass, before and after.
    private func keepsRowIDs(_ pass: RowPass, key: Int, _ after: [StoreSchema.Column]) -> Bool {
        guard case .column(let name) = pass.shape.cells[key], isRowID(name.name, in: pass) else { return false }
        let table = StoreSchema.Table(name: "", rootPage: 0, columns: after, isWithoutRowID: false)
        guard let kept = table.rowIDName,
            let place = pass.destinationColumns.firstIndex(where: { $0.lowercased() == kept.lowercased() })
        else { return false }
        return pass.projections.values.allSatisfy {
            if $0.cells.indices.contains(place), case .carry(key) = $0.cells[place] { true } else { false }
        }
    }

    private func isRowID(_ name: String, in pass: RowPass) -> Bool {
        guard let table = before.schema?.table(pass.sourceTable) else { return name == "Z_PK" }
        return table.rowIDName?.lowercased() == name.lowercased()
    }

    /// The first column whose values SQLite might store in another form than that in which the pass makes them.
    private func storedOtherwise(
        _ pass: RowPass, _ before: [StoreSchema.Column], _ after: [StoreSchema.Column]
    ) -> String? {
        func affinities(_ columns: [StoreSchema.Column]) -> [String: Affinity] {
            Dictionary(
                columns.map { ($0.name.lowercased(), Affinity($0.declaredType)) },
                uniquingKeysWith: { first, _ in first })
        }
        let (old, new) = (affinities(before), affinities(after))
        for (place, column) in pass.destinationColumns.enumerated() {
            // The rowid has no column where its name isn't one.
            guard let affinity = new[column.lowercased()] else { continue }
            for projection in pass.projections.values where projection.cells.indices.contains(place) {
                let isKept = projection.cells[place].isStored(as: affinity) { cell in
                    guard case .column(let name) = pass.shape.cells[cell] else { return nil }
                    return old[name.name.lowercased()]
                }
                guard isKept else { return column }
            }
        }
        return nil
    }
}

extension CellRecipe {
    /// Whether SQLite would store what it makes as it is, but for numbers, whose form the page engine chooses as SQLite
    /// does; and whether its length is known before (`RowPass.addedBytes`).
    ///
    /// - Parameters:
    ///   - affinity: of the destination's column.
    ///   - source: the affinity of a cell of the pass; nil where it isn't a column.
    /// - Returns: false where SQLite might store it in another form.
    fileprivate func isStored(as affinity: Affinity, _ source: (Int) -> Affinity?) -> Bool {
        func isCarried(_ cell: Int) -> Bool { source(cell) == affinity }
        switch self {
        case .carry(let cell), .key(let cell, _, _): return isCarried(cell)
        case .carryOr(let cell, let literal): return isCarried(cell) && literal.isStored(as: affinity)
        case .converted(let cell, _, let literal):
            // Texts and binary data are kept, numbers become numbers.
            let isNumeric = affinity == .numeric || affinity == .real
            return isNumeric && source(cell).map { $0 == .numeric || $0 == .real } ?? false
                && literal?.isStored(as: affinity) ?? true
        case .literal(let literal), .literalIfPresent(_, let literal): return literal.isStored(as: affinity)
        case .entityNumber: return affinity == .numeric
        case .first(let recipe, _): return recipe.isStored(as: affinity, source)
        case .prefixed, .historyBitmap: return true
        // The content of files: a batch of short rows could become one of gigabytes.
        case .inlined: return false
        }
    }
}

extension CellValue {
    /// Whether a column of this affinity stores the value as it is, numbers as numbers.
    fileprivate func isStored(as affinity: Affinity) -> Bool {
        switch self {
        case .null, .blob: true
        case .integer, .real: affinity != .text
        case .text: affinity == .text || affinity == .blob
        }
    }
}
