import CausewayObjects
import CausewayPlanning
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStores

/// The new store while mapping models make its rows: these become pages first, and then a connection is open on it.
///
/// Whoever asks for more than pages can do gets an error, which is kept: a hook may swallow it, but the step doesn't go
/// on without statements.
final class ObjectStaging: PolicyRowOutput {
    private let map: StorageMap
    private var pages: RowPages?
    private var staging: StagingConnection?
    private var statements: StatementPolicyRowOutput?
    private var failure: EngineError?
    /// The records of the rows that are written next, as far as a worker has made them.
    var formed: FormedRows?
    /// Called before rows are written by statements.
    private let rowsChange: () -> Void

    /// - Parameters:
    ///   - map: of the new store.
    ///   - rowsChange: called before rows are written by statements: they aren't those of the pages any more.
    init(_ map: StorageMap, rowsChange: @escaping () -> Void) {
        (self.map, self.rowsChange) = (map, rowsChange)
    }

    /// From now on rows are packed into leaves.
    func begin(_ pages: RowPages) { self.pages = pages }

    /// From now on there is a connection, and rows are written by statements.
    func open(_ staging: StagingConnection) {
        pages = nil
        self.staging = staging
        // Without this object: a run that fails leaves no cycle that keeps the connection open.
        statements = StatementPolicyRowOutput(
            map,
            StoreAccess { sql throws(SQLiteError) in try staging.connection.prepare(sql, persistent: true) })
    }

    /// The rows that come next carry cells of such rows.
    func carry(from input: MappedRowForm.Input) { pages?.carry(from: input) }

    /// The connection, once it is open.
    var connection: StagingConnection {
        guard let staging else { preconditionFailure("pages are finished before anything else is done") }
        return staging
    }

    /// How contexts read the new store.
    var access: StoreAccess {
        StoreAccess { [self] sql throws(SQLiteError) in
            guard let staging else {
                fail(EngineError(rowsDontFit: "code of the step reads the new store while its rows are made"))
                throw SQLiteError(code: .misuse, message: "the new store can't be read yet")
            }
            return try staging.connection.prepare(sql, persistent: true)
        }
    }

    /// Throws what code was refused, whatever it has done with the error.
    func check() throws(EngineError) {
        if let failure { throw failure }
    }

    private func fail(_ error: EngineError) {
        if failure == nil { failure = error }
    }

    // MARK: - Rows

    func write(_ rows: PendingRows) throws(ObjectError) {
        guard let pages else {
            guard let statements else { preconditionFailure("rows are written before there is a store for them") }
            if rows.tables.contains(where: \.hasChanges) { rowsChange() }
            return try statements.write(rows)
        }
        do throws(EngineError) {
            try pages.write(rows, formed)
        } catch {
            fail(error)
            throw ObjectError(.store, error.message)
        }
    }

    func largestPlace(table: Int, column: Int) -> Int64? { pages?.largestPlace(table: table, column: column) }

    func write(_ link: LinkWrite) throws(ObjectError) {
        guard pages == nil else {
            fail(EngineError(rowsDontFit: "code of the step links rows while they are made"))
            throw ObjectError(.store, "the new store can't be changed yet")
        }
        guard let statements else { preconditionFailure("links are written before there is a store for them") }
        try statements.write(link)
    }

    func close() {
        statements?.close()
        statements = nil
    }
}
