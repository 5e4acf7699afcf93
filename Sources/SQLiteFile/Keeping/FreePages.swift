package import CausewayPlatform

/// The free pages of a file that is finished: what they held before mustn't stay in it.
extension PageFile {
    /// Bytes of one read.
    private static let pieceLength = 256 << 10

    /// Fills every free page with zeros, but for those that hold the list of free pages; can be repeated.
    ///
    /// What SQLite frees it fills itself, where it is told to (`secure_delete`). A page that held only its list of free
    /// pages keeps the old numbers.
    ///
    /// - Parameter file: the same, open for writing; no connection has it open, it has no journal and no -wal. What is
    ///   written isn't synced.
    /// - Throws: what is damaged in the list, what can't be read or written.
    package func clearFreePages(in file: borrowing OpenFile) throws(PageReadError) {
        let leaves = try Freelist(of: self).leaves
        let pageSize = layout.pageSize
        let room = max(1, Self.pieceLength / pageSize)
        let pages = UnsafeMutableRawBufferPointer.allocate(byteCount: room * pageSize, alignment: 4_096)
        defer { unsafe pages.deallocate() }
        guard let start = pages.baseAddress else { return }
        var next = 0
        while let first = leaves.first(from: next) {
            next = leaves.endOfRun(from: first, limit: first + room)
            try unsafe read(first, count: next - first, into: start)
            for number in first..<next {
                let offset = (number - first) * pageSize
                let page = unsafe UnsafeMutableRawBufferPointer(rebasing: pages[offset..<offset + pageSize])
                // Free pages of a copy are holes, and stay holes.
                if unsafe Self.isZero(page) { continue }
                unsafe page.initializeMemory(as: UInt8.self, repeating: 0)
                do throws(FileError) {
                    try unsafe file.write(UnsafeRawBufferPointer(page), at: layout.offset(of: number))
                } catch {
                    throw PageReadError(.unreadable, page: number, cause: error)
                }
            }
        }
    }

    @unsafe private static func isZero(_ page: UnsafeMutableRawBufferPointer) -> Bool {
        var found: UInt64 = 0
        for start in stride(from: 0, to: page.count, by: 8) {
            unsafe found |= page.load(fromByteOffset: start, as: UInt64.self)
        }
        return found == 0
    }
}
