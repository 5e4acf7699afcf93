import CausewayObjects
import CausewayPlanning
import CausewaySQLiteFile
import CausewayStores

/// A worker of a pass for several entity mappings: makes the rows of a batch by all of them, and packs these in the
/// order of their keys.
final class JointWork {
    /// One mapping's part.
    private struct Member {
        let passing: RowPassing
        let steps: Int
        let inferred: InferredRowsInspection?
    }

    private let base: InferredRows.Maker?
    private let members: [Member]
    /// Of the steps: shared by the mappings, as each has all of its step's.
    private let sessions: [MigrationSession]
    private var division: RowDivision
    private let packer: LeafPacker
    /// Rows of several mappings, in the order of their keys.
    private let merged = RowBatch()
    private let title: String
    /// Bytes that are kept from one batch to the next, and by one mapping.
    private let (limit, share): (Int, Int)

    /// - Parameters:
    ///   - passes: of the mappings, 1 at least.
    ///   - worker: its place.
    ///   - pageSize: of the new store.
    /// - Throws: where a default is too large; a policy's error.
    init(_ passes: [MappedPass], worker: Int, pageSize: Int) throws(EngineError) {
        var sessions: [MigrationSession] = []
        var members: [Member] = []
        for pass in passes {
            let passing = try RowPassing(afterInferred: pass.way, worker: worker, sessions: &sessions)
            let questions = pass.model.run.projected?.questions(ofTable: pass.table, entity: pass.destination) ?? []
            let inferred = try pass.last.map { rows throws(EngineError) in
                try InferredRowsInspection(rows, questions)
            }
            members.append(Member(passing: passing, steps: pass.way.stops.count, inferred: inferred))
        }
        (self.sessions, self.members) = (sessions, members)
        base = try passes[0].way.base?.makeMaker()
        division = RowDivision(passes.map { $0.way.stops[0] })
        packer = LeafPacker(pageSize: pageSize)
        title = passes[0].title
        limit = passes[0].way.reading.limits.bytes * 4
        // Of hundreds of mappings the memory would add up.
        share = max(limit / passes.count, 1 << 16)
    }

    /// Makes the rows of a batch.
    ///
    /// - Throws: the first row of the first mapping that can't be made.
    func make(_ batch: inout JointPass.Batch) throws(EngineError) {
        let rows = try base?.make(batch.input, keepingCapacity: limit) ?? batch.input
        batch.dropped = base?.dropped ?? 0
        try division.divide(rows)
        batch.others = division.others
        var made: [RowBatch] = []
        for (place, member) in members.enumerated() {
            let own = division.rows[place]
            batch.owned[place] = own.count
            made.append(try make(rows, only: own, member, into: &batch.passed[place]))
        }
        try merge(rows, made)
        do throws(PageBuildError) {
            try packer.pack(merged, into: batch.leaves)
        } catch {
            throw EngineError(writing: error, during: title)
        }
    }

    /// - Returns: the records of one mapping, until the next batch.
    private func make(
        _ rows: RowBatch, only own: [Int], _ member: Member, into passed: inout PassedRows
    ) throws(EngineError) -> RowBatch {
        let records = try member.passing.pass(rows, only: own, keepingCapacity: share, into: &passed)
        guard let inferred = member.inferred else { return records }
        return try inferred.make(records, keepingCapacity: share, into: &passed.made[member.steps])
    }

    /// Puts the records of all mappings into the order of the source rows, whose keys they have.
    private func merge(_ rows: RowBatch, _ made: [RowBatch]) throws(EngineError) {
        merged.removeAll(keepingCapacity: limit)
        var next = made.map { _ in 0 }
        for (row, owner) in division.owners.enumerated() where owner >= 0 {
            let (records, place) = (made[owner], next[owner])
            guard place < records.count, records.rowid(at: place) == rows.rowid(at: row) else { continue }
            do throws(RecordError) {
                try unsafe merged.append(rowid: records.rowid(at: place), record: records.record(at: place))
            } catch {
                throw EngineError(.verification, "\(title): \(error.message)")
            }
            next[owner] += 1
        }
        guard zip(next, made).allSatisfy({ $0 == $1.count }) else {
            throw EngineError(.verification, "\(title): rows of a worker are missing", remedy: "please report this")
        }
    }

    /// All rows are made.
    ///
    /// - Throws: a policy's error.
    func end() throws(EngineError) { for member in members { try member.passing.end() } }

    /// Ends the sessions' statements.
    func close() {
        for member in members { member.passing.close() }
        for session in sessions { session.close() }
    }
}
