import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewayPreparation
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// The rows of an inferred step that runs together with mapping models, before or after them: as its tables would have
/// them, but for a store around them.
struct InferredRows: Sendable {
    /// How the rows of the store are read; nil where another step makes them.
    private(set) var reading: MappingReading?
    /// Where the pass's cells are in the rows that it takes.
    private let rows: RowMap?
    /// The columns of the records, in their order.
    let columns: [PolicyRecordFormer.Column]
    let pass: RowPass
    private let form: RecordForm
    /// Columns of the source's table.
    fileprivate let count: Int
    private let external: ExternalValues
    /// Numbers that get another type, which may not hold them; those of the store's own rows are checked beforehand.
    fileprivate private(set) var conversions: [Conversion] = []

    /// A number's place in the rows that are taken.
    struct Conversion: Sendable {
        let cell: Int
        let types: NumericConversion
    }

    /// Of an inferred step that is the first of those that run together; nil where no row of it is in the table of the
    /// mapping's source.
    ///
    /// - Parameters:
    ///   - step: its passes are by pages.
    ///   - plan: the mapping that takes the rows.
    ///   - map: where the mapping's source keeps what.
    ///   - source: the store that is read.
    ///   - external: values beside it.
    init?(
        of step: StepPlan, for plan: EntityMappingPlan, _ map: StorageMap, from source: SourceStore,
        _ external: ExternalValues
    ) {
        guard let pass = step.rows(for: plan), let from = source.schema.table(pass.sourceTable),
            let place = map.table(of: plan.sourceEntity ?? 0), let reading = MappingReading(pass, pagesOf: source)
        else { return nil }
        self.init(pass, from: from, reading.map, to: map, place, external)
        self.reading = reading
    }

    /// Of an inferred step that is the last of them; nil where it has no pass for these rows.
    ///
    /// - Parameters:
    ///   - plan: one of its mappings.
    ///   - step: it.
    ///   - external: values beside the store.
    init?(_ plan: EntityMappingPlan, ofLast step: StepPlan, _ external: ExternalValues) {
        guard let objects = step.objects, let table = objects.source.table(of: plan.sourceEntity ?? 0),
            let place = objects.destination.table(of: plan.destinationEntity ?? 0)
        else { return nil }
        let from = StoreSchema.Table(objects.source.layout.tables[table])
        guard let pass = step.rows(from: from.name),
            let map = try? RowMap(RowMap.cells(pass.shape, of: from), defaults: from.columns.map { _ in .null })
        else { return nil }
        self.init(pass, from: from, map, to: objects.destination, place, external)
        let entity = plan.description.sourceEntity ?? ""
        for change in step.mapping.entityMappings.filter({ $0.source == entity }).flatMap(\.conversions) {
            guard let column = step.sourceColumn(of: change.source, of: entity),
                let cell = from.position(of: column)
            else { continue }
            conversions.append(Conversion(cell: cell, types: change.conversion))
        }
    }

    private init(
        _ pass: RowPass, from table: StoreSchema.Table, _ rows: RowMap?, to map: StorageMap, _ place: Int,
        _ external: ExternalValues
    ) {
        let made = StoreSchema.Table(map.layout.tables[place])
        (self.pass, self.external, self.rows, count) = (pass, external, rows, table.columns.count)
        form = RecordForm(RecordForm.columns(pass, of: made), cells: pass.destinationColumns.count)
        columns = PolicyRecordFormer.columns(of: made, map.tables[place])
    }

    /// What makes the rows of one batch after another; of one thread.
    func makeMaker() throws(EngineError) -> Maker { try Maker(self) }

    final class Maker {
        fileprivate let title: String
        private let numbers: RecordNumbers
        private let projector: RowProjector
        private let projected = RowBatch()
        private let former: RecordFormer
        private let records = RowBatch()

        fileprivate init(_ rows: InferredRows) throws(EngineError) {
            title = rows.pass.title
            numbers = RecordNumbers(columns: rows.count)
            projector = try RowProjector(
                rows.pass, map: rows.rows, external: rows.external, takesSums: false)
            former = RecordFormer(rows.form)
        }

