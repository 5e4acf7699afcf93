package import CausewayPlatform

/// The header's count of the transactions that changed a database
/// (https://www.sqlite.org/fileformat2.html#file_change_counter).
package enum ChangeCounter {
    /// Sets the count in a file that no connection has open, durably.
    ///
    /// Both places of it, the count and that for which the number of pages is valid, are in the first 512 bytes. Where
    /// a power cut leaves one of them alone, SQLite takes the number of pages from the file's length.
    ///
    /// - Parameters:
    ///   - counter: the new count. Where the header has it already, nothing is written.
    ///   - path: of a database that isn't in WAL mode and has no journal.
    /// - Throws: what can't be read, written or synced; `.other` where the file is no database.
    package static func set(_ counter: UInt32, in path: String) throws(FileError) {
        let file = try OpenFile(path, mode: .readWrite)
        var header = try file.prefix(DatabaseHeader.length)
        guard DatabaseHeader(header) != nil else {
            throw FileError(code: .other, operation: "read", path: path, message: "it isn't an SQLite database")
        }
        guard header[.changeCounter] != counter || header[.versionValidFor] != counter else { return }
        header[.changeCounter] = counter
        header[.versionValidFor] = counter
        try file.write(header)
        try file.sync()
    }
}
