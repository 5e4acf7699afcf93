import CausewayPlanning
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// The rows of an inferred step that mapping models take: as its tables would have them, but for a store around them.
struct InferredRows: Sendable {
    /// How the rows of the store are read.
    let reading: MappingReading
    /// The columns of the records, in their order.
    let columns: [PolicyRecordFormer.Column]
    let pass: RowPass
    private let form: RecordForm
    /// Columns of the source's table.
    private let count: Int
    private let external: ExternalValues

    /// nil where no row of the step is in the table of the mapping's source.
    ///
    /// - Parameters:
    ///   - step: inferred; its passes are by pages.
    ///   - plan: the mapping that takes the rows, and where its source keeps what.
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
        let table = StoreSchema.Table(map.layout.tables[place])
        (self.pass, self.reading, self.external, count) = (pass, reading, external, from.columns.count)
        form = RecordForm(RecordForm.columns(pass, of: table), cells: pass.destinationColumns.count)
        columns = PolicyRecordFormer.columns(of: table, map.tables[place])
    }

    /// What makes the rows of one batch after another; of one thread.
    func makeMaker() throws(EngineError) -> Maker { try Maker(self) }

    final class Maker {
        private let title: String
        private let numbers: RecordNumbers
        private let projector: RowProjector
        private let projected = RowBatch()
        private let former: RecordFormer
        private let records = RowBatch()

        fileprivate init(_ rows: InferredRows) throws(EngineError) {
            title = rows.pass.title
            numbers = RecordNumbers(columns: rows.count)
            projector = try RowProjector(
                rows.pass, map: rows.reading.map, external: rows.external, takesSums: false)
            former = RecordFormer(rows.form)
        }

        /// - Parameters:
        ///   - batch: of the store's rows.
        ///   - limit: bytes that may be kept from the batch before.
        /// - Returns: the records, until the next batch.
        /// - Throws: the first row that can't be made.
        func make(_ batch: RowBatch, keepingCapacity limit: Int) throws(EngineError) -> RowBatch {
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
