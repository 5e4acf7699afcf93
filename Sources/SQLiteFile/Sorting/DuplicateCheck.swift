/// Finds two entries of a UNIQUE index with the same key: they follow each other in its order.
@safe
struct DuplicateCheck: ~Copyable {
    private let order: EntryOrder
    private var before: UnsafeMutableRawPointer
    private var capacity = 256
    private var length = 0

    init(_ order: EntryOrder) {
        self.order = order
        unsafe before = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit {
        unsafe before.deallocate()
    }

    /// Takes the next entry.
    ///
    /// - Throws: `.duplicate`. A key with a NULL is equal to no other (https://www.sqlite.org/lang_createindex.html).
    @unsafe mutating func add(_ entry: UnsafeRawBufferPointer) throws(IndexSortError) {
        if length > 0 {
            let last = unsafe UnsafeRawBufferPointer(start: before, count: length)
            if unsafe order.compare(last, entry) == 0, unsafe !order.hasNull(entry) {
                throw IndexSortError(.duplicate(first: unsafe order.rowid(last), second: unsafe order.rowid(entry)))
            }
        }
        guard let source = entry.baseAddress else { return }
        if entry.count > capacity {
            unsafe before.deallocate()
            capacity = entry.count
            unsafe before = .allocate(byteCount: capacity, alignment: 16)
        }
        unsafe before.copyMemory(from: source, byteCount: entry.count)
        length = entry.count
    }
}
