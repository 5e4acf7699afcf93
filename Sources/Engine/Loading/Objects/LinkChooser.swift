import CausewayEvaluation
import CausewayObjects
import CausewayPlanning
import CausewaySQLiteFile
import CausewayStores

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
        /// By Z_ENT of the link's target in the source: that of the new row, and the new keys where it doesn't keep its
        /// own.
        let targets: [Int32: Rows]
    }

    private struct Rows: Sendable {
        let entity: Int64
        let keys: KeyRuns?
        /// The largest key that one of them can have kept.
        let largest: Int64
    }

    private let options: [Option]
    /// The relationship's, for messages.
    private let name: String

    /// - Parameters:
    ///   - choice: what is chosen.
    ///   - mappings: of the step.
    ///   - keys: of the rows of a mapping that gives new ones.
    ///   - largestKept: the largest key that a row of an entity can have kept.
    /// - Throws: what reading them throws.
    init(
        _ choice: EntityMappingPlan.LinkChoice, _ mappings: [EntityMappingPlan],
        keys: (Int) throws(EngineError) -> KeyRuns?, largestKept: (Int32) -> Int64
    ) throws(EngineError) {
        var options: [Option] = []
        for option in choice.options {
            var targets: [Int32: Rows] = [:]
            for (number, place) in option.targets {
                let target = mappings[place]
                let own = target.keeping == .always ? nil : try keys(place) ?? KeyRuns([])
                let entity = target.destinationEntity ?? 0
                targets[number] = Rows(entity: Int64(entity), keys: own, largest: largestKept(entity))
            }
            options.append(Option(option: option, targets: targets))
        }
        self.options = options
        name = choice.relationship.name
    }

    /// - Parameters:
    ///   - row: the source row.
    ///   - ended: raised for a link to a row that wasn't made.
    /// - Returns: nil where the link is NULL.
    /// - Throws: `ObjectError` where a stored key isn't an integer.
    func target(_ row: RowView, _ ended: inout Int) throws(ObjectError) -> Target? {
        for each in options {
            if let condition = each.option.condition, row.isNull(at: condition.cell) != condition.isNull { continue }
            guard let cell = each.option.key, !row.isNull(at: cell) else { return nil }
            guard let key = row.integer(at: cell) else {
                throw ObjectError(.type, "\(name): the stored key of the link that it is made from isn't an integer")
            }
            let stored = each.option.entity.flatMap { row.integer(at: $0) }.map { Int32(truncatingIfNeeded: $0) }
            guard let target = each.targets[stored ?? each.option.declared] else { return nil }
            // A link to no row may have a key that a new row gets.
            let found = target.keys.map { $0.destination(of: key) } ?? (key <= target.largest ? key : nil)
            if let found { return Target(key: found, entity: target.entity) }
            ended += 1
            return nil
        }
        return nil
    }
}
