import CausewayPlanning
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// What is looked at in the records of tables that stay, while their pages are copied: how many there are, of which
/// entities, and whether they have entity numbers that a run which reads rows would refuse or end.
struct KeptRecords {
    private let step: StepPlan
    private let schema: StoreSchema
    /// Of tables whose rows are objects, by the new name.
    private let passes: [String: RowPass]

    init(step: StepPlan, schema: StoreSchema) {
        (self.step, self.schema) = (step, schema)
        passes = Dictionary(
            step.keptPasses.filter { $0.kind == .entity }.map { ($0.destinationTable, $0) },
            uniquingKeysWith: { first, _ in first })
    }

    static let entityColumn = "Z_ENT"

    /// The integers of a table's records, or of an index's entries, with what becomes of them.
    ///
    /// - Parameters:
    ///   - kept: what stays.
    ///   - tree: its own, in the source.
    /// - Returns: the patch; of numbers that stay, each becomes itself.
    func patch(of kept: SchemaEdit.Kept, _ tree: TreeRoot) -> TreePatch {
        let numbers = step.methods.renumberings(of: kept)
        do throws(PatchRefusal) {
            guard kept.kind == .table, let pass = passes[kept.newName], let table = schema.table(kept.name) else {
                return try TreePatch(
                    tree,
                    numbers.map { (column) throws(PatchRefusal) in
                        ColumnPatch(column: column.place, map: try IntegerMap(column.numbers, others: .refuse))
                    })
            }
            let changed = Dictionary(numbers.map { ($0.place, $0.numbers) }, uniquingKeysWith: { first, _ in first })
            var columns: [ColumnPatch] = []
            for (name, staying) in pass.entityNumbers {
                guard let place = table.position(of: name) else { continue }
                let isOwn = name == Self.entityColumn
                let map = changed[place] ?? Dictionary(uniqueKeysWithValues: staying.map { ($0, $0) })
                columns.append(
                    ColumnPatch(column: place, map: try IntegerMap(map, others: .refuse), refusesNull: isOwn))
            }
            return try TreePatch(tree, columns)
        } catch {
            preconditionFailure("\(kept.name) was planned to stay, and can't: \(error)")
        }
    }

}

extension RowPass {
    /// The columns of the source with entity numbers: Z_ENT, with those of the table's rows, then those of links'
    /// targets, each with the numbers that stay the same in all of its rows; others end or change.
    fileprivate var entityNumbers: [(column: String, numbers: [Int64])] {
        var links: [Int: Set<Int64>] = [:]
        for projection in projections.values {
            for case .entityNumber(let cell, numbers: let numbers) in projection.cells {
                let staying = Set(numbers.filter { $0.key == $0.value }.map { Int64($0.key) })
                links[cell] = links[cell]?.intersection(staying) ?? staying
            }
        }
        let named = links.sorted { $0.key < $1.key }.compactMap { cell, numbers -> (String, [Int64])? in
            guard case .column(let name) = shape.cells[cell] else { return nil }
            return (name.name, numbers.sorted())
        }
        return [(KeptRecords.entityColumn, projections.keys.sorted().map { Int64($0) })] + named
    }
}

extension KeptRows {
    /// - Parameters:
    ///   - counts: of a whole copy.
    ///   - patches: those of the copy's plan.
    ///   - names: the new name of the table that each is of; nil for indexes.
    init(_ counts: PatchCounts, _ patches: [TreePatch], _ names: [String?]) {
        for (place, name) in names.enumerated() {
            guard let name else { continue }
            let tree = counts.trees[place]
            tables[name, default: 0] += tree.records
            guard let own = patches[place].columns.firstIndex(where: \.refusesNull) else { continue }
            for (pair, count) in zip(patches[place].columns[own].map.pairs, tree.columns[own].values) {
                entities[Int(pair.new), default: 0] += count
            }
        }
    }
}
