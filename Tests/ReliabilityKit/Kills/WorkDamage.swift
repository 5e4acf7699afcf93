internal import CausewayEngine
internal import CausewayPlatform
internal import CausewaySQLite
internal import Foundation

/// A damaged file of a work directory, and how the next run must react to it (InsideCrashSafety §4.5).
struct WorkDamage {
    let name: String
    /// The next run's exit code. 0: what is left is enough, or the file counts as missing and is made again. 76 or 77:
    /// the plan names another store, or is another plan.
    let code: Int32

    /// Bytes of a work directory's file in this harness, at most.
    private static let fileLimit = 64 << 20
    /// The length of the container in the progress row's blob; the container follows it.
    private static let lengthBytes = 8

    /// Changes a byte of a file, truncates it, or removes its progress row. Files of rows are left out: SQLite doesn't
    /// detect damage by a disk there, and no promise covers it.
    ///
    /// - Parameters:
    ///   - work: the work directory.
    ///   - store: the store's path.
    ///   - random: chooses the file and the damage.
    /// - Returns: nil if there is no file to damage.
    /// - Throws: errors of the file system and SQLite.
    static func make(in work: String, store: String, _ random: inout SeededRandom) throws -> WorkDamage? {
        let names = try Files.list(work).filter { name in
            name != "lock" && !name.hasSuffix("-journal") && !name.hasSuffix("-objects.sqlite")
        }
        for name in names.sorted().shuffled(using: &random) {
            let path = work + "/" + name
            if name.hasSuffix(".sqlite") {
                if try damageProgress(path, &random) { return WorkDamage(name: name, code: 0) }
                continue
            }
            let before = try Files.readFile(path, limit: fileLimit)
            var after = before
            if before.isEmpty || Int.random(in: 0..<4, using: &random) == 0 {
                after = Array(before.prefix(Int.random(in: 0...max(0, before.count - 1), using: &random)))
            } else {
                after[Int.random(in: 0..<before.count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
            }
            guard let code = try code(name, before, after, store: store) else { continue }
            try Files.writeFileDurably(path, after)
            return WorkDamage(name: name, code: code)
        }
        return nil
    }

    /// Removes a row from the staging store.
    ///
    /// - Parameter work: the work directory.
    /// - Returns: the row's table; nil if no entity has rows yet.
    /// - Throws: errors of the file system and SQLite.
    static func removeRow(in work: String) throws -> String? {
        for name in try Files.list(work).sorted() where name.hasSuffix(".sqlite") && !name.hasSuffix("-objects.sqlite")
        {
            let connection = try Connection(path: work + "/" + name, mode: .readWrite, hardening: .own)
            // In a store without progress, the rows have been verified.
            guard let stored = try ProgressRow.stored(connection), stored.count > lengthBytes else { continue }
            var tables: [String] = []
            var list = try connection.prepare(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'Z[^_]*' ORDER BY name")
            while try list.step() { if let table = try list.string(at: 0) { tables.append(table) } }
            list.reset()
            for table in tables {
                let quoted = "\"" + table + "\""
                try connection.execute(
                    "DELETE FROM \(quoted) WHERE rowid = (SELECT min(rowid) FROM \(quoted))")
                var changes = try connection.prepare("SELECT changes()")
                if try changes.step(), changes.int64(at: 0) == 1 { return table }
            }
        }
        return nil
    }

    /// The expected code for a file's damage; nil if the damaged file is a valid one with other content.
    private static func code(_ name: String, _ before: [UInt8], _ after: [UInt8], store: String) throws -> Int32? {
        switch name {
        case "plan.json":
            guard let old = record(before, PlanRecord.self), let new = record(after, PlanRecord.self) else { return 0 }
            if new.format != old.format || new.migration.count != old.migration.count { return 77 }
            if !new.migration.allSatisfy(\.isHexDigit) { return 77 }
            if new.source.bytes != old.source.bytes || new.source.header != old.source.header { return 76 }
            return new.fingerprint == old.fingerprint ? 0 : 77
        case "swap.json":
            // An intent with the old store's inode as the new one's can't be told from a true one.
            guard let intent = record(after, SwapIntent.self) else { return 0 }
            return try Files.linkStatus(of: store).inode == intent.destination.inode ? nil : 0
        // Records of a verification, checkpoints and segments are proofs and copies: without them the work is done
        // again.
        default: return 0
        }
    }

    private static func record<Record: Decodable>(_ bytes: [UInt8], _ type: Record.Type) -> Record? {
        // An unreadable record is one of the cases.
        try? JSONDecoder().decode(type, from: Data(bytes))
    }

    /// Damages the progress row: a byte of it, its type, or all of it. A staging store without one is left unchanged.
    ///
    /// - Returns: whether there was such a row.
    private static func damageProgress(_ path: String, _ random: inout SeededRandom) throws -> Bool {
        let connection = try Connection(path: path, mode: .readWrite, hardening: .own)
        guard let stored = try ProgressRow.stored(connection), stored.count > lengthBytes else { return false }
        let container = ProgressRow.length(stored).map { min($0, stored.count - lengthBytes) } ?? 0
        let place = Int.random(in: 0..<lengthBytes + max(1, container), using: &random)
        let table = ProgressRow.table
        switch Int.random(in: 0..<8, using: &random) {
        case 0: try connection.execute("DELETE FROM \(table)")
        case 1: try connection.execute("UPDATE \(table) SET state = 5")
        case 2: try connection.execute("UPDATE \(table) SET state = substr(state, 1, \(place))")
        default:
            var bytes = stored
            bytes[place] ^= UInt8.random(in: 1...255, using: &random)
            var update = try connection.prepare("UPDATE \(table) SET state = ?")
            try update.bind(bytes, at: 1)
            try update.run()
        }
        return true
    }
}
