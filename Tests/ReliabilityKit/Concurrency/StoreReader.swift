#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif
internal import CausewayPlatform
internal import CausewaySQLite

/// An application that reads the store in a process of its own. Rows are only ever added: a reader that sees fewer rows
/// than before has seen a store that lost some, even if they come back.
package struct StoreReader {
    package var store: String
    /// The reader works while this file exists.
    package var whileExists: String
    package var seed: UInt64

    package init(store: String, whileExists: String, seed: UInt64) {
        self.store = store
        self.whileExists = whileExists
        self.seed = seed
    }

    /// A row count that went down.
    package struct RowsVanished: Error, CustomStringConvertible {
        package let before: Int64
        package let after: Int64

        package var description: String { "a reader saw \(before) rows, then \(after)" }
    }

    /// Reads until told to stop.
    package func run() throws {
        var random = SeededRandom(seed: seed)
        var seen: Int64 = 0
        while try Files.exists(whileExists) {
            do {
                let count = try count()
                guard count >= seen else { throw RowsVanished(before: seen, after: count) }
                seen = count
            } catch let error as SQLiteError where StoreWriter.isExpected(error) {
                // The store is locked for a moment, or was replaced while it was opened.
            }
            usleep(UInt32.random(in: 0...4_000, using: &random))
        }
    }

    private func count() throws(SQLiteError) -> Int64 {
        // A WAL store can't always be opened read-only; an application opens it for writing too.
        let connection = try Connection(path: store, mode: .readWrite, hardening: .own)
        try connection.setBusyTimeout(milliseconds: 0)
        var statement = try connection.prepare("SELECT count(*) FROM ZENTRY")
        guard try statement.step() else { return 0 }
        return statement.int64(at: 0)
    }
}
