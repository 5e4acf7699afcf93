package import CausewayStoreFormat

/// The work for one table of the new store: how it gets its rows, and its indexes.
///
/// The seam between planning and moving rows: a loader gets works and nothing else of the plan.
package struct TableWork: Sendable {
    /// How the table gets its rows.
    package enum Method: String, Hashable, Sendable {
        /// Its pages stay at their numbers; only the schema's text changes.
        case keep
        /// Its pages stay at their numbers, and integers in them are overwritten.
        case patch
        /// Leaves are read from the source's pages, and dense leaves are written; no statement sees a row.
        case rebuild
        /// Passes read them by SELECT and write them by INSERT.
        case statements
        /// Mapping models make them as objects.
        case objects
        /// It gets none: no row of the source becomes one of this table's.
        case empty
    }

    package var table: String
    package var method: Method
    /// Why no cheaper method can make it; nil where there is none, or nobody asked.
    package var reason: String?
    /// In the order in which they fill the table.
    package var passes: [RowPass]
    package var indexes: [IndexWork]

    /// The indexes of the source whose entries are carried.
    package var carriedIndexes: [IndexWork] { indexes.filter { $0.origin != nil } }

    package init(
        table: String, method: Method, reason: String? = nil, passes: [RowPass], indexes: [IndexWork]
    ) {
        self.table = table
        self.method = method
        self.reason = reason
        self.passes = passes
        self.indexes = indexes
    }
}

/// The work for one index of the new store: how it gets its entries.
package struct IndexWork: Hashable, Sendable {
    /// How the index gets its entries.
    package enum Method: String, Hashable, Sendable {
        /// Its pages stay at their numbers.
        case keep
        /// Its pages stay at their numbers, and integers in them are overwritten.
        case patch
        /// Those of an index of the source are packed anew, in their order, though the table is rebuilt.
        case carry
        /// They are made from the table's pages and sorted, and dense pages are written.
        case sort
        /// SQLite makes them.
        case statements

        /// Whether its pages are written after those of its table.
        package var writesPages: Bool { self == .carry || self == .sort }
    }

    package var index: TableIndex
    package var method: Method
    /// Why no cheaper method can make it; nil where there is none, or nobody asked.
    package var reason: String?
    /// The source's index whose entries are carried; nil for another method.
    package var origin: CarriedEntries?

    package init(
        _ index: TableIndex, _ method: Method = .statements, reason: String? = nil, from origin: CarriedEntries? = nil
    ) {
        self.index = index
        self.method = method
        self.reason = reason
        self.origin = origin
    }
}

extension RowPass {
    /// A cell that every row of the pass carries.
    package struct CarriedCell: Hashable, Sendable {
        /// Place in the row shape.
        package var cell: Int
        /// Place among the destination's columns.
        package var column: Int

        package init(cell: Int, column: Int) {
            self.cell = cell
            self.column = column
        }
    }

    /// The cells that are carried by position alone, whatever the row's entity.
    package var carried: [CarriedCell] {
        guard let first = projections.values.first else { return [] }
        return destinationColumns.indices.compactMap { column in
            guard first.cells.indices.contains(column), case .carry(let cell) = first.cells[column] else { return nil }
            let isEverywhere = projections.values.allSatisfy {
                if $0.cells.indices.contains(column), case .carry(cell) = $0.cells[column] { return true }
                return false
            }
            return isEverywhere ? CarriedCell(cell: cell, column: column) : nil
        }
    }
}

extension StepPlan {
    /// Includes those that copy join tables of mapping models.
    package var allPasses: [RowPass] { passes + (objects?.joins ?? []).flatMap(\.work.passes) }

    /// The work on every table, those with passes first, in the order of the passes.
    package var works: [TableWork] {
        let indexes = Dictionary(grouping: indexes) { $0.table.lowercased() }
        func work(_ table: String, _ method: TableWork.Method, _ passes: [RowPass]) -> TableWork {
            let choice = methods.tables[table]
            return TableWork(
                table: table, method: choice?.method ?? method, reason: choice?.reason, passes: passes,
                indexes: (indexes[table.lowercased()] ?? []).map { index in
                    let choice = methods.indexes[index.name]
                    let origin = choice?.method == .carry ? methods.carriedIndexes[index.name] : nil
                    return IndexWork(index, choice?.method ?? .statements, reason: choice?.reason, from: origin)
                })
        }
        var order: [String] = []
        var passesByTable: [String: [RowPass]] = [:]
        for pass in passes {
            if passesByTable[pass.destinationTable] == nil { order.append(pass.destinationTable) }
            passesByTable[pass.destinationTable, default: []].append(pass)
        }
        let moved = order.map { work($0, .statements, passesByTable[$0] ?? []) }
        let made = statements.tableStatements.map(\.name).filter { passesByTable[$0] == nil }
        return moved + made.map { work($0, objects == nil ? .empty : .objects, []) }
    }

    /// Whether passes read all of their rows out of pages, whose structure is checked there.
    package var passesReadOnlyPages: Bool { passes.allSatisfy(isOfPages) }

    /// Tables of the source whose rows are all read out of pages.
    package var tablesOfPages: Set<String> {
        guard objects == nil else { return [] }
        let others = Set(passes.filter { !isOfPages($0) }.map(\.sourceTable))
        return Set(passes.map(\.sourceTable)).subtracting(others)
    }

    private func isOfPages(_ pass: RowPass) -> Bool {
        switch methods.tables[pass.destinationTable]?.method {
        case .keep, .patch, .rebuild: true
        case .statements, .objects, .empty, nil: false
        }
    }
}
