package import CausewayPlatform

/// The free pages of a finished file: what they held before mustn't stay in it.
package enum FreePages {
    /// Bytes of one read.
    private static let pieceLength = 256 << 10

    /// Fills every free page with zeros but for those that hold the list of free pages; can be repeated.
    ///
    /// What SQLite frees it fills itself, where it is told to (`secure_delete`), but for pages that only held its list.
    ///
    /// - Parameter path: of a database that no connection has open, without a journal and a -wal.
    /// - Throws: what can't be read or written; `.other` where the file isn't a sound database.
    package static func clear(in path: String) throws(FileError) {
        let file = try OpenFile(path, mode: .readWrite)
        let unsound = FileError(
            code: .other, operation: "read", path: path, message: "its list of free pages is broken")
        guard let header = DatabaseHeader(try file.prefix(DatabaseHeader.length)) else { throw unsound }
        guard header.freelistCount > 0 else { return }
        let leaves: PageSet
        do throws(PageReadError) {
            let numbering = PageNumbering(pageSize: header.pageSize, isAutoVacuum: header.autoVacuum != .none)
            let count = Int(try size(of: file) / Int64(header.pageSize))
            leaves = try Freelist(
                first: header.firstFreelistTrunk, count: header.freelistCount,
                FreelistBounds(numbering: numbering, pageCount: count)
            ) { (page) throws(PageReadError) in try read(page, of: file, header.pageSize) }.leaves
        } catch {
            throw error.cause ?? unsound
        }
        let piece = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(header.pageSize, pieceLength), alignment: 4_096)
        defer { unsafe piece.deallocate() }
        var next = 0
        while let first = leaves.first(from: next) {
            next = leaves.endOfRun(from: first, limit: first + piece.count / header.pageSize)
            let run = unsafe UnsafeMutableRawBufferPointer(rebasing: piece[..<((next - first) * header.pageSize)])
            let offset = Int64(first - 1) * Int64(header.pageSize)
            let count = try unsafe file.read(into: run, at: offset)
            // Only what isn't zero: free pages of a copy take no room on the disk.
            for start in stride(from: 0, to: count, by: header.pageSize) {
                let page = unsafe UnsafeMutableRawBufferPointer(rebasing: run[start..<start + header.pageSize])
                guard unsafe !isZero(page) else { continue }
                unsafe page.initializeMemory(as: UInt8.self, repeating: 0)
                try unsafe file.write(UnsafeRawBufferPointer(page), at: offset + Int64(start))
            }
        }
    }

    private static func isZero(_ page: UnsafeMutableRawBufferPointer) -> Bool {
        var found: UInt64 = 0
        for start in stride(from: 0, to: page.count, by: 8) {
            unsafe found |= page.load(fromByteOffset: start, as: UInt64.self)
        }
        return found == 0
    }

    private static func size(of file: borrowing OpenFile) throws(PageReadError) -> Int64 {
        do throws(FileError) {
            return try file.status().size
        } catch {
            throw PageReadError(.unreadable, page: 1, cause: error)
        }
    }

    private static func read(
        _ page: Int, of file: borrowing OpenFile, _ pageSize: Int
    ) throws(PageReadError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: pageSize)
        let read: Int
        do throws(PageBuildError) {
            read = try file.read(into: &bytes, 0..<pageSize, page: page, pageSize: pageSize)
        } catch {
            throw PageReadError(.unreadable, page: page, cause: error.cause)
        }
        guard read == pageSize else { throw PageReadError(.missing, page: page) }
        return bytes
    }
}
