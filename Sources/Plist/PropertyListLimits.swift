/// Bounds on foreign property lists. Input beyond them is refused, never truncated.
package enum PropertyListLimits {
    /// Bytes of one binary property list. The largest model cache known (Photos) has 0.3 MB; the parsed form takes
    /// up to about 20 times the bytes of the file, so this keeps a hostile file near one gigabyte.
    package static let fileSize = 64 * 1024 * 1024

    /// Values in a tree made from an object table, each counted as often as it's reached. Shared references can
    /// make 10¹² leaves out of 228 bytes (InsideCrashSafety §2.4).
    package static let treeNodes = 1_000_000

    /// Levels of a tree. Comparing, hashing and releasing a tree recurse, and a thread's stack may be 512 KiB.
    package static let treeDepth = 512
}
