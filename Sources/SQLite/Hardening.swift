internal import CausewayCSQLite

/// How far a connection trusts the file that it opens; set right after open, before a byte of the file is trusted.
///
/// Always, whatever is chosen: DEFENSIVE on, and WRITABLE_SCHEMA, LOAD_EXTENSION and double-quoted strings off,
/// TRUSTED_SCHEMA off unless the library's own functions are harmless (`trustsFunctions`), `cell_size_check` on,
/// `mmap_size` 0 (a file truncated while mapped would kill the process), CHECK constraints not evaluated: Core Data
/// makes none, and an app's own table may compute anything for every row that is checked or copied. Rules and evidence:
/// InsideCrashSafety §2.4.
package struct Hardening: Hashable, Sendable {
    /// Milliseconds that a statement waits for another connection's lock before it fails with `.busy`. Long enough for
    /// an application's transaction, short enough that a person sees the reason.
    package static let defaultBusyTimeout: Int32 = 5_000

    /// Triggers of the file's schema fire.
    package var allowsTriggers: Bool
    /// Views of the file's schema can be read.
    package var allowsViews: Bool
    package var limits: ConnectionLimits
    /// The app's own collations get stand-ins, so that their tables can be read (`StandIns.swift`).
    package var lendsCollations = false

    /// A user's file: no trigger fires, no view is read.
    package static let untrusted = Hardening(
        allowsTriggers: false, allowsViews: false, limits: .untrusted, lendsCollations: true)
    /// A file that we have created ourselves.
    package static let own = Hardening(allowsTriggers: true, allowsViews: true, limits: .own)
}

/// Limits of one connection (https://www.sqlite.org/c3ref/limit.html). SQLite lowers a value over its compiled maximum.
package struct ConnectionLimits: Hashable, Sendable {
    /// Bytes of a text, blob or record. A longer one in the file is refused (`.tooBig`) before memory is taken for it.
    package var valueLength: Int32
    /// Bytes of one statement, a `CREATE TABLE` in the schema included.
    package var statementLength: Int32
    /// Columns of a table, index or result; Core Data stores of several hundred exist. The cost of a schema grows with
    /// it, so SQLite's own maximum (32,767) is not offered.
    package var columns: Int32
    /// Depth of an expression tree. Deeper ones cost parser stack.
    package var expressionDepth: Int32
    /// Terms of a compound SELECT.
    package var compoundSelectTerms: Int32
    /// Instructions of a prepared statement. Bounds the memory that a hostile schema can make a statement take.
    package var programLength: Int32
    /// Databases that may be attached.
    package var attachedDatabases: Int32
    /// Threads that one statement may start (sorter).
    package var workerThreads: Int32

    package static let untrusted = ConnectionLimits(
        valueLength: 1 << 30, statementLength: 1_000_000, columns: 2_000, expressionDepth: 100,
        compoundSelectTerms: 50, programLength: 1_000_000, attachedDatabases: 0, workerThreads: 0)

    /// SQLite's own defaults, so that our statements never hit a limit that the source's rows didn't hit.
    package static let own = ConnectionLimits(
        valueLength: 1 << 30, statementLength: 16_000_000, columns: 2_000, expressionDepth: 1_000,
        compoundSelectTerms: 500, programLength: 250_000_000, attachedDatabases: 10, workerThreads: 8)
}

