import CausewayPlatform
import CausewaySQLite
import CausewayStores

/// The temporary database of a comparison by content: digests and keys of rows, and the links between them; no content.
///
/// Its file has no name any more once it is open, so nothing is left of it however the process ends. SQLite keeps at
/// most `cacheBytes` of it in memory, and as much of each sort; the rest is on the disk, in about 60 bytes for a row
/// and 40 for a link, twice.
struct ContentWork: ~Copyable {
    /// Pages in memory, and rows of a sort in memory: large enough that sorts of a billion links need one merge.
    private static let cacheBytes: Int64 = 16 << 20

    let connection: Connection
    /// Which of the two tables of colours is the current one.
    private var current = 0

    /// - Parameter folder: where the file is made.
    /// - Throws: where it can't be made, with the folder.
    init(in folder: String) throws(EngineError) {
        let name = ".causeway-compare-\(ProcessFacts.processID)-\(MonotonicClock.nanoseconds())"
        let path = Paths.join(folder, name)
        // The stores aren't to blame: the message must name the folder.
        try EngineError.at(
            "\(folder): no temporary file can be made there", as: .cannotCreate,
            remedy: "name another folder in TMPDIR, or make room"
        ) {
            // Private, and nobody else's.
            _ = try OpenFile(path, mode: .createNew)
        }
        // Without a name it is gone with the process; if it can't be removed, it holds no content.
        defer { _ = try? Files.unlink(path) }
        connection = try EngineError.writing("\(folder), the folder of temporary files") { try Self.opened(path) }
    }

    private static func opened(_ path: String) throws(SQLiteError) -> Connection {
        let connection = try Connection(path: path, mode: .readWrite, hardening: .own)
        // One transaction that is never committed, in an empty file: no page is ever kept for a rollback.
        try connection.setJournalMode(.memory)
        try connection.setPragma("synchronous", to: 0)
        try connection.setPragma("cache_size", to: -(cacheBytes >> 10))
        try connection.setPragma("locking_mode", to: "EXCLUSIVE")
        try connection.begin(.exclusive)
        try connection.execute(colours(0))
        try connection.execute(
            "CREATE TABLE raw (t INTEGER, pk INTEGER, label INTEGER, place INTEGER, ot INTEGER, opk INTEGER)")
        return connection
    }

    private static func colours(_ number: Int) -> String {
        """
        CREATE TABLE colour\(number) (t INTEGER, pk INTEGER, entity INTEGER, digest BLOB, PRIMARY KEY (t, pk)) \
        WITHOUT ROWID
        """
    }

    /// Adds rows: table, key, entity and digest.
    func insertRow() throws(SQLiteError) -> Statement {
        try connection.prepare("INSERT OR REPLACE INTO colour\(current) VALUES (?1, ?2, ?3, ?4)", persistent: true)
    }

    /// Adds links: table, key, label, place, table and key at the other end.
    func insertLink() throws(SQLiteError) -> Statement {
        try connection.prepare("INSERT INTO raw VALUES (?1, ?2, ?3, ?4, ?5, ?6)", persistent: true)
    }

    /// Sorts the links by their other ends, so that every round looks colours up in the order of the table.
    func sortLinks() throws(SQLiteError) {
        try connection.execute("CREATE TABLE link AS SELECT t, pk, label, place, ot, opk FROM raw ORDER BY ot, opk")
        try connection.execute("DROP TABLE raw")
    }

    /// Table, key, label, place and the digest at the other end, NULL where no row is there; in the order of the rows.
    func links() throws(SQLiteError) -> Statement {
        try connection.prepare(
            """
            SELECT l.t, l.pk, l.label, l.place, c.digest FROM link AS l LEFT JOIN colour\(current) AS c \
            ON c.t = l.ot AND c.pk = l.opk ORDER BY l.t, l.pk
            """)
    }

    /// Table, key, entity and digest, in the order of the links' rows.
    func rows() throws(SQLiteError) -> Statement {
        try connection.prepare("SELECT t, pk, entity, digest FROM colour\(current) ORDER BY t, pk")
    }

    /// Entity, rows of both stores, and the smallest key in each, for every digest.
    func groups() throws(SQLiteError) -> Statement {
        try connection.prepare(
            """
            SELECT entity, sum(t & 1 = 0), sum(t & 1), min(CASE WHEN t & 1 = 0 THEN pk END), \
            min(CASE WHEN t & 1 THEN pk END) FROM colour\(current) GROUP BY entity, digest
            """)
    }

    /// Runs `body`, which adds every row with its next digest, and makes those the current ones.
    mutating func nextRound(_ body: (borrowing ContentWork, inout Statement) throws -> Void) throws {
        let next = 1 - current
        try connection.execute(Self.colours(next))
        try fill(next, body)
        try connection.execute("DROP TABLE colour\(current)")
        current = next
    }

    /// The statement ends here: a table that a statement uses can't be dropped.
    private func fill(_ number: Int, _ body: (borrowing ContentWork, inout Statement) throws -> Void) throws {
        var insert = try connection.prepare("INSERT INTO colour\(number) VALUES (?1, ?2, ?3, ?4)", persistent: true)
        try body(self, &insert)
    }
}
