import CausewayPlatform

/// The files of a work directory: their names are defined only here (InsideCrashSafety §4.1).
///
/// Steps are counted from 0 here, and from 1 in names.
enum WorkFile {
    static let lock = "lock"
    /// Made and removed at once, to see what the file system can do.
    static let linkTest = "link-test"
    static let attributeTest = "attribute-test"
    static let plan = "plan.json"
    static let swap = "swap.json"
    /// The note of `OriginalMode`.
    static let originalMode = "was-wal"
    /// The prefix of copies of sidecars.
    static let kept = "kept-"

    private static let store = ".sqlite"
    static let journal = "-journal"
    private static let container = ".cwz"

    // MARK: - Files of a step

    /// The store that the step makes.
    static func staging(_ step: Int) -> String { "step-\(step + 1)\(store)" }

    /// The database of its look-ups.
    static func scratch(_ step: Int) -> String { "step-\(step + 1)-objects\(store)" }

    /// Where the entries of one of its indexes are sorted.
    static func sorting(_ step: Int, index: Int) -> String { "step-\(step + 1)-sort-\(index)" }

    /// The record that its store was verified.
    static func verified(_ step: Int) -> String { "step-\(step + 1).verified.json" }

    static func checkpoint(_ step: Int, sequence: UInt64) -> String {
        "ckpt-\(step + 1)-\(padded(sequence))\(container)"
    }

    static func segment(_ step: Int, number: Int) -> String {
        "seg-\(step + 1)-\(padded(UInt64(number)))\(container)"
    }

    private static func padded(_ number: UInt64) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 8 - digits.count)) + digits
    }

    // MARK: - Names that are found

    /// Whether a migration makes files with such a name.
    static func isOwn(_ name: String) -> Bool { ownPrefixes.contains { name.hasPrefix($0) } }

    private static let ownPrefixes = [
        lock, linkTest, attributeTest, kept, originalMode, "step-", "ckpt-", "seg-", "ext-", plan, swap,
        sqliteTemporary,
    ]

    /// Of the files that SQLite sorts in (os_unix.c, `SQLITE_TEMP_FILE_PREFIX`): they stay if the program crashes.
    private static let sqliteTemporary = "etilqs_"

    /// Whether it is a file of the step, and not the record that the step's store was verified.
    static func isWork(_ name: String, of step: Int) -> Bool {
        ["step-\(step + 1)\(store)", "step-\(step + 1)-", "ckpt-\(step + 1)-", "seg-\(step + 1)-"].contains {
            name.hasPrefix($0)
        }
    }

    /// Whether it is a checkpoint of the step.
    static func isCheckpoint(_ name: String, of step: Int) -> Bool {
        name.hasPrefix("ckpt-\(step + 1)-") && name.hasSuffix(container)
    }

    /// The number of a checkpoint; nil where the name has none.
    static func sequence(ofCheckpoint name: String, of step: Int) -> UInt64? {
        UInt64(name.dropFirst("ckpt-\(step + 1)-".count).dropLast(container.count))
    }

    /// Removes files. Stores go first, durably: without its journal a store would never be rolled back. The caller does
    /// the last sync.
    static func remove(_ names: [String], in work: String) throws(FileError) {
        for name in names where name.hasSuffix(store) { try Files.unlink(work + "/" + name) }
        if names.contains(where: { $0.hasSuffix(journal) }) { try Files.syncDirectory(work) }
        for name in names where !name.hasSuffix(store) { try Files.unlink(work + "/" + name) }
    }
}
