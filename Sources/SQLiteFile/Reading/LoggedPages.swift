package import CausewayPlatform

/// The newest pages of a database that are in its `-wal`, as of the last commit that ends there.
///
/// Sendable: reads are at positions and change nothing here.
package final class LoggedPages: Sendable {
    /// Pages of the database.
    package var pageCount: Int { scan.pageCount }
    /// Pages of the same generation that recovery doesn't reach, because of a frame before them.
    package var unreachedPages: Int { scan.unreadable.count }
    private let scan: WriteAheadLogScan
    private let file: OpenFile

    /// - Parameters:
    ///   - file: the `-wal`.
    ///   - pageSize: the database's.
    /// - Throws: where it can't be read.
    package init(_ file: consuming OpenFile, pageSize: Int) throws(FileError) {
        scan = try WriteAheadLogScan(of: file, pageSize: pageSize, collectsPages: true)
        self.file = file
    }

    /// Reads a page.
    ///
    /// - Parameters:
    ///   - page: its number.
    ///   - target: room for it.
    /// - Returns: false where the log doesn't have it.
    /// - Throws: where the log can't be read.
    @unsafe func read(_ page: Int, into target: UnsafeMutableRawBufferPointer) throws(FileError) -> Bool {
        guard let frame = scan.newest[page] else { return false }
        return try unsafe file.read(into: target, at: scan.offset(ofPageIn: frame)) == target.count
    }

    /// Reads a page that recovery doesn't reach.
    ///
    /// - Parameters:
    ///   - place: among them, the newest first.
    ///   - target: room for it.
    /// - Returns: false where it isn't whole.
    /// - Throws: where the log can't be read.
    @unsafe func read(unreached place: Int, into target: UnsafeMutableRawBufferPointer) throws(FileError) -> Bool {
        let frame = scan.unreadable.upperBound - 1 - place
        return try unsafe file.read(into: target, at: scan.offset(ofPageIn: frame)) == target.count
    }

    /// The database's first bytes; nil where the log doesn't have them.
    package func firstBytes(_ count: Int) throws(FileError) -> [UInt8]? {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 8)
        defer { unsafe buffer.deallocate() }
        return try unsafe read(1, into: buffer) ? unsafe Array(buffer) : nil
    }
}
