/// Brings sorted entries, which lie anywhere in the buffer, together, some at a time.
///
/// Read one by one, each would wait for the memory; copied in a loop that does nothing else, many are waited for at
/// once.
@safe
struct EntryStaging: ~Copyable {
    private let bytes: UnsafeMutableRawPointer
    /// Places of the buffer's order that are staged.
    private var places = 0..<0

    /// Entries that are staged at once.
    private static let count = 128
    /// Bytes of an entry that are copied; longer entries are read where they are.
    private static let length = 48

    init() {
        unsafe bytes = .allocate(byteCount: Self.count * Self.length, alignment: 16)
    }

    deinit {
        unsafe bytes.deallocate()
    }

    /// The entry at a place. Valid until the next call.
    @unsafe @inline(__always) mutating func entry(
        at place: Int, of buffer: borrowing EntryBuffer
    ) -> UnsafeRawBufferPointer {
        if place >= places.upperBound { stage(from: place, of: buffer) }
        let entry = unsafe buffer.entry(at: place)
        guard entry.count <= Self.length else { return unsafe entry }
        return unsafe UnsafeRawBufferPointer(
            start: bytes + (place - places.lowerBound) * Self.length, count: entry.count)
    }

    @inline(never) private mutating func stage(from first: Int, of buffer: borrowing EntryBuffer) {
        let end = min(buffer.count, first + Self.count)
        var target = unsafe bytes
        for place in first..<end {
            guard let source = unsafe buffer.entry(at: place).baseAddress else { continue }
            // There are at least as many bytes of the buffer after the start of every entry.
            unsafe target.storeBytes(of: source.loadUnaligned(as: Chunk.self), as: Chunk.self)
            unsafe target += Self.length
        }
        places = first..<end
    }

    /// `length` bytes.
    private typealias Chunk = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)
}
