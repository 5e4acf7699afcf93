import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewayPreparation
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// Applies a pass's projections to batches: one a worker.
final class RowProjector {
    private let pass: RowPass
    /// The source's row in hand.
    private let row: RowView
    private let maker: RowMaker
    private let external: ExternalValues
    /// Index into `programs` by the discriminator's value; the entries below 0 are the fates of `Fate`.
    private let fates: [Int]
    private let programs: [[RowOperation]]

    /// Rows of the batch in hand that belong to a dropped entity.
    private(set) var dropped = 0
    /// Rows of the batch in hand that another pass moves.
    private(set) var elsewhere = 0
    /// Rows of the batch in hand that are left out because nothing can be made of them.
    private(set) var quarantined = QuarantinedRows()

    /// nil where a bad row ends the run.
    private let screening: RowScreening?
    /// Of each program what its rows must fulfil.
    private let demands: [[RowScreening.Demand]]
    private let lines = LineBuffer()

    private let meter: DigestMeter
    /// What was made of the row in hand, read back.
    private let made: RowView

    private enum Fate {
        static let unknown = -1
        static let dropped = -2
        static let elsewhere = -3
    }

    /// - Parameters:
    ///   - pass: that of `screening` where bad rows are quarantined.
    ///   - map: where the pass's cells lie in the records; nil: in its order, as in a statement's rows.
    ///   - external: values beside the source.
    ///   - screening: nil where a bad row ends the run.
    /// - Throws: where a default value is too large.
    init(
        _ pass: RowPass, map: RowMap? = nil, external: ExternalValues, screening: RowScreening? = nil
    ) throws(EngineError) {
        self.screening = screening
        self.pass = pass
        self.external = external
        meter = DigestMeter(DigestShape(pass))
        made = RowView(capacity: pass.destinationColumns.count)
        row = map.map { RowView($0) } ?? RowView(capacity: pass.shape.cells.count)
        var compiler = RecipeCompiler(title: pass.title)
        var programs: [[RowOperation]] = []
        var demands: [[RowScreening.Demand]] = []
        let numbers = pass.projections.keys.sorted()
        let highest = max(numbers.last ?? 0, pass.dropped.max() ?? 0, pass.elsewhere.max() ?? 0)
        var fates = Array(repeating: Fate.unknown, count: highest + 1)
        for number in pass.dropped { fates[number] = Fate.dropped }
        for number in pass.elsewhere { fates[number] = Fate.elsewhere }
        for number in numbers {
            guard let projection = pass.projections[number] else { continue }
            fates[number] = programs.count
            programs.append(try compiler.compile(projection.cells))
            demands.append(screening?.demands[number] ?? [])
        }
        self.demands = demands
        self.fates = fates
        self.programs = programs
        maker = RowMaker(pass, row: row, stock: compiler.stock, external: external)
    }

    /// Projects every row of `input` into `output`.
    func project(_ input: RowBatch, into output: RowBatch) throws(EngineError) {
        (dropped, elsewhere) = (0, 0)
        quarantined = QuarantinedRows()
        for index in 0..<input.count {
            let rowid = input.rowid(at: index)
            do {
                try row.load(index, of: input)
                let fate = try fate()
                if fate >= 0 {
                    try check(demands[fate])
                    try maker.make(programs[fate], into: output)
                    try noteReferences(demands[fate], rowid: rowid)
                    try digest(output, group: fate)
                } else if fate == Fate.dropped {
                    dropped += 1
                } else {
                    elsewhere += 1
                }
            } catch let bad as BadRow {
                try quarantine(bad, rowid: rowid)
            } catch let error as EngineError {
                throw error
            } catch let error as RecordError {
                throw EngineError(.verification, "\(pass.title), row \(rowid): \(error.message)")
            } catch {
                throw EngineError(.verification, "\(pass.title), row \(rowid): \(error)")
            }
        }
    }

    /// Writes the row in hand down. Nothing of it is in the output or the digests: both take a row when it is complete.
    private func quarantine(_ bad: BadRow, rowid: Int64) throws(EngineError) {
        guard let screening else { throw EngineError(bad, table: pass.sourceTable, key: rowid) }
        let number = pass.discriminator.flatMap { row.integer(at: $0) }.flatMap { Int(exactly: $0) }
        let known = number.flatMap { pass.projections[$0] == nil ? nil : $0 }
        try QuarantineLine(screening, into: lines).write(row, key: rowid, number: known, bad)
        quarantined.add(key: rowid, number: known)
    }

    /// The lines of the quarantined rows of the batch in hand, with their keys.
    func takeQuarantined() -> QuarantinedRows {
        var result = quarantined
        quarantined = QuarantinedRows()
        result.lines = lines.take()
        return result
    }

    /// The digest of the batches projected since the last call, both sides.
    func takeDigest() -> PassDigest {
        meter.take()
    }

    /// The program's place is that of the digest's group: both count the projections by their discriminator.
    private func digest(_ output: RowBatch, group: Int) throws {
        try made.load(output.count - 1, of: output)
        guard made.count == pass.destinationColumns.count, meter.add(row, made: made, key: row.rowid, group: group)
        else {
            throw EngineError(
                .verification, "\(pass.title), row \(row.rowid): what was made of the row isn't what it carries",
                remedy: "please report this")
        }
    }

    private func fate() throws -> Int {
        guard let discriminator = pass.discriminator else { return fates[0] }
        let number = row.integer(at: discriminator)
        if let number, let index = Int(exactly: number), fates.indices.contains(index), fates[index] != Fate.unknown {
            return fates[index]
        }
        if pass.dropsUnknown { return Fate.dropped }
        if let screening, !screening.takesStrangers { return Fate.elsewhere }
        throw BadRow(
            code: .migration, property: nil,
            reason: "its Z_ENT \(number.map(String.init) ?? "NULL") names no entity of this table")
    }

    private func check(_ demands: [RowScreening.Demand]) throws {
        for demand in demands {
            switch demand {
            case .noRow(let bad): throw bad
            case .notNull(let cell, let bad): if row.isNull(at: cell) { throw bad }
            case .staying(let key, let entity, let ended, let bad):
                guard !row.isNull(at: key) else { continue }
                guard let entity else { throw bad }
                if let number = row.integer(at: entity), ended.contains(Int(clamping: number)) { throw bad }
            case .converts(let cell, let conversion, let attribute, let place):
                guard let number = row.number(at: cell), case .misfit(let misfit) = conversion.fit(of: number)
                else { continue }
                throw BadRow(code: .migration, property: attribute, reason: "\(place): \(misfit.clause)")
            case .reference: continue
            }
        }
    }

    /// Writes values down that refer to files which aren't there; the row in hand is kept as it is.
    private func noteReferences(_ demands: [RowScreening.Demand], rowid: Int64) throws(EngineError) {
        guard let screening else { return }
        for case .reference(let cell, let attribute) in demands where !row.isNull(at: cell) {
            let bytes = unsafe row.unsafeBytes(at: cell)
            guard row.serialType(at: cell).isBlob, unsafe bytes.first == ExternalValues.referencePrefix,
                let trouble = try unsafe external.trouble(with: Array(bytes.prefix(ExternalValues.referenceLength + 1)))
            else { continue }
            let bad = BadRow(
                code: .migration, property: attribute,
                reason: "\(attribute) \(trouble.complaint(in: external.directory)); the row is kept as it is")
            let number = pass.discriminator.flatMap { row.integer(at: $0) }.flatMap { Int(exactly: $0) }
            try QuarantineLine(screening, into: lines).write(row, key: rowid, number: number, bad, isKept: true)
            quarantined.kept += 1
        }
    }
}
