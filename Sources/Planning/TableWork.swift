package import CausewayStoreFormat

/// What is done for one table of the new store: how its rows come into it, and which indexes it gets.
///
/// The seam between what is planned and what moves rows: a loader takes works and nothing else of the plan.
package struct TableWork: Sendable {
    /// How the rows come into the table.
    package enum Method: String, Hashable, Sendable {
        /// Passes read them by SELECT and write them by INSERT.
        case statements
        /// Mapping models make them as objects.
        case objects
        /// There are none: no row of the source becomes one of this table's.
        case empty
    }

    package var table: String
    package var method: Method
    /// In the order in which they fill the table.
    package var passes: [RowPass]
    package var indexes: [TableIndex]

    package init(table: String, method: Method, passes: [RowPass], indexes: [TableIndex]) {
        self.table = table
        self.method = method
        self.passes = passes
        self.indexes = indexes
    }
}

extension RowPass {
    /// A cell that every row of the pass takes over as it is.
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

    /// The cells that are carried by position alone, whatever a row's entity is.
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
    /// Those that copy join tables of mapping models, too.
    package var allPasses: [RowPass] { passes + (objects?.joins ?? []).flatMap(\.work.passes) }

    /// The work on every table, those with passes first, in the order of the passes.
    package var works: [TableWork] {
        let indexes = Dictionary(grouping: indexes) { $0.table.lowercased() }
        func work(_ table: String, _ method: TableWork.Method, _ passes: [RowPass]) -> TableWork {
            TableWork(table: table, method: method, passes: passes, indexes: indexes[table.lowercased()] ?? [])
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
}
