internal import CausewayCSQLite

/// Stand-ins for what only an app registers, so that SQL that names it can be compiled where the app isn't.
extension Connection {
    /// Registers a function of any number of arguments that gives NULL.
    ///
    /// Triggers that Core Data makes call functions (`NSCoreDataTriggerUpdateAffectedObjectValue`) that exist in its own
    /// process only; without a stand-in every statement that would fire them fails to compile.
    package func registerNoOpFunction(_ name: String) throws(SQLiteError) {
        // Innocuous: with an untrusted schema, triggers may call no other.
        let flags = SQLITE_UTF8 | SQLITE_INNOCUOUS
        let result = unsafe sqlite3_create_function_v2(
            handle, name, -1, flags, nil, { context, _, _ in unsafe sqlite3_result_null(context) }, nil, nil, nil)
        if result != SQLITE_OK { throw unsafe SQLiteError.last(of: handle, result: result) }
    }

    /// Registers a collating sequence that takes all texts for equal.
    package func registerStandInCollation(_ name: String) throws(SQLiteError) {
        let result = unsafe sqlite3_create_collation_v2(handle, name, SQLITE_UTF8, nil, { _, _, _, _, _ in 0 }, nil)
        if result != SQLITE_OK { throw unsafe SQLiteError.last(of: handle, result: result) }
    }

    /// Removes it again: what compares by it no longer compiles.
    package func removeStandInCollation(_ name: String) throws(SQLiteError) {
        let result = unsafe sqlite3_create_collation_v2(handle, name, SQLITE_UTF8, nil, nil, nil)
        if result != SQLITE_OK { throw unsafe SQLiteError.last(of: handle, result: result) }
    }

    /// Whether a double-quoted word that names no column is a text, as it is in the SQLite that apps come with.
    package func setDoubleQuotedTexts(_ isOn: Bool) throws(SQLiteError) {
        try unsafe Hardening.configure(handle, SQLITE_DBCONFIG_DQS_DML, name: "DQS_DML", to: isOn)
        try unsafe Hardening.configure(handle, SQLITE_DBCONFIG_DQS_DDL, name: "DQS_DDL", to: isOn)
    }
}
