import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewayPreparation
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// Applies a pass's projections to batches: one per worker.
final class RowProjector {
    private let pass: RowPass
    /// The current source row.
    private let row: RowView
    private let maker: RowMaker
    private let external: ExternalValues
    /// Index into `programs` by the discriminator's value; entries below 0 are values of `Fate`.
    private let fates: [Int]
    private let programs: [[RowOperation]]

    /// Rows of the current batch that belong to a dropped entity.
    private(set) var dropped = 0
    /// Rows of the current batch that another pass moves.
    private(set) var elsewhere = 0
    /// Bad rows of the current batch that are left out.
    private(set) var quarantined = QuarantinedRows()

    /// nil if a bad row stops the run.
    private let screening: RowScreening?
    /// For each program, the demands on its rows.
    private let demands: [[RowScreening.Demand]]
    /// For each program, the cells whose external value may become NULL.
    private let optional: [[Int]]
    private let lines = LineBuffer()

    private let meter: DigestMeter
    private let takesSums: Bool
    /// Rows since the last digest that were spliced, and what it gets of records.
    private var spliced = 0
    private var records = EntrySum()
    private var entries: [EntrySum] = []
    /// The new row, read back.
    private let made: RowView

    private enum Fate {
        static let unknown = -1
        static let dropped = -2
        static let elsewhere = -3
    }

    /// - Parameters:
    ///   - pass: that of `screening` if bad rows are quarantined.
    ///   - map: where the pass's cells are in the records; nil: in its order, as in a statement's rows.
    ///   - external: values beside the source.
    ///   - screening: nil if a bad row stops the run.
    ///   - takesSums: whether cells are compared and digested; else rows are only counted.
    /// - Throws: where a default value is too large.
    init(
        _ pass: RowPass, map: RowMap? = nil, external: ExternalValues, screening: RowScreening? = nil,
        takesSums: Bool = true
    ) throws(EngineError) {
        self.screening = screening
        self.pass = pass
        self.external = external
        self.takesSums = takesSums
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
        optional = numbers.map { screening?.optional[$0] ?? [] }
        self.fates = fates
        self.programs = programs
        maker = RowMaker(pass, row: row, stock: compiler.stock, external: external)
    }

    /// Projects every row of `input` into `output`.
    func project(_ input: RowBatch, into output: RowBatch) throws(EngineError) {
        begin()
        for index in 0..<input.count { try project(index, of: input, into: output) }
    }

    /// Begins a batch whose rows come one by one.
    func begin() {
        (dropped, elsewhere) = (0, 0)
        quarantined = QuarantinedRows()
    }

    /// Projects a row of `input`: puts it at the end of `output`, or counts it.
    func project(_ index: Int, of input: RowBatch, into output: RowBatch) throws(EngineError) {
        let rowid = input.rowid(at: index)
        do {
            try row.load(index, of: input)
            let fate = try fate()
            if fate >= 0 {
                try check(demands[fate])
                try maker.make(programs[fate], optional: optional[fate], into: output)
                try noteReferences(demands[fate], rowid: rowid)
                for bad in maker.setAside { try note(bad, "the value is set aside, the row is kept", rowid: rowid) }
                try digest(output, group: fate)
            } else if fate == Fate.dropped {
                dropped += 1
            } else {
                elsewhere += 1
            }
        } catch let bad as BadRow {
            try quarantine(bad, rowid: rowid)
        } catch let error as RecordError {
            throw EngineError(.verification, "\(pass.title), row \(rowid): \(error.message)")
        } catch {
            throw EngineError(error, during: "\(pass.title), row \(rowid)")
        }
    }

    /// The discriminator's value in the current row.
    private var number: Int? { pass.discriminator.flatMap { row.integer(at: $0) }.flatMap { Int(exactly: $0) } }

