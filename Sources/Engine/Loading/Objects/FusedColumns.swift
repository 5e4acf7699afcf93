import CausewayEvaluation
import CausewayMapping
import CausewayPlanning
import CausewaySQLiteFile
import CausewayStoreFormat

/// What the records between steps that run together need to have: what a later step calculates with, or a rule asks
/// for. A cell that all steps carry goes from the store's row straight into the last record.
struct FusedColumns {
    /// By step: places of the columns that its records have; of a step that isn't here, they have all.
    private(set) var needed: [Int: Set<Int>] = [:]
    /// Cells of the store's row by the last table's column.
    private(set) var direct: [Int: Int] = [:]

    /// One step on the way of a row.
    struct Stop {
        let plan: EntityMappingPlan
        let source: StorageMap
        /// Of the new table's columns.
        let affinities: [Affinity]
        /// Columns that rules ask for.
        let asked: Set<Int>

        init(_ plan: EntityMappingPlan, of objects: ObjectStep, asked: Set<Int>) {
            (self.plan, self.asked) = (plan, asked)
            source = objects.source
            let table = objects.destination.table(of: plan.destinationEntity ?? 0) ?? 0
            affinities = objects.destination.layout.tables[table].columns.map { Affinity($0.declaredType) }
        }

        /// Whether its plan tells which cells its rows follow from.
        var tellsCells: Bool { plan.columns != nil }

        var fills: [EntityMappingPlan.ColumnFill] { plan.columns ?? [] }

        /// The column of the source's table that a cell is of.
        func column(of cell: Int) -> Int? { plan.cells.firstIndex(of: cell) }

        /// Columns of the source's table with what filter and expressions read, and with its links.
        var read: Set<Int> {
            var keys = plan.filterKeys
            let computed = plan.attributes.filter { if case .compute = $0.origin { true } else { false } }.map(\.name)
            for property in plan.description.attributeMappings {
                // An element of a composite has its name before its own.
                guard computed.contains(where: { $0 == property.name || $0.hasPrefix(property.name + ".") }) else {
                    continue
                }
                keys.formUnion(property.expression?.keysOfSourceRow ?? [])
            }
            var columns: Set<Int> = []
            for key in keys {
                guard let handle = source.schema.handle(of: key) else { continue }
                add(handle, to: &columns)
            }
            for key in plan.keys {
                columns.formUnion([key.key, key.entity, key.place].compactMap { $0.flatMap { column(of: $0) } })
            }
            for option in plan.choices.flatMap(\.options) {
                let cells = [option.key, option.entity, option.condition?.cell]
                columns.formUnion(cells.compactMap { $0.flatMap { column(of: $0) } })
            }
            return columns
        }

        private func add(_ handle: PropertyHandle, to columns: inout Set<Int>) {
            switch source.place(of: handle, entity: plan.sourceEntity ?? 0) {
            case .attribute(let column, _): columns.insert(column)
            case .composite(let elements): for element in elements { add(element, to: &columns) }
            case .toOne, .toMany, .join, .none?, nil: break
            }
        }
    }

    /// - Parameters:
    ///   - stops: of the steps, in their order.
    ///   - isWhole: whether another step takes the last one's records, and any of their cells.
    init(_ stops: [Stop], isWhole: Bool) {
        // Code, and the pass of an inferred step, may read any cell.
        guard let last = stops.last, stops.allSatisfy(\.tellsCells) else { return }
        for (column, fill) in last.fills.enumerated() where stops.count > 1 && !isWhole {
            guard case .carry = fill else { continue }
            if let cell = Self.origin(of: column, stops) { direct[column] = cell }
        }
        var known = Set(last.fills.indices.filter { direct[$0] == nil })
        for (place, stop) in stops.enumerated().dropFirst().reversed() {
            // What a step reads, the one before it makes.
            known = stop.reads(known.contains).union(stops[place - 1].made)
            needed[place - 1] = known
        }
    }

    /// The cell of the store's row that a column of the last table gets, if all steps carry it.
    private static func origin(of column: Int, _ stops: [Stop]) -> Int? {
        var column = column
        let affinity = stops.last?.affinities[column]
        for (place, stop) in stops.enumerated().reversed() {
            guard stop.affinities[column] == affinity, case .carry(let cell) = stop.fills[column] else { return nil }
            if place == 0 { return cell }
            guard let before = stop.column(of: cell) else { return nil }
            column = before
        }
        return nil
    }
}

extension FusedColumns.Stop {
    /// Columns that a step makes whether a later one needs them or not: a value that can't be made is an error.
    fileprivate var made: Set<Int> {
        asked.union(
            fills.indices.filter { column in
                switch fills[column] {
                case .constant, .carry: false
                case .compute, .key, .keyEntity, .keyPlace, .choice, .choiceEntity: true
                }
            })
    }

    /// Columns of the source's table that it needs to make some of its own.
    fileprivate func reads(_ isNeeded: (Int) -> Bool) -> Set<Int> {
        var columns = read
        for (place, fill) in fills.enumerated() where isNeeded(place) {
            if case .carry(let cell) = fill, let column = column(of: cell) { columns.insert(column) }
        }
        return columns
    }
}
