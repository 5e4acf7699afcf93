internal import CausewayCSQLite

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Stand-ins for an app's own functions and collations, so that SQL with them compiles outside the app.
extension Connection {
    /// Registers a function of any number of arguments that gives NULL.
    ///
    /// Triggers that Core Data makes call functions (`NSCoreDataTriggerUpdateAffectedObjectValue`) that exist in its
    /// own process only; without a stand-in every statement that would fire them fails to compile.
    package func registerNoOpFunction(_ name: String) throws(SQLiteError) {
        // Innocuous: with an untrusted schema, triggers may call no other.
        // Deterministic: generated columns may call no other.
        let flags = SQLITE_UTF8 | SQLITE_INNOCUOUS | SQLITE_DETERMINISTIC
        try check(
            unsafe sqlite3_create_function_v2(
                handle, name, -1, flags, nil, { context, _, _ in unsafe sqlite3_result_null(context) }, nil, nil, nil))
    }

    /// Registers a collating sequence for which all texts are equal.
    package func registerStandInCollation(_ name: String) throws(SQLiteError) {
        try check(unsafe sqlite3_create_collation_v2(handle, name, SQLITE_UTF8, nil, { _, _, _, _, _ in 0 }, nil))
    }

    /// Whether a double-quoted word that names no column is a text, as it is in the SQLite that apps come with.
    package func setDoubleQuotedTexts(_ isOn: Bool) throws(SQLiteError) {
        try unsafe Hardening.configure(handle, SQLITE_DBCONFIG_DQS_DML, name: "DQS_DML", to: isOn)
        try unsafe Hardening.configure(handle, SQLITE_DBCONFIG_DQS_DDL, name: "DQS_DDL", to: isOn)
    }
}

// MARK: - Lent while a table is made

/// Something that SQLite needs to compile a statement.
package enum StandIn: Hashable, Sendable {
    case function(String)
    case collation(String)
}

extension SQLiteError {
    /// The app's own function or collation without which SQLite refuses a statement; SQLite names it only in its
    /// message.
    package var missingStandIn: StandIn? {
        guard case .error = code else { return nil }
        for (beginning, make) in [
            ("no such function: ", StandIn.function), ("unknown function: ", StandIn.function),
            ("no such collation sequence: ", StandIn.collation),
        ] where message.hasPrefix(beginning) {
            let name = message.dropFirst(beginning.count)
            return make(String(name.hasSuffix("()") ? name.dropLast(2) : name))
        }
        return nil
    }

    /// The forbidden function that a schema calls, from SQLite's message:
    /// `malformed database schema (t) - unsafe use of f()`.
    package var unsafeUse: (object: String, function: String)? {
        let (beginning, middle) = ("malformed database schema (", ") - unsafe use of ")
        guard case .corrupt = code, message.hasPrefix(beginning) else { return nil }
        let rest = message.dropFirst(beginning.count)
        guard let place = rest.firstRange(of: middle) else { return nil }
        return (String(rest[..<place.lowerBound]), String(rest[place.upperBound...]))
    }
}

extension Connection {
    /// Most stand-ins for one statement.
    private static let maximumStandIns = 100

    /// Runs `body` with stand-ins for what SQLite needs, and removes them afterwards.
    package func lendingStandIns(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
        var lent: Set<StandIn> = []
        defer { remove(lent) }
        while true {
            do {
                return try body()
            } catch {
                try lend(after: error, &lent)
            }
        }
    }

    /// Registers what SQLite needs after this error; throws the error if that is nothing new, or too much.
    package func lend(after error: SQLiteError, _ lent: inout Set<StandIn>) throws(SQLiteError) {
        guard let missing = error.missingStandIn, lent.count < Self.maximumStandIns, lent.insert(missing).inserted
        else { throw error }
        switch missing {
        case .function(let name): try registerNoOpFunction(name)
        case .collation(let name): try registerStandInCollation(name)
        }
    }

    /// What needs them no longer compiles. Removing fails only while a statement runs that uses it.
    package func remove(_ standIns: Set<StandIn>) {
        for standIn in standIns {
            switch standIn {
            case .function(let name):
                _ = unsafe sqlite3_create_function_v2(handle, name, -1, SQLITE_UTF8, nil, nil, nil, nil, nil)
            case .collation(let name):
                _ = unsafe sqlite3_create_collation_v2(handle, name, SQLITE_UTF8, nil, nil, nil)
            }
        }
    }
}

// MARK: - Lent while a store is read

extension Hardening {
    /// Makes SQLite order by bytes for an unknown collating sequence: otherwise no statement that uses such an index
    /// would compile, not even `quick_check`. Nothing may depend on that order.
    static func lendCollations(to database: OpaquePointer) throws(SQLiteError) {
        let result = unsafe sqlite3_collation_needed(database, nil) { _, database, _, name in
            guard let database = unsafe database, let name = unsafe name else { return }
            // If it fails, SQLite reports that the sequence is missing.
            _ = unsafe sqlite3_create_collation_v2(
                database, name, SQLITE_UTF8, nil,
                { _, leftCount, left, rightCount, right in
                    let count = Int(min(leftCount, rightCount))
                    guard count > 0, let left = unsafe left, let right = unsafe right else {
                        return leftCount - rightCount
                    }
                    let order = unsafe memcmp(left, right, count)
                    return order == 0 ? leftCount - rightCount : order
                }, nil)
        }
        if result != SQLITE_OK { throw unsafe SQLiteError.last(of: database, result: result) }
    }
}

extension Connection {
    private static let builtInCollations: Set<String> = ["binary", "nocase", "rtrim"]

    /// The collating sequences that this connection stands in for, in lower case.
    package func lentCollations() throws(SQLiteError) -> Set<String> {
        // seq, name
        var list = try prepare("PRAGMA collation_list")
        let names = try list.rows { row throws(SQLiteError) in try row.string(at: 1)?.lowercased() }
        return Set(names).subtracting(Self.builtInCollations)
    }
}
