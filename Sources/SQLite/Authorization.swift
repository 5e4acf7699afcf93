internal import CausewayCSQLite

/// What the statements of a connection may do; decided while they are compiled, so it costs nothing per row.
package enum Authorization: Hashable, Sendable {
    case unrestricted
    /// Read any table, call functions, begin and end transactions, and the pragmas that only read.
    case readOnly
    /// As `readOnly`, but only the named tables and SQLite's own schema tables (letters of ASCII compare without case).
    case readOnlyTables(Set<String>)
}

/// What the authorizer callback looks at.
final class AuthorizerContext {
    /// Lower case; nil: every table.
    let tables: Set<String>?

    init(tables: Set<String>?) {
        self.tables = tables.map { Set($0.map { $0.lowercased() }).union(Self.schemaTables) }
    }

    private static let schemaTables: Set<String> = ["sqlite_master", "sqlite_schema", "sqlite_temp_master"]

    /// Pragmas that answer and change nothing, with an argument (a table's or index's name) or without.
    private static let readingPragmas: Set<String> = [
        "application_id", "auto_vacuum", "collation_list", "data_version", "encoding", "foreign_key_list",
        "freelist_count", "index_info",
        "index_list", "index_xinfo", "integrity_check", "page_count", "page_size", "quick_check", "schema_version",
        "table_info", "table_list", "table_xinfo", "user_version",
    ]

    /// Pragmas that answer when they have no argument and change something when they have one.
    private static let readingWithoutArgument: Set<String> = [
        "cache_size", "journal_mode", "journal_size_limit", "locking_mode", "mmap_size", "query_only", "synchronous",
    ]

    /// Pragmas of the first list that take a name; the others would be set by an argument.
    private static let takingName: Set<String> = [
        "foreign_key_list", "index_info", "index_list", "index_xinfo", "integrity_check", "quick_check", "table_info",
        "table_list", "table_xinfo",
    ]

    func allows(action: Int32, first: UnsafePointer<CChar>?, second: UnsafePointer<CChar>?) -> Bool {
        switch action {
        case SQLITE_SELECT, SQLITE_RECURSIVE, SQLITE_TRANSACTION, SQLITE_SAVEPOINT:
            return true
        case SQLITE_FUNCTION:
            guard let name = unsafe second else { return false }
            return unsafe String(cString: name).lowercased() != "load_extension"
        case SQLITE_READ:
            guard let tables else { return true }
            guard let name = unsafe first else { return false }
            return unsafe tables.contains(String(cString: name).lowercased())
        case SQLITE_PRAGMA:
            guard let name = unsafe first.map({ unsafe String(cString: $0).lowercased() }) else { return false }
            if unsafe second == nil {
                return Self.readingPragmas.contains(name) || Self.readingWithoutArgument.contains(name)
            }
            return Self.takingName.contains(name)
        default:
            return false
        }
    }
}

extension Connection {
    /// Statements that are compiled from now on fail with `.notAuthorized` if they do more.
    package mutating func setAuthorization(_ authorization: Authorization) throws(SQLiteError) {
        let context: AuthorizerContext? =
            switch authorization {
            case .unrestricted: nil
            case .readOnly: AuthorizerContext(tables: nil)
            case .readOnlyTables(let tables): AuthorizerContext(tables: tables)
            }
        let result: Int32
        if let context {
            result = unsafe sqlite3_set_authorizer(
                handle,
                { context, action, first, second, _, _ in
                    guard let context = unsafe context else { return SQLITE_DENY }
                    let rules = unsafe Unmanaged<AuthorizerContext>.fromOpaque(context).takeUnretainedValue()
                    return unsafe rules.allows(action: action, first: first, second: second)
                        ? SQLITE_OK : SQLITE_DENY
                },
                unsafe Unmanaged.passUnretained(context).toOpaque())
        } else {
            result = unsafe sqlite3_set_authorizer(handle, nil, nil)
        }
        if result != SQLITE_OK { throw unsafe SQLiteError.last(of: handle, result: result) }
        // Only now may the previous one be released.
        authorizer = context
    }
}
