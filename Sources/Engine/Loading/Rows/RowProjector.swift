import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewayPreparation
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// Applies a pass's projections to batches: one a worker.
///
/// The recipes are compiled into runs: neighbouring cells that are only carried are spliced with one copy, neighbouring
/// literals are encoded once for the whole pass.
final class RowProjector {
    private let pass: RowPass
    private let reader: RecordReader
    private let writer: RecordWriter
    private let external: ExternalValues
    /// Index into `programs` by the discriminator's value + 1; the entries below 0 are the fates of `Fate`.
    private let fates: [Int]
    private let programs: [[Operation]]
    private let literals: [EncodedCells]
    /// Values made for the row in hand; the writer refers to them until its record is finished.
    private var made: [EncodedCells] = []

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

    /// nil where nothing is verified.
    private let meter: DigestMeter?
    private let digestShape: DigestShape
    /// Reads back what was made.
    private let madeReader: RecordReader

    private enum Fate {
        static let unknown = -1
        static let dropped = -2
        static let elsewhere = -3
    }

    indirect enum Operation {
        case carry(Range<Int>)
        case literals(Int)
        case carryOr(Int, literal: Int)
        case converted(Int, NumericConversion, literal: Int?)
        case key(Int, entity: Int, dropped: Set<Int>)
        case entityNumber(Int, numbers: [Int: Int])
        case literalIfPresent(Int, literal: Int)
        case first(Operation, position: Int)
        case inlined(Int)
        case prefixed(Int)
        case historyBitmap(Int, HistoryColumnsMap)
    }

    /// `pass` is the one of `screening` where bad rows are quarantined; without screening they end the run.
    /// `isDigesting`: whether `takeDigest` has something to give.
    init(
        _ pass: RowPass, external: ExternalValues, screening: RowScreening? = nil, isDigesting: Bool = true
    ) throws(EngineError) {
        self.screening = screening
        self.pass = pass
        self.external = external
        digestShape = DigestShape(pass)
        meter = isDigesting ? DigestMeter(digestShape) : nil
        madeReader = RecordReader(capacity: pass.destinationColumns.count)
        reader = RecordReader(capacity: pass.shape.cells.count)
        writer = RecordWriter(capacity: pass.destinationColumns.count)
        var compiler = Compiler()
        var programs: [[Operation]] = []
        var demands: [[RowScreening.Demand]] = []
        let numbers = pass.projections.keys.sorted()
        let highest = max(numbers.last ?? 0, pass.dropped.max() ?? 0, pass.elsewhere.max() ?? 0)
        var fates = Array(repeating: Fate.unknown, count: highest + 1)
        for number in pass.dropped { fates[number] = Fate.dropped }
        for number in pass.elsewhere { fates[number] = Fate.elsewhere }
        for number in numbers {
            guard let projection = pass.projections[number] else { continue }
            fates[number] = programs.count
            programs.append(try compiler.compile(projection.cells, title: pass.title))
            demands.append(screening?.demands[number] ?? [])
        }
        self.demands = demands
        self.fates = fates
        self.programs = programs
        literals = compiler.literals
    }

