package import CausewayPlatform

/// A database file whose pages are read by number.
///
/// Closing any descriptor of a file drops the process's POSIX locks on it, SQLite's too. So the owner keeps this object
/// until the SQLite connection that holds the lock on the same file is closed, and the lock is what keeps writers away.
///
/// Sendable: reads are at positions and change nothing here.
package final class PageFile: Sendable {
    package let layout: DatabaseLayout
    private let file: OpenFile
    /// Pages that are newer than the file's.
    private let newer: LoggedPages?

    package init(_ file: consuming OpenFile, _ layout: DatabaseLayout, newer: LoggedPages? = nil) {
        self.file = file
        self.layout = layout
        self.newer = newer
    }

    /// Reads adjacent pages with one call.
    ///
    /// - Parameters:
    ///   - first: number of the first page, from 1; all must be in the database.
    ///   - count: at least 1.
    ///   - target: room for `count` whole pages.
    /// - Throws: `.missing` where the file has become shorter since it was audited, `.unreadable`.
    @unsafe package func read(
        _ first: Int, count: Int = 1, into target: UnsafeMutableRawPointer
    ) throws(PageReadError) {
        precondition(first >= 1 && count >= 1 && first + count - 1 <= layout.pageCount, "no such page")
        let length = count * layout.pageSize
        var read: Int
        do throws(FileError) {
            let buffer = unsafe UnsafeMutableRawBufferPointer(start: target, count: length)
            read = try unsafe file.read(into: buffer, at: layout.offset(of: first))
            if let newer { read = try unsafe replace(first, count, read, in: buffer, by: newer) }
        } catch {
            throw PageReadError(.unreadable, page: first, cause: error)
        }
        if read < length { throw PageReadError(.missing, page: first + read / layout.pageSize) }
    }

    /// - Returns: bytes up to the first page that is nowhere.
    @unsafe private func replace(
        _ first: Int, _ count: Int, _ own: Int, in buffer: UnsafeMutableRawBufferPointer, by newer: LoggedPages
    ) throws(FileError) -> Int {
        for page in 0..<count {
            let place = page * layout.pageSize..<(page + 1) * layout.pageSize
            let isLogged = try unsafe newer.read(
                first + page, into: UnsafeMutableRawBufferPointer(rebasing: buffer[place]))
            if !isLogged, place.upperBound > own { return place.lowerBound }
        }
        return buffer.count
    }

    /// Copies bytes to the same place in another file.
    /// - Returns: the number of bytes; fewer than asked for only where this file ends.
    func copy(_ bytes: Range<Int64>, to target: borrowing OpenFile) throws(FileError) -> Int64 {
        try file.copy(bytes, to: target)
    }

    /// Whether new files in a folder can share this one's extents; false also where that can't be found out.
    package func canShareExtents(in folder: String) -> Bool { file.canShareExtents(in: folder) }

    /// Makes a new file that shares this one's extents, if the file system can.
    func clone(to path: String) throws(FileError) -> CloneOutcome {
        try file.clone(to: path)
    }
}
