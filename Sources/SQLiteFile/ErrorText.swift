/// What several errors of this module say.
enum ErrorText {
    /// What to do about a damaged store.
    static let repair = "run PRAGMA integrity_check and work on a repaired copy"
    /// What is wrong with a payload: 2³¹−1 bytes is the most that SQLite can have (https://www.sqlite.org/limits.html,
    /// maximum length of a string or BLOB).
    static let tooLong = "is over SQLite's limit of 2147483647 bytes"
}
