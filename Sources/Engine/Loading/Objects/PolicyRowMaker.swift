import CausewayObjects
import CausewayPlanning
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// Makes the rows of a step between by its policy, of one thread: each source row becomes a row with its key, or none.
///
/// Whatever else a policy does needs the store that isn't made: then the steps run one by one.
final class PolicyRowMaker {
    private let form: PolicyRowForm
    private let hook: RowHook
    private let former = PolicyRecordFormer()
    private let view: RowView
    private var inspection: RecordInspection
    /// The objects of one batch.
    private var made: PendingRows

    /// - Parameters:
    ///   - form: by which it makes rows.
    ///   - hook: calls the policy.
    init(_ form: PolicyRowForm, _ hook: RowHook) {
        (self.form, self.hook) = (form, hook)
        former.carry(from: form.rows.input)
        view = RowView(capacity: form.columns.count)
        inspection = RecordInspection(form.questions, form.columns)
        made = PendingRows(form.map)
    }

    /// Makes the rows of a batch.
    ///
    /// - Parameters:
    ///   - batch: the source rows.
    ///   - own: places of the mapping's rows; nil for all.
    ///   - limit: bytes that may be kept from the batch before.
    ///   - rows: what is known of the new ones; keeps their records.
    /// - Returns: the records.
    /// - Throws: the policy's error; a misfit where only a store could tell what becomes of a row.
    func make(
        _ batch: RowBatch, only own: [Int]?, keepingCapacity limit: Int, into rows: inout MappedRows
    ) throws(EngineError) -> RowBatch {
        let records = rows.records
        records.removeAll(keepingCapacity: limit)
        inspection.begin(&rows.findings)
        rows.outcome = try hook.process(batch, only: own)
        if form.rows.isBetween, rows.outcome.readsLinks {
            throw form.apart("reads links of “\(form.rows.versions.first ?? "")”, which may lead to no row")
        }
        hook.handOver(batch, to: &made)
        defer { made.removeAll() }
        guard made.keepKeys(inTable: form.table, of: form.destination) else {
            throw form.apart("makes other rows than one with the key of each source row")
        }
        let content = made.tables[form.table]
        for row in 0..<content.count where content.isNew(row) {
            guard made.needsNoKeys(content, row) else { throw form.apart("makes links that its store would complete") }
            do {
                try former.form(row, of: content, made, form.columns, into: records)
                rows.keys.append(content.keys[row])
                guard !inspection.isEmpty else { continue }
                try view.load(records.count - 1, of: records)
                inspection.inspect(view, &rows.findings)
            } catch {
                // Statements say what is wrong, and with which row.
                throw form.apart("makes rows that don't fit their table")
            }
        }
        return records
    }

    /// All rows are made.
    func end() throws(EngineError) { try hook.end() }

    func close() { hook.close() }
}
