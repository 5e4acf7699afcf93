package import CausewayPlatform

/// An index that can't be sorted or checked: the rows, the entries or the scratch file don't allow it.
package struct IndexSortError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// The record of the row `rowid` breaks the file format.
        case damagedRow(rowid: Int64, RecordError)
        /// The row doesn't come after the one before it.
        case unorderedRow(rowid: Int64)
        /// Entry number `entry` of an index, from 0, isn't one of its key.
        case damagedEntry(entry: Int)
        /// Entry number `entry` of an index, from 0, doesn't come after the one before it.
        case outOfOrder(entry: Int)
        /// Two rows have the same key in a UNIQUE index; the first one is the smaller rowid.
        case duplicate(first: Int64, second: Int64)
        /// An entry is over SQLite's limit of 2³¹−1 bytes.
        case tooLong(rowid: Int64)
        /// The scratch file couldn't be written or read.
        case scratch(FileError)
        /// The scratch file doesn't hold what was written to it.
        case scratchDamaged
        /// zstd has no memory.
        case noMemory
    }

    package let code: Code

    @inline(never) init(_ code: Code) {
        self.code = code
    }

    /// What is wrong and what to do.
    package var description: String {
        switch code {
        case .damagedRow(let rowid, let error): "row \(rowid): \(error)"
        case .unorderedRow(let rowid):
            "row \(rowid) isn't in the order of rowids: run PRAGMA integrity_check and work on a repaired copy"
        case .damagedEntry(let entry):
            "entry \(entry) of an index isn't one of its columns: run REINDEX on a copy of the store"
        case .outOfOrder(let entry):
            "entry \(entry) of an index isn't in its place: run REINDEX on a copy of the store"
        case .duplicate(let first, let second):
            "rows \(first) and \(second) have the same key in a UNIQUE index: change or remove one of them"
        case .tooLong(let rowid):
            "the index entry of row \(rowid) is over SQLite's limit of 2147483647 bytes: shorten its values"
        case .scratch(let error): error.description
        case .scratchDamaged:
            "the file for sorting an index was changed while it was used, or the disk failed: check the disk, then run "
                + "again"
        case .noMemory: "zstd has no memory for sorting an index: free some and run again"
        }
    }
}
