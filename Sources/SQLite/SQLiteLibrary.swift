internal import CausewayCSQLite

/// Facts of the SQLite library that this process is linked with.
package enum SQLiteLibrary {
    /// `3.40.1`
    package static var version: String {
        guard let text = unsafe sqlite3_libversion() else { return "" }
        return unsafe String(cString: text)
    }
    /// 3040001 for 3.40.1
    package static var versionNumber: Int { Int(sqlite3_libversion_number()) }
}
