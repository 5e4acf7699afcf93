internal import CausewayCSQLite

/// Facts and settings of the SQLite library that this process is linked with.
package enum SQLiteLibrary {
    /// `3.40.1`
    package static var version: String {
        guard let text = unsafe sqlite3_libversion() else { return "" }
        return unsafe String(cString: text)
    }

    /// `3040001`
    package static var versionNumber: Int { Int(sqlite3_libversion_number()) }

    /// Switches the library's global memory statistics off, so that threads don't contend for its lock.
    ///
    /// For a program of its own, before the first connection. In a process that already uses SQLite it changes nothing.
    /// - Returns: whether it took effect.
    package static func disableMemoryStatistics() -> Bool {
        causeway_config(SQLITE_CONFIG_MEMSTATUS, 0) == SQLITE_OK
    }
}
