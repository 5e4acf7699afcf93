/// Leaf pages with their overflow pages, not yet numbered: pages know each other by their place in the buffer.
///
/// `TreeBuilder.add` gives the pages numbers in the order of their places, fills in what refers to numbers and writes
/// them. Recycled: `removeAll(keepingCapacity:)` keeps the memory.
///
/// Sendable although it is mutable: exactly one thread holds it at a time; it is handed over through a queue whose lock
/// orders the accesses, and the sender doesn't touch it again.
@safe
package final class PackedLeaves: @unchecked Sendable {
    /// Bytes.
    package let pageSize: Int
    /// Leaf and overflow pages.
    package private(set) var pageCount = 0
    /// Rows or entries, those between index leaves included.
    package internal(set) var rowCount = 0

    var leaves: [Leaf] = []
    var chains: [Chain] = []
    /// Cells of index entries that stand between two leaves, without the number of the left child.
    var dividers: [UInt8] = []
    /// The first rowid; unused for indexes.
    var firstRowid: Int64 = 0

    private var buffer: UnsafeMutableRawPointer
    /// Pages.
    private var capacity: Int

    struct Leaf {
        let place: Int
        /// The largest on the leaf; unused for indexes.
        let rowid: Int64
        /// Bytes in `dividers` of the entry after the leaf; empty for tables and for the last leaf of an index.
        let divider: Range<Int>
    }

    /// The overflow pages of one payload: adjacent places.
    struct Chain {
        /// What points at the first page.
        enum Holder: Hashable {
            /// A cell of the leaf at this place.
            case leaf(place: Int)
            case divider
        }

        var holder: Holder
        /// Where that pointer is: byte in the leaf, or in `dividers`.
        var pointer: Int
        let places: Range<Int>
    }

    /// - Parameters:
    ///   - pageSize: bytes, a power of two from 512 to 65,536.
    ///   - pages: room ahead.
    package init(pageSize: Int, pages: Int = 16) {
        precondition((512...65_536).contains(pageSize) && pageSize & (pageSize - 1) == 0, "no such page size")
        self.pageSize = pageSize
        capacity = max(1, pages)
        unsafe buffer = .allocate(byteCount: capacity * pageSize, alignment: 16)
    }

    deinit {
        unsafe buffer.deallocate()
    }

    package var leafCount: Int { leaves.count }
    package var isEmpty: Bool { leaves.isEmpty }
    /// Bytes of all pages together.
    package var byteCount: Int { pageCount * pageSize }
    /// Bytes of memory that it holds.
    package var footprint: Int {
        capacity * pageSize + leaves.capacity * MemoryLayout<Leaf>.stride
            + chains.capacity * MemoryLayout<Chain>.stride + dividers.capacity
    }

    /// Empties it. Memory for pages over `keepingCapacity` bytes is given back: the memory of one huge row must not
    /// stay in every recycled buffer.
    package func removeAll(keepingCapacity limit: Int = .max) {
        let isOver = footprint > limit
        leaves.removeAll(keepingCapacity: !isOver)
        chains.removeAll(keepingCapacity: !isOver)
        dividers.removeAll(keepingCapacity: !isOver)
        pageCount = 0
        rowCount = 0
        if capacity * pageSize > limit {
            unsafe buffer.deallocate()
            capacity = max(1, limit / pageSize)
            unsafe buffer = .allocate(byteCount: capacity * pageSize, alignment: 16)
        }
    }

    /// The bytes of a page. Valid until a page is added.
    @unsafe func page(at place: Int) -> UnsafeMutableRawPointer {
        precondition(place >= 0 && place < pageCount, "no such page in the buffer")
        return unsafe buffer + place * pageSize
    }

    /// The bytes of adjacent pages.
    @unsafe func pages(_ places: Range<Int>) -> UnsafeRawBufferPointer {
        precondition(places.lowerBound >= 0 && places.upperBound <= pageCount, "no such pages in the buffer")
        return unsafe UnsafeRawBufferPointer(
            start: buffer + places.lowerBound * pageSize, count: places.count * pageSize)
    }

    /// Adds pages, not zeroed: who adds a page writes all of it.
    /// - Returns: the place of the first.
    func addPages(_ count: Int = 1) -> Int {
        let place = pageCount
        if place + count > capacity { grow(to: place + count) }
        pageCount = place + count
        return place
    }

    private func grow(to pages: Int) {
        let larger = max(pages, MemoryGrowth.next(capacity * pageSize) / pageSize)
        let target = UnsafeMutableRawPointer.allocate(byteCount: larger * pageSize, alignment: 16)
        unsafe target.copyMemory(from: buffer, byteCount: pageCount * pageSize)
        unsafe buffer.deallocate()
        unsafe buffer = target
        capacity = larger
    }

    /// Adds the overflow pages for what of a payload isn't on its b-tree page.
    @unsafe func addChain(_ rest: UnsafeRawBufferPointer, holder: Chain.Holder, pointer: Int) {
        guard let source = rest.baseAddress else { return }
        let room = PayloadSpill.overflowCapacity(pageSize: pageSize)
        let count = (rest.count + room - 1) / room
        let first = addPages(count)
        for index in 0..<count {
            let target = unsafe page(at: first + index)
            let length = min(room, rest.count - index * room)
            // The number of the next page; 0 ends the chain.
            unsafe target.storeBytes(of: 0, as: UInt32.self)
            unsafe (target + 4).copyMemory(from: source + index * room, byteCount: length)
            unsafe (target + 4 + length).zero(room - length)
        }
        chains.append(Chain(holder: holder, pointer: pointer, places: first..<first + count))
    }
}

extension UnsafeMutableRawPointer {
    @unsafe func zero(_ count: Int) {
        if count > 0 { unsafe initializeMemory(as: UInt8.self, repeating: 0, count: count) }
    }

    /// Stores in big-endian order, as everything in the file is.
    @unsafe func storeBig<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value, at offset: Int) {
        unsafe storeBytes(of: value.bigEndian, toByteOffset: offset, as: Value.self)
    }
}
