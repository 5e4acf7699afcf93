/// An entry that is being sorted: where its bytes are, and how its key begins.
struct EntrySlot {
    /// Of the column at which sorting is (`KeyPrefix`).
    var prefix: UInt64
    /// Byte in the buffer.
    var offset: UInt32
    var length: UInt32
}

/// Stable sorts of slots, with room for as many again.
@unsafe struct SlotSort {
    let slots: UnsafeMutablePointer<EntrySlot>
    let spare: UnsafeMutablePointer<EntrySlot>
    /// Room for `bucketCount` numbers.
    let counts: UnsafeMutablePointer<UInt32>

    /// Bits that one pass sorts by: more don't fit in the processor's cache.
    static let digitBits: UInt64 = 11
    static let bucketCount = 1 << Int(digitBits)
    /// Fewer slots are sorted by comparing: counting takes as long as comparing them.
    private static let fewest = 512

    /// Sorts by prefix.
    func byPrefix(_ count: Int) {
        if unsafe count < Self.fewest {
            unsafe sort(count) { unsafe $0.pointee.prefix < $1.pointee.prefix }
        } else {
            unsafe byDigits(count)
        }
    }

    /// Digit by digit from the lowest; bits that are the same in all prefixes cost nothing.
    private func byDigits(_ count: Int) {
        let first = unsafe slots[0].prefix
        var varied: UInt64 = 0
        var before = first
        var isSorted = true
        for index in 0..<count {
            let prefix = unsafe slots[index].prefix
            varied |= prefix ^ first
            isSorted = isSorted && before <= prefix
            before = prefix
        }
        // As of rows that got their dates or numbers in the order of rowids.
        if isSorted { return }
        var (source, target) = unsafe (slots, spare)
        while varied != 0 {
            let shift = UInt64(varied.trailingZeroBitCount)
            let mask = unsafe UInt64(Self.bucketCount - 1)
            varied &= ~(mask << shift)
            unsafe counts.update(repeating: 0, count: Self.bucketCount)
            for index in 0..<count {
                unsafe counts[Int(truncatingIfNeeded: source[index].prefix >> shift & mask)] &+= 1
            }
            var sum: UInt32 = 0
            for bucket in unsafe 0..<Self.bucketCount {
                let size = unsafe counts[bucket]
                unsafe counts[bucket] = sum
                sum &+= size
            }
            for index in 0..<count {
                let slot = unsafe source[index]
                let bucket = Int(truncatingIfNeeded: slot.prefix >> shift & mask)
                let place = unsafe counts[bucket]
                unsafe counts[bucket] = place &+ 1
                unsafe target[Int(place)] = slot
            }
            unsafe swap(&source, &target)
        }
        if unsafe source != slots { unsafe slots.update(from: source, count: count) }
    }

    /// Sorts by an order of slots: chunks by insertion, then merges.
    @inline(__always) func sort(
        _ count: Int,
        by isBefore: (UnsafePointer<EntrySlot>, UnsafePointer<EntrySlot>) -> Bool
    ) {
        let chunk = 12
        for start in stride(from: 0, to: count, by: chunk) {
            let end = min(count, start + chunk)
            for index in start &+ 1..<max(end, start &+ 1) {
                var slot = unsafe slots[index]
                var place = index
                while place > start, unsafe isBefore(&slot, slots + place - 1) {
                    unsafe slots[place] = slots[place - 1]
                    place &-= 1
                }
                unsafe slots[place] = slot
            }
        }
        var (source, target) = unsafe (slots, spare)
        var width = chunk
        while width < count {
            for start in stride(from: 0, to: count, by: 2 * width) {
                let middle = min(count, start + width)
                let end = min(count, start + 2 * width)
                unsafe Self.merge(source, target, (start, middle, end), isBefore)
            }
            unsafe swap(&source, &target)
            width *= 2
        }
        if unsafe source != slots { unsafe slots.update(from: source, count: count) }
    }

    @inline(__always) private static func merge(
        _ source: UnsafeMutablePointer<EntrySlot>, _ target: UnsafeMutablePointer<EntrySlot>,
        _ bounds: (start: Int, middle: Int, end: Int),
        _ isBefore: (UnsafePointer<EntrySlot>, UnsafePointer<EntrySlot>) -> Bool
    ) {
        var (left, right, place) = (bounds.start, bounds.middle, bounds.start)
        while left < bounds.middle, right < bounds.end {
            if unsafe isBefore(source + right, source + left) {
                unsafe target[place] = source[right]
                right &+= 1
            } else {
                unsafe target[place] = source[left]
                left &+= 1
            }
            place &+= 1
        }
        unsafe (target + place).update(from: source + left, count: bounds.middle - left)
        unsafe (target + place + bounds.middle - left).update(from: source + right, count: bounds.end - right)
    }
}
