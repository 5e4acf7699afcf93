internal import CausewayCSQLite

/// What the statements of a connection may do; decided while they are compiled, so it costs nothing per row.
package enum Authorization: Hashable, Sendable {
    case unrestricted
    /// Read any table, call functions, begin and end transactions, and the pragmas that only read.
    case readOnly
    /// As `readOnly`, but only the named tables and SQLite's own schema tables (letters of ASCII compare without case).
    case readOnlyTables(Set<String>)
}

extension Authorization {
    private static let schemaTables: Set<String> = ["sqlite_master", "sqlite_schema", "sqlite_temp_master"]

    /// Pragmas that answer and change nothing, with an argument (a table's or index's name) or without.
    private static let readingPragmas: Set<String> = [
        "application_id", "auto_vacuum", "collation_list", "data_version", "encoding", "foreign_key_list",
        "freelist_count", "index_info", "index_list", "index_xinfo", "integrity_check", "page_count", "page_size",
        "quick_check", "schema_version", "table_info", "table_list", "table_xinfo", "user_version",
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

    /// What the authorizer callback asks; nil where everything is allowed.
    fileprivate var rules: AuthorizerContext? {
        let tables: Set<String>?
        switch self {
        case .unrestricted: return nil
        case .readOnly: tables = nil
        case .readOnlyTables(let names): tables = Set(names.map { $0.lowercased() }).union(Self.schemaTables)
        }
        return AuthorizerContext { action, first, second, _ in
            switch action {
            case SQLITE_SELECT, SQLITE_RECURSIVE, SQLITE_TRANSACTION, SQLITE_SAVEPOINT: return true
            case SQLITE_FUNCTION: return second.map { $0 != "load_extension" } ?? false
            case SQLITE_READ:
                guard let tables else { return true }
                return first.map(tables.contains) ?? false
            case SQLITE_PRAGMA:
                guard let first else { return false }
                if second != nil { return Self.takingName.contains(first) }
                return Self.readingPragmas.contains(first) || Self.readingWithoutArgument.contains(first)
            default: return false
            }
        }
    }
}

/// What the authorizer callback asks.
final class AuthorizerContext {
    /// Whether an action may be compiled. The names that SQLite gives with it are in lower case.
    typealias Rules = (_ action: Int32, _ first: String?, _ second: String?, _ scope: String?) -> Bool

    fileprivate let allows: Rules

    init(_ allows: @escaping Rules) {
        self.allows = allows
    }
}

private func lowercase(_ text: UnsafePointer<CChar>?) -> String? {
    guard let text = unsafe text else { return nil }
    return unsafe String(cString: text).lowercased()
}

extension Connection {
    /// Statements that are compiled from now on fail with `.notAuthorized` if they do more.
    package mutating func setAuthorization(_ authorization: Authorization) throws(SQLiteError) {
        try setAuthorizer(authorization.rules)
    }

    mutating func setAuthorizer(_ context: AuthorizerContext?) throws(SQLiteError) {
        let result: Int32
        if let context {
            result = unsafe sqlite3_set_authorizer(
                handle,
                { context, action, first, second, _, scope in
                    guard let context = unsafe context else { return SQLITE_DENY }
                    let rules = unsafe Unmanaged<AuthorizerContext>.fromOpaque(context).takeUnretainedValue()
                    return unsafe rules.allows(action, lowercase(first), lowercase(second), lowercase(scope))
                        ? SQLITE_OK : SQLITE_DENY
                },
                unsafe Unmanaged.passUnretained(context).toOpaque())
        } else {
            result = unsafe sqlite3_set_authorizer(handle, nil, nil)
        }
        try check(result)
        // Only now may the previous one be released.
        authorizer = context
    }
}
