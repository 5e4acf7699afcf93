internal import CausewayCSQLite

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A failure or refusal of SQLite, or of this layer.
///
/// Texts may quote a damaged file: whoever shows them escapes what a terminal would obey.
@usableFromInline package struct SQLiteError: Error, Hashable, Sendable, CustomStringConvertible {
    package let code: ResultCode
    /// What went wrong and, where there is one, the remedy.
    package let message: String
    /// The statement's text without its values, cut at 2,000 bytes.
    package let sql: String?
    /// The database file; nil for a database in memory.
    package let path: String?

    package init(code: ResultCode, message: String, sql: String? = nil, path: String? = nil) {
        self.code = code
        self.message = EscapedText.of(message)
        self.sql = sql.map { EscapedText.of($0) }
        self.path = path.map { EscapedText.of($0) }
    }

    @usableFromInline package var description: String {
        var text = "\(message) [SQLite \(code.rawValue)]"
        if let path { text += " in \(path)" }
        if let sql { text += ", statement: \(sql)" }
        return text
    }
}

extension SQLiteError {
    /// The error that a call on `database` has just returned as `result`.
    static func last(of database: OpaquePointer?, result: Int32, sql: String? = nil) -> SQLiteError {
        // Read first: the calls below may change it.
        let systemError = errno
        var code = result
        var reason: String?
        if let database = unsafe database {
            // The call's own result may be primary only; the connection knows the extended one.
            let extended = unsafe sqlite3_extended_errcode(database)
            if extended & 0xff == result & 0xff {
                code = extended
                if let text = unsafe sqlite3_errmsg(database) { reason = unsafe EscapedText.of(cString: text) }
            }
        }
        if code & 0xff == SQLITE_CORRUPT, systemError == EIO {
            // SQLite reports a page that the system can't read as damaged (SQLITE_IOERR_CORRUPTFS). For us the disk has
            // failed, and the next run may read the page.
            code = ResultCode.ioErrorRead.rawValue
            reason = "a page can't be read"
        }
        // SQLite's own record of its last failure: by the time the call returns, it has used other files.
        let lastFailure = unsafe database.map { unsafe sqlite3_system_errno($0) } ?? 0
        if code & 0xff == SQLITE_CANTOPEN, temporary.contains(systemError) || temporary.contains(lastFailure) {
            // The file exists, but a -shm or a journal beside it can't be made or opened now.
            code = ResultCode.ioErrorRead.rawValue
            reason = "the file, or one beside it, can't be opened: the system failed"
        }
        if reason == nil, let text = unsafe sqlite3_errstr(result) { reason = unsafe EscapedText.of(cString: text) }
        // SQLite says that the disk is full where it writes rows; a -shm that can't grow is an I/O error to it.
        let isFull = code & 0xff == SQLITE_IOERR && !noSpace.isDisjoint(with: [systemError, lastFailure])
        let remedy = isFull ? ResultCode.full.rawValue : code
        return SQLiteError(
            code: ResultCode(rawValue: code), message: withRemedy(reason ?? "unknown error", code: remedy), sql: sql,
            path: unsafe path(of: database))
    }

    /// Failures to open that pass, whatever the path and its permissions.
    private static let temporary: Set<Int32> = [EIO, ENOSPC, EDQUOT, EMFILE, ENFILE, ENOMEM]

    private static let noSpace: Set<Int32> = [ENOSPC, EDQUOT]

    /// The file of the main database; nil in memory.
    static func path(of database: OpaquePointer?) -> String? {
        guard let database = unsafe database, let name = unsafe sqlite3_db_filename(database, "main"),
            unsafe name.pointee != 0
        else { return nil }
        return unsafe String(cString: name)
    }

    private static func withRemedy(_ reason: String, code: Int32) -> String {
        let remedy: String? =
            switch ResultCode(rawValue: code) {
            // SQLite can read the file, but refuses its content.
            case .corrupt where reason.hasSuffix("()"): nil
            case .busy, .locked: "another connection uses the store: close the program that has it open and run again"
            case .full: "make space on the disk and run again"
            case .corrupt: "the file is damaged: work on a copy repaired with sqlite3's .recover, or on a backup"
            case .notADatabase: "the file isn't an SQLite database, or it is encrypted: check the path"
            case .cannotOpen: "check that the path exists and that you may read it and write its folder"
            case .readOnlyRollback: "an interrupted transaction must be rolled back first: open it for writing once"
            case .readOnlyMoved: "the file was replaced while open: run again"
            case .readOnly, .permission: "check the permissions of the file and of its folder"
            case .ioError: "the disk or file system failed: check it, then run again"
            case .tooBig: "a value or statement is over the limit set for this connection"
            default: nil
            }
        guard let remedy else { return reason }
        return "\(reason); \(remedy)"
    }
}

extension SQLiteError {
    /// Whether the failure is the system's, not the file's: the same call may succeed another time.
    package var isOfSystem: Bool {
        switch code {
        case .ioError, .full, .outOfMemory, .cannotOpen, .busy, .locked, .interrupted, .permission: true
        default: false
        }
    }

    /// Whether the file itself is damaged: a backup or a salvage helps, and the statement says nothing.
    package var isDamage: Bool {
        switch code {
        case .corrupt, .notADatabase, .mismatch: true
        default: false
        }
    }
}
