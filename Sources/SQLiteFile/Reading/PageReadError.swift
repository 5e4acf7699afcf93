package import CausewayPlatform

/// A page of a database file that can't be read, or that breaks the file format: the store is damaged there.
package struct PageReadError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// The system couldn't read it; `cause` says why.
        case unreadable
        /// The file ends before it.
        case missing
        /// A pointer on it leads to page `value`, which isn't in the file or can't belong to a tree.
        case badPageNumber
        /// It is used twice, by two trees or twice by one.
        case usedTwice
        /// It isn't a page of the expected kind; `value` is its first byte.
        case badKind
        /// Its header contradicts itself.
        case badHeader
        /// Its list of free blocks leaves the page or isn't in order.
        case badFreeblock
        /// Its cell `value` lies outside the cell area or goes over the page's end.
        case badCell
        /// Its cells or free blocks overlap.
        case overlap
        /// Its cells, free blocks and fragments don't fill its cell area.
        case unaccounted
        /// Its rowid `value` isn't in ascending order, or isn't in the range that the page above gives.
        case rowidOutOfOrder
        /// It has no cells, and isn't the root of an empty tree.
        case empty
        /// It isn't as deep in its tree as the others of its kind.
        case unequalDepth
        /// The tree has more levels than SQLite reads.
        case tooDeep
        /// A payload on it is over SQLite's limit of 2³¹−1 bytes, or longer than the whole file.
        case tooLong
        /// The overflow chain ends at it, though the payload goes on.
        case chainTooShort
        /// The overflow chain goes on after it, though the payload is complete.
        case chainTooLong
        /// It lists more free pages, `value`, than fit on it.
        case badFreeTrunk
        /// The header says that there are `value` free pages, and the list of them has another length.
        case badFreeCount
        /// It is free or belongs to a tree that isn't kept, and the pointer map says otherwise: `value` is its entry's
        /// type.
        case badMapEntry
        /// It belongs to no tree, isn't free, and has no entries of a pointer map.
        case unowned
    }

    package let code: Code
    /// Number of the page, from 1.
    package let page: Int
    /// What the code says: another page, a cell, a rowid.
    package let value: Int64?
    package let cause: FileError?

    @inline(never) package init(_ code: Code, page: Int, value: Int64? = nil, cause: FileError? = nil) {
        self.code = code
        self.page = page
        self.value = value
        self.cause = cause
    }

    /// What is wrong and what to do.
    package var description: String {
        if let cause { return "page \(page): \(cause)" }
        return "page \(page): \(reason); the store is damaged there: \(ErrorText.repair)"
    }

    private var reason: String {
        let number = value.map { " \($0)" } ?? ""
        return switch code {
        case .unreadable: "it can't be read"
        case .missing: "the file ends before it"
        case .badPageNumber: "a pointer on it leads to page\(number), which can't be part of a table or index"
        case .usedTwice: "it is used twice"
        case .badKind: "it isn't the kind of page that belongs there (type\(number))"
        case .badHeader: "its header contradicts itself"
        case .badFreeblock: "its list of free blocks is broken"
        case .badCell: "its cell\(number) lies outside the page's cell area"
        case .overlap: "its cells overlap"
        case .unaccounted: "its cells and free blocks don't fill its cell area"
        case .rowidOutOfOrder: "its rowid\(number) is out of order"
        case .empty: "it holds no cells"
        case .unequalDepth: "the tree's pages above it are fewer or more than elsewhere"
        case .tooDeep: "its tree has too many levels"
        case .tooLong: "it holds a row that is too long for the file"
        case .chainTooShort: "an overflow chain ends there too early"
        case .chainTooLong: "an overflow chain goes on there after its end"
        case .badFreeTrunk: "it lists\(number) free pages, more than it has room for"
        case .badFreeCount: "its header says that\(number) pages are free, but the list of them has another length"
        case .badMapEntry: "the pointer map says that it is used in another way (type\(number))"
        case .unowned: "it belongs to nothing"
        }
    }
}