    /// Projects every row of `input` into `output`.
    func project(_ input: RowBatch, into output: RowBatch) throws(EngineError) {
        (dropped, elsewhere) = (0, 0)
        quarantined = QuarantinedRows()
        for row in 0..<input.count {
            let rowid = input.rowid(at: row)
            do {
                try unsafe reader.load(input.record(at: row))
                let fate = try fate()
                if fate >= 0 {
                    try check(demands[fate])
                    try run(programs[fate])
                    try writer.finish(into: output, rowid: rowid)
                    try noteReferences(demands[fate], rowid: rowid)
                    if let meter { try digest(with: meter, output, rowid: rowid, group: fate) }
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
        let number = pass.discriminator.flatMap { reader.integer(at: $0) }.flatMap { Int(exactly: $0) }
        let known = number.flatMap { pass.projections[$0] == nil ? nil : $0 }
        try QuarantineLine(screening, into: lines).write(reader, key: rowid, number: known, bad)
        quarantined.add(key: rowid, number: known)
    }

    /// The lines of the quarantined rows of the batch in hand, with their keys.
    func takeQuarantined() -> QuarantinedRows {
        var result = quarantined
        quarantined = QuarantinedRows()
        result.lines = lines.take()
        return result
    }

    /// The digest of the batches projected since the last call, both sides; of no rows where nothing is verified.
    func takeDigest() -> PassDigest {
        meter?.take() ?? PassDigest(digestShape)
    }

    /// The program's place is that of the digest's group: both count the projections by their discriminator.
    private func digest(
        with meter: DigestMeter, _ output: RowBatch, rowid: Int64, group: Int
    ) throws(RecordError) {
        meter.addSource(reader, key: rowid, group: group)
        try unsafe madeReader.load(output.record(at: output.count - 1))
        guard madeReader.count == pass.destinationColumns.count else { throw RecordError(code: .badHeader, offset: 0) }
        let key = digestShape.key.flatMap { madeReader.integer(at: $0) } ?? rowid
        meter.addDestination(madeReader, key: key, group: group)
    }

    private func fate() throws -> Int {
        guard let discriminator = pass.discriminator else { return fates[0] }
        let number = reader.integer(at: discriminator)
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
            case .notNull(let cell, let bad): if reader.isNull(at: cell) { throw bad }
            case .staying(let key, let entity, let ended, let bad):
                guard !reader.isNull(at: key) else { continue }
                guard let entity else { throw bad }
                if let number = reader.integer(at: entity), ended.contains(Int(clamping: number)) { throw bad }
            case .converts(let cell, let conversion, let attribute, let place):
                guard let number = reader.number(at: cell), case .misfit(let misfit) = conversion.fit(of: number)
                else { continue }
                throw BadRow(code: .migration, property: attribute, reason: "\(place): \(misfit.clause)")
            case .reference: continue
            }
        }
    }

    /// Writes values down that refer to files which aren't there; the row in hand is kept as it is.
    private func noteReferences(_ demands: [RowScreening.Demand], rowid: Int64) throws(EngineError) {
        guard let screening else { return }
        for case .reference(let cell, let attribute) in demands where !reader.isNull(at: cell) {
            let bytes = unsafe reader.unsafeBytes(at: cell)
            guard reader.serialType(at: cell).isBlob, unsafe bytes.first == ExternalValues.referencePrefix,
                let trouble = try unsafe external.trouble(with: Array(bytes.prefix(ExternalValues.referenceLength + 1)))
            else { continue }
            let bad = BadRow(
                code: .migration, property: attribute,
                reason: "\(attribute) \(trouble.complaint(in: external.directory)); the row is kept as it is")
            let number = pass.discriminator.flatMap { reader.integer(at: $0) }.flatMap { Int(exactly: $0) }
            try QuarantineLine(screening, into: lines).write(reader, key: rowid, number: number, bad, isKept: true)
            quarantined.kept += 1
        }
    }

    private func run(_ program: [Operation]) throws {
        writer.begin()
        made.removeAll(keepingCapacity: true)
        for operation in program { try run(operation) }
    }

    private func run(_ operation: Operation) throws {
        switch operation {
        case .carry(let range): writer.append(cells: range, of: reader)
        case .literals(let index): writer.append(literals[index])
        case .carryOr(let cell, let literal):
            if reader.isNull(at: cell) { writer.append(literals[literal]) } else { carry(cell) }
        case .converted(let cell, let conversion, let literal): convert(cell, conversion, literal)
        case .key(let cell, let entity, let dropped):
            if let number = reader.integer(at: entity), dropped.contains(Int(number)) {
                writer.appendNull()
            } else {
                carry(cell)
            }
        case .entityNumber(let cell, let numbers):
            if let number = reader.integer(at: cell), let mapped = numbers[Int(number)] {
                writer.append(Int64(mapped))
            } else {
                writer.appendNull()
            }
        case .literalIfPresent(let cell, let literal):
            if reader.isNull(at: cell) { writer.appendNull() } else { writer.append(literals[literal]) }
        case .first(let operation, let position):
            if reader.integer(at: position) == CellRecipe.firstPosition {
                try run(operation)
            } else {
                writer.appendNull()
            }
        case .inlined(let cell): try inline(cell)
        case .prefixed(let cell): try prefix(cell)
        case .historyBitmap(let cell, let map): try rearrange(cell, map)
        }
    }

    private func carry(_ cell: Int) {
        writer.append(cell: cell, of: reader)
    }

    private func convert(_ cell: Int, _ conversion: NumericConversion, _ literal: Int?) {
        if let literal, reader.isNull(at: cell) {
            writer.append(literals[literal])
        } else if let number = reader.number(at: cell) {
            switch conversion.applied(to: number) {
            case .integer(let value): writer.append(value)
            case .real(let value): writer.append(value)
            }
        } else {
            carry(cell)
        }
    }

    private func append(made value: CellValue) throws(RecordError) {
        let cells = try EncodedCells([value])
        made.append(cells)
        writer.append(cells)
    }

    /// The bytes of a binary cell; nil for NULL.
    private func binary(at cell: Int) throws(BadRow) -> [UInt8]? {
        if reader.isNull(at: cell) { return nil }
        let type = reader.serialType(at: cell)
        guard type.isBlob || type.isText else {
            let column = column(at: cell)
            throw BadRow(
                code: .migration, property: column, reason: "\(column): a binary attribute holds a number")
        }
        return unsafe Array(reader.unsafeBytes(at: cell))
    }

    private func inline(_ cell: Int) throws {
        guard let value = try binary(at: cell) else { return writer.appendNull() }
        try append(made: .blob(try content(of: value, at: cell)))
    }

    private func content(of value: [UInt8], at cell: Int) throws -> [UInt8] {
        let column = column(at: cell)
        do throws(EngineError) {
            return try external.content(of: value, title: column)
        } catch {
            guard error.kind == .sourceData else { throw error }
            var bad = BadRow(code: .migration, property: column, reason: error.message)
            if !error.remedy.isEmpty { bad.remedy = error.remedy }
            throw bad
        }
    }

    /// For messages: the source's column of a cell.
    private func column(at cell: Int) -> String {
        guard case .column(let name) = pass.shape.cells[cell] else { return pass.title }
        return name.name
    }

    private func prefix(_ cell: Int) throws {
        guard let value = try binary(at: cell) else { return writer.appendNull() }
        try append(made: .blob([ExternalValues.inlinePrefix] + value))
    }

    private func rearrange(_ cell: Int, _ map: HistoryColumnsMap) throws {
        guard let bitmap = try binary(at: cell), let rearranged = map(bitmap) else { return writer.appendNull() }
        try append(made: .blob(rearranged))
    }
}

extension RecordReader {
    /// nil for NULL, texts and binary data.
    @inline(__always) func number(at cell: Int) -> StoredNumber? {
        if let integer = integer(at: cell) { return .integer(integer) }
        return real(at: cell).map { .real($0) }
    }
}

extension CellValue {
    init(_ literal: StoredLiteral) {
        self =
            switch literal {
            case .null: .null
            case .integer(let value): .integer(value)
            case .real(let value): .real(value)
            case .text(let value): .text(value)
            case .blob(let value): .blob(value)
            }
    }
}
