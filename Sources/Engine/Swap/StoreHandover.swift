import CausewayPlatform
import CausewayStores

/// Keeps other programs away from a store that has just got its name, until the file that had the name before is closed
/// everywhere.
///
/// SQLite finds a journal and a -wal by the name that it opened a file with. A program that opened the old file and
/// begins its first transaction after the swap, for example because it waited for our lock, would use those of the new
/// store: it would write them into the old file, or pages of the old file into the new store. While the new store is
/// locked, no program makes a journal or a -wal there, and SQLite tells such a program that its file was moved as soon
/// as it writes.
struct StoreHandover: ~Copyable {
    /// Where SQLite's locks are in every database (os.h): PENDING, RESERVED, and the bytes of SHARED.
    static let lockStart: Int64 = 0x4000_0000
    static let lockLength: Int64 = 512
    /// Seconds to wait for processes that have the old file open, and for processes that the system doesn't show.
    private static let patience = 5.0
    private static let blindPatience = 0.25
    /// Milliseconds between two looks.
    private static let pause: UInt32 = 10

    private let lock: RangeLock?
    /// The file that is about to lose its name.
    private let old: FileStatus
    private let path: String

    /// Locks a file that is about to get the name; this process must not open it again until the handover has ended.
    ///
    /// - Parameters:
    ///   - file: the new store, open for reading and writing.
    ///   - old: the file that has the name.
    ///   - path: the name.
    /// - Throws: `.busy` where another program has the new store open already, `.inputOutput`.
    init(_ file: consuming OpenFile, from old: FileStatus, at path: String) throws(EngineError) {
        do {
            lock = Mutant.isOn(.noHandover) ? nil : try RangeLock(file, start: Self.lockStart, length: Self.lockLength)
        } catch {
            throw EngineError(
                error.code == .busy ? .busy : .inputOutput, "\(error.path): can't be locked: \(error.message)")
        }
        self.old = old
        self.path = path
    }

    /// Waits, without a lock on the old file, until it is closed everywhere.
    ///
    /// - Returns: a warning about processes that still have it open.
    consuming func end() -> [String] {
        let rest = Self.waitForUsers(of: old)
        guard !rest.isEmpty else { return [] }
        return [Self.warning(rest, path)]
    }

    /// Waits until a file that has lost its name is closed everywhere.
    ///
    /// - Returns: the processes that still have it open.
    static func waitForUsers(of old: FileStatus) -> [FileUser] {
        let started = MonotonicClock.seconds()
        while true {
            let users = Files.otherUsers(of: old)
            let seconds = MonotonicClock.seconds() - started
            if users.known.isEmpty, users.isComplete || seconds > blindPatience { return [] }
            if seconds > patience { return users.known }
            Pause.rest(milliseconds: pause)
        }
    }

    static func warning(_ users: [FileUser], _ path: String) -> String {
        let names = users.map { "\($0.name) (process \($0.processID))" }.joined(separator: ", ")
        return """
            \(path): \(names) still has the old file open; end it before any program writes to the store, or it may \
            damage the store
            """
    }
}
