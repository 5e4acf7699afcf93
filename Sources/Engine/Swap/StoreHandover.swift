import CausewayPlatform
import CausewayStores

/// Keeps everybody away from a store that has just got its name, until the file that had it before is closed everywhere.
///
/// SQLite finds a journal and a -wal by the name that it opened a file with. A program that opened the old file and begins
/// its first transaction on it after the swap, as one does that waited for our lock, takes those of the new store for its
/// own: it plays them into the old file, or writes pages of the old file into the new store. While the new store is
/// locked no one makes a journal or a -wal there, and such a program is told by SQLite that its file was moved as soon as
/// it writes.
struct StoreHandover: ~Copyable {
    /// Where SQLite's locks are in every database (os.h): PENDING, RESERVED, and the bytes of SHARED.
    static let lockStart: Int64 = 0x4000_0000
    static let lockLength: Int64 = 512
    /// Seconds to wait for those who have the old file open, and for those of whom the system doesn't say.
    private static let patience = 5.0
    private static let blindPatience = 0.25
    /// Milliseconds between two looks.
    private static let pause: UInt32 = 10

    private let lock: RangeLock?
    /// The file that is about to lose its name.
    private let old: FileStatus
    private let path: String

    /// Locks a file that is about to get the name; from now on this process opens it no more until the handover has
    /// ended.
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

    /// Waits, with no lock on the old file any more, until it is closed everywhere.
    ///
    /// - Returns: a warning about those who still have it.
    consuming func end() -> [String] {
        let rest = Self.waitForUsers(of: old)
        guard !rest.isEmpty else { return [] }
        return [Self.warning(rest, path)]
    }

    /// Waits until a file that has lost its name is closed everywhere.
    ///
    /// - Returns: who still has.
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
            \(path): \(names) opened the file that was there before and still has it; end it before anything writes to the \
            store, or it may damage it
            """
    }
}