    /// Writes the current row's line. The row is neither in the output nor in the digests: both get only complete rows.
    private func quarantine(_ bad: BadRow, rowid: Int64) throws(EngineError) {
        guard let screening else { throw EngineError(bad, table: pass.sourceTable, key: rowid) }
        let known = number.flatMap { pass.projections[$0] == nil ? nil : $0 }
        try QuarantineLine(screening, into: lines).write(row, key: rowid, number: known, bad)
        quarantined.add(key: rowid, number: known)
    }

    /// The lines of the current batch's quarantined rows, with their keys.
    func takeQuarantined() -> QuarantinedRows {
        var result = quarantined
        quarantined = QuarantinedRows()
        result.lines = lines.take()
        return result
    }

    /// The digest of the batches projected since the last call, both sides.
    func takeDigest() -> PassDigest {
        var digest = meter.take()
        digest.isSummed = takesSums && spliced == 0
        digest.records = records
        digest.entries = entries
        (spliced, records, entries) = (0, EntrySum(), [])
        return digest
    }

    /// Counts rows that weren't projected, but spliced.
    ///
    /// - Parameters:
    ///   - rows: of one projection.
    ///   - cells: of each column that its digest covers, those that aren't NULL; empty where sums aren't taken.
    ///   - group: place of the projection among those of the pass, by number.
    func count(spliced rows: Int, cells: [Int], group: Int) {
        spliced += rows
        meter.add(rows: rows, cells: cells, group: group)
    }

    /// Takes the sum of the records of a pass that splices rows: those that were projected are among them.
    func note(_ sum: EntrySum) { records.add(sum) }

    /// Takes what the rows of the batch have in carried indexes.
    func note(entries: [EntrySum]) { self.entries = entries }

    /// Program and digest group have the same index: both are sorted by the discriminator.
    private func digest(_ output: RowBatch, group: Int) throws {
        if !takesSums { return meter.add(rows: 1, cells: [], group: group) }
        try made.load(output.count - 1, of: output)
        guard made.count == pass.destinationColumns.count, meter.add(row, made: made, key: row.rowid, group: group)
        else {
            throw EngineError(
                .verification,
                "\(pass.title), row \(row.rowid): the new row differs from the source row that it carries",
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
            case .first(let place, let bad):
                if let number = row.integer(at: place), number != CellRecipe.firstPosition { throw bad }
            case .entityNumber(let cell, let relationship):
                guard row.integer(at: cell) == nil, !row.isNull(at: cell) else { continue }
                throw BadRow(
                    code: .migration, property: relationship, reason: "\(relationship): \(LinkEntity.complaint)")
            case .converts(let cell, let conversion, let attribute, let place):
                guard let number = row.number(at: cell), case .misfit(let misfit) = conversion.fit(of: number)
                else { continue }
                throw BadRow(code: .migration, property: attribute, reason: "\(place): \(misfit.clause)")
            case .reference: continue
            }
        }
    }

    /// Writes a line for a value of the current row, which is kept.
    private func note(_ bad: BadRow, _ outcome: String, rowid: Int64) throws(EngineError) {
        guard let screening else { return }
        let bad = BadRow(code: bad.code, property: bad.property, reason: "\(bad.reason); \(outcome)")
        try QuarantineLine(screening, into: lines).write(row, key: rowid, number: number, bad, isKept: true)
    }

    /// Writes a line for each value whose file is missing; the current row is kept as it is.
    private func noteReferences(_ demands: [RowScreening.Demand], rowid: Int64) throws(EngineError) {
        for case .reference(let cell, let attribute) in demands where !row.isNull(at: cell) {
            let bytes = unsafe row.unsafeBytes(at: cell)
            let type = row.serialType(at: cell)
            guard type.isBlob || type.isText, unsafe bytes.first == ExternalValues.referencePrefix,
                let trouble = try unsafe external.trouble(with: Array(bytes.prefix(ExternalValues.referenceLength + 1)))
            else { continue }
            let bad = BadRow(
                code: .migration, property: attribute,
                reason: "\(attribute) \(trouble.complaint(in: external.directory))")
            try note(bad, "the row is kept as it is", rowid: rowid)
        }
    }
}
