/// The order of an index's entries: by its columns, each ascending or descending, then by rowid, ascending even after
/// columns that descend.
@safe final class EntryOrder: Sendable {
    let columnCount: Int
    private nonisolated(unsafe) let descending: UnsafeMutablePointer<Bool>

    init(_ key: IndexKey) {
        columnCount = key.columns.count
        unsafe descending = .allocate(capacity: columnCount)
        for (index, column) in key.columns.enumerated() {
            unsafe (descending + index).initialize(to: column.isDescending)
        }
    }

    deinit {
        unsafe descending.deallocate()
    }

    @inline(__always) func isDescending(_ column: Int) -> Bool {
        precondition(column >= 0 && column < columnCount, "no such column in the index")
        return unsafe descending[column]
    }

    /// Compares two entries by their columns from `first` on, without the rowid: negative where `left` comes first.
    @unsafe func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer, from first: Int = 0) -> Int {
        var (one, other) = unsafe (KeyCursor(left), KeyCursor(right))
        unsafe one.skip(first)
        unsafe other.skip(first)
        var column = first
        while column < columnCount {
            let order = unsafe one.next().compare(other.next())
            if order != 0 { return isDescending(column) ? -order : order }
            column &+= 1
        }
        return 0
    }

    /// Whether an entry has a NULL in its key.
    @unsafe func hasNull(_ entry: UnsafeRawBufferPointer) -> Bool {
        var cursor = unsafe KeyCursor(entry)
        for _ in 0..<columnCount where unsafe cursor.next().rank == .null { return true }
        return false
    }

    /// The rowid that ends an entry.
    @unsafe func rowid(_ entry: UnsafeRawBufferPointer) -> Int64 {
        var cursor = unsafe KeyCursor(entry)
        unsafe cursor.skip(columnCount)
        return unsafe cursor.next().integer
    }
}
