/// How the memory of recycled buffers grows: many batches are in flight, and each keeps what it has got.
enum MemoryGrowth {
    /// Bytes from which on a quarter is added instead of as much again: so a batch holds a quarter more than it needs
    /// at most.
    private static let manyBytes = 1 << 16

    /// - Parameter bytes: that don't suffice.
    /// - Returns: bytes to take instead.
    static func next(_ bytes: Int) -> Int { bytes < manyBytes ? bytes * 2 : bytes + bytes / 4 }
}
