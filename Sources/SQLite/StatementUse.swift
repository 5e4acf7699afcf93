internal import CausewayCSQLite

/// What statements name, as SQLite resolved them while it compiled them; names in lower case.
package struct StatementUse: Sendable {
    /// Tables and views that are read or written.
    package var tables: Set<String> = []
    /// Views and triggers whose text is part of the statement.
    package var scopes: Set<String> = []
    /// How often each column of a table is read.
    package var reads: [String: [String: Int]] = [:]

    package init() {}

    package mutating func merge(_ other: StatementUse) {
        tables.formUnion(other.tables)
        scopes.formUnion(other.scopes)
        reads.merge(other.reads) { $0.merging($1, uniquingKeysWith: +) }
    }
}

/// What is compiled while its use is recorded.
package enum RecordedText: Hashable, Sendable {
    /// A `CREATE` statement of a schema that isn't trusted: it may only define its object. In particular
    /// `CREATE TABLE … AS SELECT` is refused, which would run the query.
    case definition
    /// Any statement; it is compiled, never stepped.
    case statement
}

extension Connection {
    /// Runs `body` and records what the statements that it compiles name. What isn't allowed fails with
    /// `.notAuthorized`. It removes any earlier authorization.
    package mutating func recordingUse(
        of text: RecordedText, _ body: (inout Connection) throws(SQLiteError) -> Void
    ) throws(SQLiteError) -> StatementUse {
        var use = StatementUse()
        let context = AuthorizerContext { action, first, second, scope in
            if let scope { use.scopes.insert(scope) }
            switch action {
            case SQLITE_READ, SQLITE_INSERT, SQLITE_DELETE, SQLITE_UPDATE:
                guard let first else { return false }
                use.tables.insert(first)
                if action == SQLITE_READ, let second, !second.isEmpty {
                    use.reads[first, default: [:]][second, default: 0] += 1
                }
                return true
            case SQLITE_FUNCTION, SQLITE_CREATE_TABLE, SQLITE_CREATE_INDEX, SQLITE_CREATE_VIEW, SQLITE_CREATE_TRIGGER,
                SQLITE_REINDEX:
                return true
            case SQLITE_SELECT, SQLITE_RECURSIVE: return text == .statement
            default: return false
            }
        }
        try setAuthorizer(context)
        defer { try? setAuthorizer(nil) }
        try body(&self)
        return use
    }
}
