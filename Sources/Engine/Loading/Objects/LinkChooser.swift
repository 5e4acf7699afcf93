import CausewayEvaluation
import CausewayObjects
import CausewayPlanning
import CausewaySQLiteFile

/// The rows that a mapping without code has made, by the keys of their source rows: neighbours together.
struct KeyRuns: Sendable {
    /// Most of one mapping that are held: 24 MB.
    static let mostRuns = 1_000_000

    private var sources: [Int64] = []
    private var destinations: [Int64] = []
    private var counts: [Int64] = []

    /// - Parameter runs: of one entity's source rows, by their keys.
    init(_ runs: [AssociationRun]) {
        for run in runs {
            sources.append(run.source)
            destinations.append(run.destination)
            counts.append(run.count)
        }
    }

    /// The key of a source row's row; nil where none was made.
    func destination(of key: Int64) -> Int64? {
        var (low, high) = (0, sources.count)
        while low < high {
            let middle = (low + high) / 2
            if sources[middle] <= key { low = middle + 1 } else { high = middle }
        }
        guard low > 0, key - sources[low - 1] < counts[low - 1] else { return nil }
        return destinations[low - 1] + (key - sources[low - 1])
    }
}

/// Finds where a link leads that an expression chooses among those of the source row.
struct LinkChooser: Sendable {
    /// A row of the new store.
    struct Target {
        let key: Int64
        /// Z_ENT.
        let entity: Int64
    }

    private struct Option: Sendable {
        let option: EntityMappingPlan.LinkChoice.Option
        /// By Z_ENT of the link's target in the source: that of the new row, and the new keys where it doesn't keep its own.
        let targets: [Int32: Rows]
    }

    private struct Rows: Sendable {
        let entity: Int64
        let keys: KeyRuns?
    }

    private let options: [Option]

    /// - Parameters:
    ///   - choice: what is chosen.
    ///   - mappings: of the step.
    ///   - runs: the rows of a mapping that gives new keys.
    /// - Throws: what reading them throws.
    init(
        _ choice: EntityMappingPlan.LinkChoice, _ mappings: [EntityMappingPlan],
        runs: (Int) throws(ObjectError) -> [AssociationRun]
    ) throws(ObjectError) {
        var options: [Option] = []
        for option in choice.options {
            var targets: [Int32: Rows] = [:]
            for (number, place) in option.targets {
                let target = mappings[place]
                let keys = target.keeping == .always ? nil : KeyRuns(try runs(place))
                targets[number] = Rows(entity: Int64(target.destinationEntity ?? 0), keys: keys)
            }
            options.append(Option(option: option, targets: targets))
        }
        self.options = options
    }

    /// - Parameter row: the source row.
    /// - Returns: nil where the link is NULL.
    /// - Throws: `ObjectError` where a stored key isn't an integer.
    func target(_ row: RowView) throws(ObjectError) -> Target? {
        for each in options {
            if let condition = each.option.condition, row.isNull(at: condition.cell) != condition.isNull { continue }
            guard let cell = each.option.key, !row.isNull(at: cell) else { return nil }
            guard let key = row.integer(at: cell) else {
                throw ObjectError(.type, "row \(row.rowid): a link's stored key isn't an integer")
            }
            let stored = each.option.entity.flatMap { row.integer(at: $0) }.map { Int32(truncatingIfNeeded: $0) }
            guard let target = each.targets[stored ?? each.option.declared] else { return nil }
            guard let keys = target.keys else { return Target(key: key, entity: target.entity) }
            return keys.destination(of: key).map { Target(key: $0, entity: target.entity) }
        }
        return nil
    }
}
