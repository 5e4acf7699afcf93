internal import CausewayCSQLite

/// A result code of SQLite, extended where SQLite gives one (https://www.sqlite.org/rescode.html).
///
/// In a `switch`, a primary code matches all its extended codes: `case .ioError` matches `SQLITE_IOERR_READ`.
package struct ResultCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: Int32

    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// The low byte: the family that an extended code belongs to.
    package var primary: ResultCode { ResultCode(rawValue: rawValue & 0xff) }

    package static func ~= (pattern: ResultCode, value: ResultCode) -> Bool {
        value == pattern || value.primary == pattern
    }

    /// The number and SQLite's English name for it: `5 (database is locked)`.
    package var description: String {
        guard let text = unsafe sqlite3_errstr(rawValue) else { return "\(rawValue)" }
        return "\(rawValue) (\(unsafe EscapedText.of(cString: text)))"
    }
}

extension ResultCode {
    package static let error = ResultCode(rawValue: SQLITE_ERROR)
    package static let permission = ResultCode(rawValue: SQLITE_PERM)
    package static let busy = ResultCode(rawValue: SQLITE_BUSY)
    package static let locked = ResultCode(rawValue: SQLITE_LOCKED)
    package static let outOfMemory = ResultCode(rawValue: SQLITE_NOMEM)
    package static let readOnly = ResultCode(rawValue: SQLITE_READONLY)
    package static let interrupted = ResultCode(rawValue: SQLITE_INTERRUPT)
    package static let ioError = ResultCode(rawValue: SQLITE_IOERR)
    package static let corrupt = ResultCode(rawValue: SQLITE_CORRUPT)
    package static let full = ResultCode(rawValue: SQLITE_FULL)
    package static let cannotOpen = ResultCode(rawValue: SQLITE_CANTOPEN)
    package static let lockProtocol = ResultCode(rawValue: SQLITE_PROTOCOL)
    package static let schemaChanged = ResultCode(rawValue: SQLITE_SCHEMA)
    package static let tooBig = ResultCode(rawValue: SQLITE_TOOBIG)
    package static let constraint = ResultCode(rawValue: SQLITE_CONSTRAINT)
    package static let mismatch = ResultCode(rawValue: SQLITE_MISMATCH)
    package static let misuse = ResultCode(rawValue: SQLITE_MISUSE)
    package static let notAuthorized = ResultCode(rawValue: SQLITE_AUTH)
    package static let range = ResultCode(rawValue: SQLITE_RANGE)
    package static let notADatabase = ResultCode(rawValue: SQLITE_NOTADB)

    // Extended codes that callers tell apart. The macros are expressions over others, so Swift doesn't import them.
    /// A read-only connection met a hot rollback journal and may not roll it back.
    package static let readOnlyRollback = ResultCode(rawValue: SQLITE_READONLY | (3 << 8))
    /// The database file was moved or replaced under the connection.
    package static let readOnlyMoved = ResultCode(rawValue: SQLITE_READONLY | (4 << 8))
    package static let constraintNotNull = ResultCode(rawValue: SQLITE_CONSTRAINT | (5 << 8))
    package static let constraintPrimaryKey = ResultCode(rawValue: SQLITE_CONSTRAINT | (6 << 8))
    package static let constraintUnique = ResultCode(rawValue: SQLITE_CONSTRAINT | (8 << 8))
    package static let ioErrorRead = ResultCode(rawValue: SQLITE_IOERR | (1 << 8))
    /// The file is shorter than its header says.
    package static let ioErrorShortRead = ResultCode(rawValue: SQLITE_IOERR | (2 << 8))
    /// `fsync` failed: its pages count as lost (InsideCrashSafety §2.2).
    package static let ioErrorSync = ResultCode(rawValue: SQLITE_IOERR | (4 << 8))
    package static let ioErrorDirectorySync = ResultCode(rawValue: SQLITE_IOERR | (5 << 8))
}
