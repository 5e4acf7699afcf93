internal import CausewayCSQLite

extension Connection {
    /// Steps of SQLite's virtual machine for one row of the schema table; 3.40 takes 7.
    private static let instructionsPerRow = 16
    /// Approximate rows between two checks of the limits.
    private static let rowsBetweenLooks = 10

    /// Has SQLite read the schema table, and stops it beyond the limits.
    ///
    /// SQLite parses the whole schema before the first statement that names a table, so no query can measure it before:
    /// 20,000 tables of 500 columns took 10 seconds (InsideCrashSafety §2.4). But it steps through the schema table
    /// like any other and calls the progress handler meanwhile. The limit is approximate, by a small factor; the
    /// schema's reader counts exactly. A progress handler that was set before is removed.
    ///
    /// - Parameters:
    ///   - maximumRows: Rows of the schema table.
    ///   - maximumBytes: Bytes of pages that are read for it.
    ///   - pageSize: The database's, in bytes.
    /// - Throws: `.tooBig` beyond a limit, and whatever reading the file throws.
    package mutating func loadSchema(maximumRows: Int, maximumBytes: Int, pageSize: Int) throws(SQLiteError) {
        let database = unsafe handle
        let interval = Self.instructionsPerRow * Self.rowsBetweenLooks
        var (looks, isTooBig) = (0, false)
        setProgressHandler(everyInstructions: Int32(clamping: interval)) {
            looks += 1
            var (misses, highest) = (Int32(0), Int32(0))
            // Can't fail for a counter that exists since 3.7.9.
            _ = unsafe sqlite3_db_status(database, SQLITE_DBSTATUS_CACHE_MISS, &misses, &highest, 0)
            let (bytes, overflow) = Int(misses).multipliedReportingOverflow(by: pageSize)
            isTooBig = overflow || bytes > maximumBytes || looks > maximumRows / Self.rowsBetweenLooks + 1
            return isTooBig
        }
        defer { removeProgressHandler() }
        do throws(SQLiteError) {
            var statement = try prepare("SELECT 1 FROM sqlite_master LIMIT 1")
            _ = try statement.step()
        } catch {
            guard isTooBig else { throw error }
            throw SQLiteError(
                code: .tooBig,
                message:
                    "the schema has more than \(maximumRows) objects or \(maximumBytes) bytes, far beyond any Core "
                    + "Data store; the file is damaged or made to do harm", path: path)
        }
    }
}
