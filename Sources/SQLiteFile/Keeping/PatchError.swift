/// A record that doesn't fit its patch.
package struct PatchError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// The record breaks the file format.
        case badRecord
        /// A value that the map doesn't name, and that may not stay; `value` is nil where it isn't an integer.
        case unknownValue
        /// The column lies more than 16 MiB behind the record's beginning.
        case tooFar
    }

    package let code: Code
    /// Number of the page, from 1.
    package let page: Int
    /// The tree's root page.
    package let root: Int
    /// Of a table; nil for an index.
    package let rowid: Int64?
    /// Position in the record, from 0.
    package let column: Int
    package let value: Int64?

    @inline(never) init(_ code: Code, page: Int, root: Int, rowid: Int64?, column: Int, value: Int64? = nil) {
        self.code = code
        self.page = page
        self.root = root
        self.rowid = rowid
        self.column = column
        self.value = value
    }

    /// What is wrong and what to do.
    package var description: String {
        let row = rowid.map { "row \($0)" } ?? "an entry"
        let what =
            switch code {
            case .badRecord: "is damaged: run PRAGMA integrity_check and work on a repaired copy"
            case .unknownValue:
                "has \(value.map { String($0) } ?? "another kind of value") in column \(column), "
                    + "which has no new value: rebuild the tree"
            case .tooFar: "has column \(column) behind more than 16 MiB of other values: rebuild the tree"
            }
        return "page \(page), tree \(root): \(row) \(what)"
    }
}
