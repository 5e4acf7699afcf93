import CausewayEvaluation

/// Neighbouring source rows of an entity that have become neighbouring rows of another: their keys grow together.
package struct AssociationRun: Hashable, Sendable {
    package var mapping: Int
    package var sourceEntity: Int32
    /// The key of the first source row.
    package var source: Int64
    package var entity: Int32
    /// The key of its row.
    package var destination: Int64
    package var count: Int64

    /// Whether a run goes on where this one ends.
    func isContinued(by next: AssociationRun) -> Bool {
        mapping == next.mapping && sourceEntity == next.sourceEntity && entity == next.entity
            && source &+ count == next.source && destination &+ count == next.destination && source < next.source
    }

    /// The row of a source row; nil for one that isn't of the run.
    func destination(of key: Int64) -> ObjectID? {
        guard key >= source, UInt64(bitPattern: key &- source) < UInt64(count) else { return nil }
        return ObjectID(side: .destination, entity: entity, key: destination &+ (key &- source))
    }

    /// Rows with keys that follow each other, as runs.
    ///
    /// - Parameters:
    ///   - keys: of the source rows, ascending.
    ///   - first: the key of the first one's row.
    ///   - sourceEntity: Z_ENT of the source rows.
    ///   - entity: Z_ENT of theirs.
    ///   - mapping: its place in the step.
    /// - Returns: the runs, in their order.
    package static func runs(
        of keys: [Int64], from first: Int64, sourceEntity: Int32, entity: Int32, mapping: Int
    ) -> [AssociationRun] {
        var runs: [AssociationRun] = []
        for (place, key) in keys.enumerated() {
            let run = AssociationRun(
                mapping: mapping, sourceEntity: sourceEntity, source: key, entity: entity,
                destination: first &+ Int64(place), count: 1)
            if let last = runs.last, last.isContinued(by: run) {
                runs[runs.count - 1].count += 1
            } else {
                runs.append(run)
            }
        }
        return runs
    }
}
