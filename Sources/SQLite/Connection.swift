internal import CausewayCSQLite

/// One connection to one database file. It is closed when it goes out of scope, or by `close()`, which reports.
///
/// Not Sendable, and opened without SQLite's own mutexes: a connection and its statements belong to one thread at a
/// time. Only its `interruptHandle` may be used from elsewhere.
@safe
package struct Connection: ~Copyable {
    let handle: OpaquePointer
    package let interruptHandle: InterruptHandle
    private var isOpen = true
    // What C callbacks point to must live as long as they are registered.
    var authorizer: AuthorizerContext?
    var progressHandler: CallbackContext?
    var busyHandler: CallbackContext?

    package enum Mode: Hashable, Sendable {
        case readOnly
        /// Read only, without locks, and without a look at `-wal` and `-journal`: for a file without writers.
        case immutable
        case readWrite
        /// Read and write; the file is created when missing.
        case create
    }

    /// Opens a file. The path is never taken as a URI or as one of SQLite's special names (`:memory:`, the empty name).
    ///
    /// SQLite reads nothing before the first statement: a file that isn't a database is refused there.
    package init(path: String, mode: Mode, hardening: Hardening) throws(SQLiteError) {
        if path.isEmpty || path.utf8.contains(0) {
            throw SQLiteError(
                code: .cannotOpen, message: "a path can't be empty or hold a NUL; check the path", path: path)
        }
        let flags =
            switch mode {
            case .readOnly: SQLITE_OPEN_READONLY
            case .immutable: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            case .readWrite: SQLITE_OPEN_READWRITE
            case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            }
        // "file:x" and ":memory:" have a meaning only at the start of the name; "./file:x" is a file.
        let name = path.hasPrefix("/") ? path : "./" + path
        let uri = mode == .immutable ? Self.immutableURI(name) : nil
        unsafe self.init(try Self.open(name, as: uri, flags: flags, hardening: hardening))
    }

    /// Only a URI says that a file is immutable (https://www.sqlite.org/uri.html).
    private static func immutableURI(_ name: String) -> String {
        var uri = name.hasPrefix("/") ? "file://" : "file:"
        for byte in name.utf8 {
            if byte.isLetterOrDigit || "/.".utf8.contains(byte) {
                uri.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                uri += (byte < 16 ? "%0" : "%") + String(byte, radix: 16)
            }
        }
        return uri + "?immutable=1"
    }

    private init(_ database: OpaquePointer) {
        unsafe handle = database
        interruptHandle = unsafe InterruptHandle(database)
    }

    private static func open(
        _ name: String, as uri: String? = nil, flags: Int32, hardening: Hardening
    ) throws(SQLiteError) -> OpaquePointer {
        var opened: OpaquePointer?
        let result = unsafe sqlite3_open_v2(uri ?? name, &opened, flags | SQLITE_OPEN_NOMUTEX, nil)
        do throws(SQLiteError) {
            guard result == SQLITE_OK, let database = unsafe opened else {
                throw unsafe SQLiteError.last(of: opened, result: result)
            }
            _ = unsafe sqlite3_extended_result_codes(database, 1)
            try unsafe hardening.apply(to: database)
            return unsafe database
        } catch {
            _ = unsafe sqlite3_close_v2(opened)
            // A connection that failed to open doesn't know its file.
            throw SQLiteError(code: error.code, message: error.message, path: error.path ?? name)
        }
    }

    /// A database in memory, gone when the connection closes.
    package static func inMemory(hardening: Hardening = .own) throws(SQLiteError) -> Connection {
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY
        return unsafe Connection(try open(":memory:", flags: flags, hardening: hardening))
    }

    deinit {
        guard isOpen else { return }
        detach()
        // With statements alive, the connection is freed after the last of them.
        _ = unsafe sqlite3_close_v2(handle)
    }

    /// Closes now, and throws if that isn't possible. Locks of the process on the file are released here.
    ///
    /// - Throws: `.busy` while a statement of this connection lives; the connection then closes with the last of them.
    package consuming func close() throws(SQLiteError) {
        detach()
        isOpen = false
        let result = unsafe sqlite3_close(handle)
        if result != SQLITE_OK {
            let error = unsafe SQLiteError.last(of: handle, result: result)
            _ = unsafe sqlite3_close_v2(handle)
            throw error
        }
    }

    /// Once it closes, no other code may use the connection, and it must not use our contexts.
    private func detach() {
        interruptHandle.invalidate()
        unsafe sqlite3_progress_handler(handle, 0, nil, nil)
        _ = unsafe sqlite3_set_authorizer(handle, nil, nil)
        _ = unsafe sqlite3_busy_handler(handle, nil, nil)
    }

    /// Runs one or more statements and ignores their rows.
    package func execute(_ sql: String) throws(SQLiteError) {
        try refuseNUL(in: sql)
        StatementObserver.see(sql, on: self)
        try check(unsafe sqlite3_exec(handle, sql, nil, nil, nil), sql: sql)
    }

    /// Compiles exactly one statement. One that is kept and run many times is `persistent`: SQLite then takes its
    /// memory from where it doesn't fragment.
    package func prepare(_ sql: String, persistent: Bool = false) throws(SQLiteError) -> Statement {
        try refuseNUL(in: sql)
        StatementObserver.see(sql, on: self)
        let flags = persistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        var text = sql
        // Closures of the standard library carry no typed error: the outcome is looked at outside.
        let outcome = text.withUTF8 { bytes in
            unsafe Self.compile(bytes, on: handle, flags: flags)
        }
        try check(unsafe outcome.result, sql: sql)
        guard let statement = unsafe outcome.statement else {
            throw SQLiteError(
                code: .misuse, message: "there is no statement in the text; this is an error of the caller", sql: sql,
                path: path)
        }
        let prepared = unsafe Statement(statement)
        if unsafe outcome.hasMore {
            throw SQLiteError(
                code: .misuse, message: "more than one statement where one is expected; use execute", sql: sql,
                path: path)
        }
        return prepared
    }

    private static func compile(
        _ sql: UnsafeBufferPointer<UInt8>, on database: OpaquePointer, flags: UInt32
    ) -> (result: Int32, statement: OpaquePointer?, hasMore: Bool) {
        guard let length = Int32(exactly: sql.count), let base = sql.baseAddress else {
            return (sql.isEmpty ? SQLITE_OK : SQLITE_TOOBIG, nil, false)
        }
        return unsafe base.withMemoryRebound(to: CChar.self, capacity: sql.count) { start in
            var statement: OpaquePointer?
            var tail: UnsafePointer<CChar>?
            let result = unsafe sqlite3_prepare_v3(database, start, length, flags, &statement, &tail)
            guard result == SQLITE_OK, let tail = unsafe tail else { return unsafe (result, statement, false) }
            let rest = length - Int32(unsafe tail - start)
            if rest == 0 { return unsafe (result, statement, false) }
            // Spaces and comments may follow; what compiles, or fails to, is a second statement.
            var second: OpaquePointer?
            let secondResult = unsafe sqlite3_prepare_v3(database, tail, rest, 0, &second, nil)
            let hasMore = unsafe secondResult != SQLITE_OK || second != nil
            _ = unsafe sqlite3_finalize(second)
            return unsafe (result, statement, hasMore)
        }
    }

    private func refuseNUL(in sql: String) throws(SQLiteError) {
        // C would end the text there and run the part before.
        if sql.utf8.contains(0) {
            throw SQLiteError(
                code: .misuse, message: "SQL text can't hold a NUL; this is an error of the caller", sql: sql,
                path: path)
        }
    }

    /// Throws the error of the call that has just returned `result`, if it is one.
    func check(_ result: Int32, sql: String? = nil) throws(SQLiteError) {
        if result != SQLITE_OK { throw unsafe SQLiteError.last(of: handle, result: result, sql: sql) }
    }

    /// The file as SQLite names it; nil in memory.
    package var path: String? { unsafe SQLiteError.path(of: handle) }
    /// Rows that the last INSERT, UPDATE or DELETE changed.
    package var changes: Int64 { unsafe sqlite3_changes64(handle) }
    /// Rows changed since the connection was opened.
    package var totalChanges: Int64 { unsafe sqlite3_total_changes64(handle) }
    package var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }
}
