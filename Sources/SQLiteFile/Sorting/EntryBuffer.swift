/// Entries in memory, up to a number of bytes: collected in the order of rowids, then sorted.
///
/// One block of memory: the entries from its beginning on, their slots from its end downwards, and between them room
/// for as many slots again, which sorting needs.
@safe
struct EntryBuffer: ~Copyable {
    private let order: EntryOrder
    private let budget: Int
    private var memory: UnsafeMutableRawPointer
    /// Bytes of the block; more than the budget only for an entry that is longer.
    private var capacity: Int
    /// Bytes of the entries.
    private var used = 0
    private(set) var count = 0
    private let counts: UnsafeMutablePointer<UInt32>
    private let invertsFirst: Bool

    private static let slotLength = MemoryLayout<EntrySlot>.stride
    /// Offsets have 32 bits, and one entry over the budget must still have one.
    private static let largestBudget = 1 << 30
    /// Groups up to this many entries are compared whole; larger ones by the next bytes of the same text first.
    private static let fewest = 32
    /// In this many groups of equal beginnings around them, entries are compared whole: texts are long and alike, or
    /// columns many; the stack isn't endless.
    private static let deepest = 24

    init(_ order: EntryOrder, budget: Int) {
        self.order = order
        // A multiple of a slot's length, so that slots are aligned.
        self.budget = min(max(budget, 1_024), Self.largestBudget) & ~15
        capacity = self.budget
        unsafe memory = .allocate(byteCount: capacity, alignment: 16)
        unsafe counts = .allocate(capacity: SlotSort.bucketCount)
        invertsFirst = order.isDescending(0)
    }

    deinit {
        unsafe memory.deallocate()
        unsafe counts.deallocate()
    }

    private var slots: UnsafeMutablePointer<EntrySlot> {
        unsafe (memory + capacity - count * Self.slotLength).assumingMemoryBound(to: EntrySlot.self)
    }

    /// Whether there is room for an entry and its slots: 48 bytes at least after the last entry's start, which staging
    /// reads.
    @inline(__always) private func hasRoom(_ length: Int) -> Bool {
        used &+ length &+ 16 &+ 2 &* Self.slotLength &* (count &+ 1) <= capacity
    }

    /// Takes an entry that the former has loaded.
    ///
    /// - Returns: false where there is no room for it; the buffer then isn't empty.
    @inline(__always) mutating func append(_ former: borrowing EntryFormer, length: Int, _ sum: inout EntrySum) -> Bool
    {
        if !hasRoom(length) {
            if count > 0 { return false }
            grow(for: length)
        }
        let target = unsafe memory + used
        unsafe former.write(to: target)
        let entry = unsafe UnsafeRawBufferPointer(start: target, count: length)
        unsafe sum.add(entry)
        var cursor = unsafe KeyCursor(entry)
        let prefix = unsafe KeyPrefix.of(cursor.next())
        count &+= 1
        unsafe slots.initialize(
            to: EntrySlot(
                prefix: invertsFirst ? ~prefix : prefix, offset: UInt32(truncatingIfNeeded: used),
                length: UInt32(truncatingIfNeeded: length)))
        used &+= length
        return true
    }

    private mutating func grow(for length: Int) {
        capacity = (length + 16 + 2 * Self.slotLength + 15) & ~15
        unsafe memory.deallocate()
        unsafe memory = .allocate(byteCount: capacity, alignment: 16)
    }

    mutating func removeAll() {
        used = 0
        count = 0
        guard capacity > budget else { return }
        capacity = budget
        unsafe memory.deallocate()
        unsafe memory = .allocate(byteCount: capacity, alignment: 16)
    }

    /// Empties it and gives all its memory back.
    mutating func release() {
        removeAll()
        capacity = 0
        unsafe memory.deallocate()
        unsafe memory = .allocate(byteCount: 16, alignment: 16)
    }

    /// The entry at a place. Valid until the buffer changes.
    @unsafe @inline(__always) func entry(at index: Int) -> UnsafeRawBufferPointer {
        precondition(index >= 0 && index < count, "no such entry")
        let slot = unsafe slots[index]
        return unsafe UnsafeRawBufferPointer(start: memory + Int(slot.offset), count: Int(slot.length))
    }

    /// Brings the entries into the index's order. Those of equal keys stay in the order of rowids.
    func sort() {
        guard count > 0 else { return }
        let slots = unsafe slots
        // They were added downwards.
        var (low, high) = (0, count - 1)
        while low < high {
            unsafe swap(&slots[low], &slots[high])
            low += 1
            high -= 1
        }
        let spare = unsafe UnsafeMutableRawPointer(slots - count).assumingMemoryBound(to: EntrySlot.self)
        let sort = unsafe SlotSort(slots: slots, spare: spare, counts: counts)
        unsafe sort.byPrefix(count)
        unsafe sortGroups(sort, count, KeyPlace())
    }

    /// Where in their keys entries are being sorted.
    private struct KeyPlace {
        var column = 0
        /// Bytes of the column's text or blob that are known to be equal.
        var skipped = 0
        /// Groups around this one.
        var depth = 0
    }

    /// Sorts entries with equal prefixes by what comes after it.
    @unsafe private func sortGroups(_ sort: SlotSort, _ count: Int, _ place: KeyPlace) {
        let mask: UInt64 = order.isDescending(place.column) ? .max : 0
        let isLast = place.column + 1 == order.columnCount
        var start = 0
        while start < count {
            let prefix = unsafe sort.slots[start].prefix
            var end = start &+ 1
            while end < count, unsafe sort.slots[end].prefix == prefix { end &+= 1 }
            defer { start = end }
            let isWhole = KeyPrefix.isWhole(prefix ^ mask)
            if end &- start == 1 || isWhole && isLast { continue }
            let group = unsafe SlotSort(slots: sort.slots + start, spare: sort.spare + start, counts: counts)
            var next = place
            next.depth += 1
            if isWhole {
                next.column += 1
                next.skipped = 0
            } else {
                next.skipped += KeyPrefix.byteCount
            }
            let isCompared =
                !isWhole && (!KeyPrefix.isOfBytes(prefix ^ mask) || end - start <= Self.fewest)
                || place.depth == Self.deepest
            if isCompared {
                unsafe sortWhole(group, end - start, from: place.column)
                continue
            }
            unsafe setPrefixes(group, end - start, next)
            unsafe group.byPrefix(end - start)
            unsafe sortGroups(group, end - start, next)
        }
    }

    @unsafe private func sortWhole(_ group: SlotSort, _ count: Int, from column: Int) {
        let (memory, order) = unsafe (memory, order)
        unsafe group.sort(count) { left, right in
            let one = unsafe UnsafeRawBufferPointer(
                start: memory + Int(left.pointee.offset), count: Int(left.pointee.length))
            let other = unsafe UnsafeRawBufferPointer(
                start: memory + Int(right.pointee.offset), count: Int(right.pointee.length))
            return unsafe order.compare(one, other, from: column) < 0
        }
    }

    @unsafe private func setPrefixes(_ group: SlotSort, _ count: Int, _ place: KeyPlace) {
        let mask: UInt64 = order.isDescending(place.column) ? .max : 0
        for index in 0..<count {
            let slot = unsafe group.slots + index
            let entry = unsafe UnsafeRawBufferPointer(
                start: memory + Int(slot.pointee.offset), count: Int(slot.pointee.length))
            var cursor = unsafe KeyCursor(entry)
            unsafe cursor.skip(place.column)
            unsafe slot.pointee.prefix = KeyPrefix.of(cursor.next(), after: place.skipped) ^ mask
        }
    }
}