extension Hardening {
    /// - Throws: when SQLite refuses a setting: then the file must not be read.
    func apply(to database: OpaquePointer) throws(SQLiteError) {
        let switches: [(operation: Int32, name: String, value: Bool)] = [
            (SQLITE_DBCONFIG_DEFENSIVE, "DEFENSIVE", true),
            (SQLITE_DBCONFIG_ENABLE_TRIGGER, "ENABLE_TRIGGER", allowsTriggers),
            (SQLITE_DBCONFIG_ENABLE_VIEW, "ENABLE_VIEW", allowsViews),
            (SQLITE_DBCONFIG_TRUSTED_SCHEMA, "TRUSTED_SCHEMA", Self.trustsFunctions),
            (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, "ENABLE_LOAD_EXTENSION", false),
            (SQLITE_DBCONFIG_DQS_DML, "DQS_DML", false),
            (SQLITE_DBCONFIG_DQS_DDL, "DQS_DDL", false),
            (SQLITE_DBCONFIG_WRITABLE_SCHEMA, "WRITABLE_SCHEMA", false),
        ]
        for entry in switches {
            try unsafe Self.configure(database, entry.operation, name: entry.name, to: entry.value)
        }
        let values: [(Int32, Int32)] = [
            (SQLITE_LIMIT_LENGTH, limits.valueLength), (SQLITE_LIMIT_SQL_LENGTH, limits.statementLength),
            (SQLITE_LIMIT_COLUMN, limits.columns), (SQLITE_LIMIT_EXPR_DEPTH, limits.expressionDepth),
            (SQLITE_LIMIT_COMPOUND_SELECT, limits.compoundSelectTerms), (SQLITE_LIMIT_VDBE_OP, limits.programLength),
            (SQLITE_LIMIT_ATTACHED, limits.attachedDatabases), (SQLITE_LIMIT_WORKER_THREADS, limits.workerThreads),
        ]
        for (limit, value) in values {
            // Gives the previous value; can't fail.
            _ = unsafe sqlite3_limit(database, limit, value)
        }
        _ = unsafe sqlite3_busy_timeout(database, Self.defaultBusyTimeout)
        // None of these pragmas reads the file.
        let pragmas = "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA ignore_check_constraints=ON"
        let result = unsafe sqlite3_exec(database, pragmas, nil, nil, nil)
        if result != SQLITE_OK { throw unsafe SQLiteError.last(of: database, result: result) }
        if lendsCollations { try unsafe Self.lendCollations(to: database) }
    }

    /// Whether a schema that isn't trusted may call the functions that this SQLite doesn't mark as innocuous.
    ///
    /// SQLite 3.40 leaves the mark off its JSON functions, which compute and do nothing else: every table with
    /// `CHECK (json_valid(a))` would count as a malformed schema. Reading a store evaluates only deterministic
    /// functions (generated columns, indexes); if one of these isn't harmless, none is trusted. Functions marked for
    /// direct use only, such as load_extension, are refused in any case.
    static let trustsFunctions: Bool = {
        var database: OpaquePointer?
        defer { _ = unsafe sqlite3_close(database) }
        guard unsafe sqlite3_open_v2(":memory:", &database, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else {
            return false
        }
        let question = """
            SELECT ifnull(sum(NOT (name LIKE 'json%' OR name IN ('->', '->>'))), 0) FROM pragma_function_list \
            WHERE flags & \(SQLITE_DETERMINISTIC) AND NOT flags & \(SQLITE_INNOCUOUS) AND NOT flags & \(SQLITE_DIRECTONLY)
            """
        var statement: OpaquePointer?
        defer { _ = unsafe sqlite3_finalize(statement) }
        guard unsafe sqlite3_prepare_v2(database, question, -1, &statement, nil) == SQLITE_OK,
            unsafe sqlite3_step(statement) == SQLITE_ROW
        else { return false }
        return unsafe sqlite3_column_int(statement, 0) == 0
    }()

    static func configure(
        _ database: OpaquePointer, _ operation: Int32, name: String, to value: Bool
    ) throws(SQLiteError) {
        var inForce: Int32 = -1
        let result = unsafe causeway_db_config(database, operation, value ? 1 : 0, &inForce)
        guard result == SQLITE_OK, inForce == (value ? 1 : 0) else {
            throw SQLiteError(
                code: ResultCode(rawValue: result == SQLITE_OK ? SQLITE_MISUSE : result),
                message: "this SQLite library did not take the setting \(name); use SQLite 3.37 or newer",
                path: unsafe SQLiteError.path(of: database))
        }
    }
}
