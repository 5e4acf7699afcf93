/// The first 100 bytes of a database file (https://www.sqlite.org/fileformat2.html#the_database_header).
package struct DatabaseHeader: Hashable, Sendable {
    /// Bytes of the header.
    package static let length = 100

    /// Bytes, 512 to 65,536.
    package let pageSize: Int
    /// Both version bytes are 2: the database is in WAL mode.
    package let isWAL: Bool
    /// Both version bytes are 1 or 2, and the schema format is at most 4: SQLite writes no others. It treats a database
    /// with another write version as read-only, and has no error code for another schema format.
    package let hasKnownVersions: Bool
    /// Pages, as the last writer left them; nil where that writer didn't keep the number.
    package let pageCount: Int?

    /// Nil where this isn't an SQLite database: another magic, an impossible page size, fewer bytes than the header.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.length, bytes.starts(with: Array("SQLite format 3\0".utf8)) else { return nil }
        let size = Int(bytes[16]) << 8 | Int(bytes[17])
        pageSize = size == 1 ? 65_536 : size
        guard pageSize >= 512, pageSize & (pageSize - 1) == 0 else { return nil }
        isWAL = bytes[18] == 2 && bytes[19] == 2
        func word(_ offset: Int) -> UInt32 {
            bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
        }
        hasKnownVersions = (1...2).contains(bytes[18]) && (1...2).contains(bytes[19]) && word(44) <= 4
        // The page count is valid only where "version-valid-for" equals the change counter.
        pageCount = word(24) == word(92) && word(28) != 0 ? Int(word(28)) : nil
    }
}
