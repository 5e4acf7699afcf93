/// The first 100 bytes of a database file (https://www.sqlite.org/fileformat2.html#the_database_header).
package struct DatabaseHeader: Hashable, Sendable {
    /// Bytes of the header.
    package static let length = 100

    /// Byte at which a number of four bytes is, big-endian.
    enum Field: Int {
        case changeCounter = 24
        case pageCount = 28
        case firstFreelistTrunk = 32
        case freelistCount = 36
        case schemaFormat = 44
        case largestRootPage = 52
        case textEncoding = 56
        /// Not 0: auto_vacuum is incremental.
        case isIncremental = 64
        case versionValidFor = 92
    }

    /// How texts are stored.
    package enum TextEncoding: UInt32, Hashable, Sendable {
        case utf8 = 1
        case utf16LittleEndian = 2
        case utf16BigEndian = 3
    }

    /// Whether free pages are given back to the file system; other modes than `none` have pointer-map pages.
    package enum AutoVacuum: Hashable, Sendable {
        case none
        case full
        case incremental
    }

    /// Bytes, 512 to 65,536.
    package let pageSize: Int
    /// Bytes at the end of each page that SQLite leaves to extensions; almost always 0.
    package let reservedBytes: Int
    /// Both version bytes are 2: the database is in WAL mode.
    package let isWAL: Bool
    /// Both version bytes are 1 or 2, and the schema format is at most 4: SQLite writes no others. It treats a database
    /// with another write version as read-only, and has no error code for another schema format.
    package let hasKnownVersions: Bool
    /// The payload fractions are 64, 32 and 32; SQLite opens no file that says others.
    package let hasKnownFractions: Bool
    /// Pages, as the last writer left them; nil where that writer didn't keep the number.
    package let pageCount: Int?
    /// Nil where no table was made yet, and where the number is none that SQLite writes.
    package let textEncoding: TextEncoding?
    /// 1 to 4; 0 where no table was made yet.
    package let schemaFormat: Int
    package let autoVacuum: AutoVacuum
    /// With auto_vacuum, the largest number of a root page; else 0.
    package let largestRootPage: Int
    /// The first trunk page of the list of free pages; 0 for none.
    package let firstFreelistTrunk: Int
    /// Free pages, trunks included.
    package let freelistCount: Int
    /// Counts the transactions that changed the file (in WAL mode, not each).
    package let changeCounter: UInt32
    /// The change counter when a writer last kept `pageCount`.
    package let versionValidFor: UInt32

    /// Nil where this isn't an SQLite database: another magic, an impossible page size, fewer bytes than the header.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.length, bytes.starts(with: Array("SQLite format 3\0".utf8)) else { return nil }
        let size = Int(bytes[16]) << 8 | Int(bytes[17])
        pageSize = size == 1 ? 65_536 : size
        guard pageSize >= 512, pageSize & (pageSize - 1) == 0 else { return nil }
        isWAL = bytes[18] == 2 && bytes[19] == 2
        hasKnownVersions = (1...2).contains(bytes[18]) && (1...2).contains(bytes[19]) && bytes[.schemaFormat] <= 4
        hasKnownFractions = bytes[21] == 64 && bytes[22] == 32 && bytes[23] == 32
        // The page count is valid only where "version-valid-for" equals the change counter.
        let isCounted = bytes[.changeCounter] == bytes[.versionValidFor] && bytes[.pageCount] != 0
        pageCount = isCounted ? Int(bytes[.pageCount]) : nil
        reservedBytes = Int(bytes[20])
        textEncoding = TextEncoding(rawValue: bytes[.textEncoding])
        schemaFormat = Int(bytes[.schemaFormat])
        // SQLite asks for "incremental" only where a largest root page makes it auto_vacuum at all.
        autoVacuum = bytes[.largestRootPage] == 0 ? .none : bytes[.isIncremental] == 0 ? .full : .incremental
        largestRootPage = Int(bytes[.largestRootPage])
        firstFreelistTrunk = Int(bytes[.firstFreelistTrunk])
        freelistCount = Int(bytes[.freelistCount])
        changeCounter = bytes[.changeCounter]
        versionValidFor = bytes[.versionValidFor]
    }
}

extension [UInt8] {
    /// A number of the database header, of whose bytes these are the first.
    subscript(field: DatabaseHeader.Field) -> UInt32 {
        get { self[field.rawValue..<field.rawValue + 4].reduce(0) { $0 << 8 | UInt32($1) } }
        set {
            for index in 0..<4 {
                self[field.rawValue + index] = UInt8(truncatingIfNeeded: newValue >> (24 - 8 * UInt32(index)))
            }
        }
    }

    /// Makes both format versions those of a database that isn't in WAL mode.
    mutating func setRollbackJournal() {
        self[18] = 1
        self[19] = 1
    }
}