        /// - Parameters:
        ///   - batch: of the store's rows.
        ///   - limit: bytes that may be kept from the batch before.
        ///   - kept: gets the records; nil where nobody needs them after the next batch.
        /// - Returns: the records.
        /// - Throws: the first row that can't be made.
        func make(
            _ batch: RowBatch, keepingCapacity limit: Int, into kept: RowBatch? = nil
        ) throws(EngineError) -> RowBatch {
            let records = kept ?? records
            projected.removeAll(keepingCapacity: limit)
            records.removeAll(keepingCapacity: limit)
            var rows = batch
            do throws(RecordError) {
                // As SQLite reads them: NULL for NaN.
                if let plain = try numbers.plain(batch, 0..<batch.count) { rows = plain }
            } catch {
                throw EngineError(.sourceData, "\(title): \(error.message)")
            }
            try projector.project(rows, into: projected)
            do throws(RecordError) {
                try former.form(projected, into: records)
            } catch {
                throw EngineError(.verification, "\(title): \(error.message)")
            }
            return records
        }

        /// Rows of the last batch that aren't in the new version.
        var dropped: Int { projector.dropped }
    }
}

/// Makes the rows of an inferred step after mapping models, and looks at them; of one thread.
final class InferredRowsInspection {
    private let maker: InferredRows.Maker
    private let view: RowView
    private var inspection: RecordInspection
    private let conversions: [InferredRows.Conversion]
    private let taken: RowView

    /// - Parameters:
    ///   - rows: of the step.
    ///   - questions: the rules of its version.
    /// - Throws: where a default is too large.
    init(_ rows: InferredRows, _ questions: [RowQuestion]) throws(EngineError) {
        maker = try rows.makeMaker()
        view = RowView(capacity: rows.columns.count)
        inspection = RecordInspection(questions, rows.columns)
        conversions = rows.conversions
        taken = RowView(capacity: rows.count)
    }

    /// - Parameters:
    ///   - batch: the records of the step before.
    ///   - limit: bytes that may be kept from the batch before.
    ///   - made: gets what is known of the rows.
    ///   - keepsRecords: whether it gets their records too, which a hook's rows refer to until they are written.
    /// - Returns: the records, until the next batch.
    /// - Throws: the first row that can't be made.
    func make(
        _ batch: RowBatch, keepingCapacity limit: Int, into made: inout MappedRows, keepsRecords: Bool = false
    ) throws(EngineError) -> RowBatch {
        let records = try maker.make(batch, keepingCapacity: limit, into: keepsRecords ? made.records : nil)
        inspection.begin(&made.findings)
        try inspectNumbers(of: batch, &made.findings)
        for row in 0..<records.count {
            made.keys.append(records.rowid(at: row))
            guard !inspection.isEmpty else { continue }
            do throws(RecordError) {
                try view.load(row, of: records)
            } catch {
                throw EngineError(.verification, "\(maker.title): \(error.message)")
            }
            inspection.inspect(view, &made.findings)
        }
        made.outcome.dropped += batch.count - records.count
        return records
    }

    /// A number that its new type doesn't hold, or not exactly, and what is no number: only a step of its own tells
    /// whose it is, and counts them.
    private func inspectNumbers(
        of batch: RowBatch, _ findings: inout RecordInspection.Findings
    ) throws(EngineError) {
        guard !conversions.isEmpty else { return }
        for row in 0..<batch.count {
            do throws(RecordError) {
                try taken.load(row, of: batch)
            } catch {
                throw EngineError(.verification, "\(maker.title): \(error.message)")
            }
            for conversion in conversions where !Self.fits(taken, conversion) { findings.doubtNumbers() }
        }
    }

    private static func fits(_ row: RowView, _ conversion: InferredRows.Conversion) -> Bool {
        let type = row.serialType(at: conversion.cell)
        if type.isNull { return true }
        let number: StoredNumber
        if let integer = row.integer(at: conversion.cell) {
            number = .integer(integer)
        } else if type.isReal, let real = row.real(at: conversion.cell) {
            // NaN is stored as NULL.
            if real.isNaN { return true }
            number = .real(real)
        } else {
            return false
        }
        switch conversion.types.fit(of: number) {
        case .exact, nil: return true
        case .rounded, .misfit: return false
        }
    }
}
