import CausewayEvaluation
import CausewaySQLite

/// Rows that follow from their source rows in order, and get keys of their own: recorded by runs, not row by row.
extension Associations {
    /// Adds the rows of a batch.
    ///
    /// - Parameter runs: behind all of the same mapping so far.
    /// - Throws: `ObjectError` with `.store`.
    package func record(_ runs: [AssociationRun]) throws(ObjectError) {
        for run in runs {
            try insert(run)
            journal?.append(run)
        }
    }

    func insert(_ run: AssociationRun) throws(ObjectError) {
        noteEntries(of: run.mapping, from: run.sourceEntity)
        try ObjectError.at("the associations") {
            if let last = lastRuns[run.mapping], last.isContinued(by: run) {
                let box = try statements.statement(
                    "UPDATE run SET count = count + ?1 WHERE mapping = ?2 AND sourceEntity = ?3 AND source = ?4",
                    run.count, Int64(run.mapping), Int64(run.sourceEntity))
                try box.statement.bind(last.source, at: 4)
                try box.statement.run()
                lastRuns[run.mapping]?.count += run.count
                return
            }
            let box = try statements.statement(
                "INSERT INTO run VALUES (?, ?, ?, ?, ?, ?)", Int64(run.mapping), Int64(run.sourceEntity), run.source)
            try box.statement.bind(Int64(run.entity), at: 4)
            try box.statement.bind(run.destination, at: 5)
            try box.statement.bind(run.count, at: 6)
            try box.statement.run()
            lastRuns[run.mapping] = run
        }
    }

    /// All runs of a mapping, by entity and key of the source rows.
    ///
    /// - Parameters:
    ///   - mapping: its place in the step.
    ///   - limit: most of them.
    /// - Returns: nil where there are more.
    /// - Throws: `ObjectError` with `.store`.
    package func runs(of mapping: Int, atMost limit: Int) throws(ObjectError) -> [AssociationRun]? {
        guard lastRuns[mapping] != nil else { return [] }
        let runs = try self.runs(
            "mapping = ?1 ORDER BY sourceEntity, source LIMIT ?2", Int64(mapping), Int64(limit) + 1)
        return runs.count > limit ? nil : runs
    }

    /// The row of a source row.
    func runDestination(of source: ObjectID, mapping: Int) throws(ObjectError) -> ObjectID? {
        guard lastRuns[mapping] != nil else { return nil }
        return try runs(
            "mapping = ?1 AND sourceEntity = ?2 AND source <= ?3 ORDER BY source DESC LIMIT 1", Int64(mapping),
            Int64(source.entity), source.key
        ).first?.destination(of: source.key)
    }

    /// The source row of a row.
    func runSource(of destination: ObjectID, mapping: Int) throws(ObjectError) -> ObjectID? {
        guard lastRuns[mapping] != nil else { return nil }
        if !hasReverseRuns {
            try run("CREATE INDEX runByDestination ON run(mapping, destination)")
            hasReverseRuns = true
        }
        let found = try runs(
            "mapping = ?1 AND destination <= ?2 ORDER BY destination DESC LIMIT 1", Int64(mapping), destination.key
        ).first
        // The run begins at this key or before it.
        guard let found, found.entity == destination.entity,
            UInt64(bitPattern: destination.key &- found.destination) < UInt64(found.count)
        else { return nil }
        return ObjectID(
            side: .source, entity: found.sourceEntity, key: found.source &+ (destination.key &- found.destination))
    }

    /// Up to `limit` rows after a place; a run's row comes before other entries of its source row.
    func everyRow(
        of mapping: Int, after place: (entity: Int32, source: Int64, ordinal: Int64), limit: Int
    ) throws(ObjectError) -> [(source: ObjectID, destination: ObjectID?, ordinal: Int64)] {
        guard lastRuns[mapping] != nil else { return [] }
        // Of the row at the place itself only entries with larger ordinals are left.
        let isDone = place.source > .min || place.ordinal > 0
        let isLast = place.source == .max
        let next = isDone && !isLast ? place.source + 1 : place.source
        var result: [(source: ObjectID, destination: ObjectID?, ordinal: Int64)] = []
        // The run that has the next key, or those behind it.
        let holding = try runs(
            "mapping = ?1 AND sourceEntity = ?2 AND source <= ?3 ORDER BY source DESC LIMIT 1", Int64(mapping),
            Int64(place.entity), next
        ).first
        let found = try runs(
            "mapping = ?1 AND (sourceEntity, source) >= (?2, ?3) ORDER BY sourceEntity, source LIMIT 4096",
            Int64(mapping), Int64(place.entity), holding?.source ?? next)
        for run in found where !(isLast && run.sourceEntity == place.entity) {
            let first = run.sourceEntity == place.entity ? max(run.source, next) : run.source
            let left = run.count - Int64(clamping: UInt64(bitPattern: first &- run.source))
            for step in 0..<max(0, min(left, Int64(limit - result.count))) {
                let key = first &+ step
                result.append(
                    (
                        ObjectID(side: .source, entity: run.sourceEntity, key: key), run.destination(of: key),
                        Self.runOrdinal
                    ))
            }
        }
        return result
    }

    /// The ordinal of a run's row; those of other entries begin with 1.
    private static var runOrdinal: Int64 { 0 }

    private func runs(
        _ condition: String, _ first: Int64, _ second: Int64, _ third: Int64? = nil
    ) throws(ObjectError) -> [AssociationRun] {
        try ObjectError.at("the associations") {
            let box = try statements.statement(
                "SELECT mapping, sourceEntity, source, entity, destination, count FROM run WHERE \(condition)", first,
                second, third)
            return try box.statement.rows { row throws(SQLiteError) in
                AssociationRun(
                    mapping: Int(row.int64(at: 0)), sourceEntity: Int32(truncatingIfNeeded: row.int64(at: 1)),
                    source: row.int64(at: 2), entity: Int32(truncatingIfNeeded: row.int64(at: 3)),
                    destination: row.int64(at: 4), count: row.int64(at: 5))
            }
        }
    }
}
