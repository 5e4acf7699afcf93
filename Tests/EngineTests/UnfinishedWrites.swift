import CausewayEngine
import CausewaySQLite
import Foundation

/// Files that a crashed program leaves beside a store.
extension Scenario {
    var wal: String { store + "-wal" }
    var journal: String { store + "-journal" }

    /// Leaves commits that only the -wal has, one for each statement.
    func leaveWAL(_ statements: [String]) throws {
        let connection = try Connection(path: store, mode: .readWrite, hardening: .own)
        try connection.setJournalMode(.wal)
        try connection.setPragma("wal_autocheckpoint", to: 0)
        for statement in statements { try connection.execute(statement) }
        try keep([store, wal])
        try connection.close()
        try putBack([store, wal])
    }

    /// Leaves a hot journal: a transaction had written to a store, or its backup, when its program ended.
    func leaveHotJournal(beside other: String? = nil) throws {
        let store = other ?? store
        let journal = store + "-journal"
        let connection = try Connection(path: store, mode: .readWrite, hardening: .own)
        // In pages; so few that changed pages must be written before the commit.
        try connection.setPragma("cache_size", to: 4)
        try connection.begin(.immediate)
        try connection.execute("CREATE TABLE unfinished AS SELECT randomblob(2000) FROM sqlite_schema")
        try keep([store, journal])
        try connection.rollback()
        try connection.close()
        try putBack([store, journal])
    }

    private func keep(_ paths: [String]) throws {
        for path in paths { try FileManager.default.copyItem(atPath: path, toPath: path + ".kept") }
    }

    private func putBack(_ paths: [String]) throws {
        for path in paths {
            if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
            try FileManager.default.moveItem(atPath: path + ".kept", toPath: path)
        }
    }

    /// Bytes of a frame of the -wal, which has the store's page size.
    static let frameLength = 24 + 4_096

    /// Frames in the -wal.
    func frames() throws -> Int { (try bytes(wal).count - 32) / Self.frameLength }

    /// Changes a bit in the page of a frame, counted from 1; from the end where it is negative.
    func damageFrame(_ number: Int) throws {
        let frame = number > 0 ? number : try frames() + 1 + number
        try change(wal) { $0[32 + (frame - 1) * Self.frameLength + 500] ^= 1 }
    }

    func change(_ path: String, _ body: (inout Data) throws -> Void) throws {
        var data = try bytes(path)
        try body(&data)
        try data.write(to: URL(filePath: path))
    }

    func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }

    func names(_ folder: String? = nil) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder ?? self.folder).sorted()
    }
}
