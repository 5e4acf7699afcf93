internal import CausewayPlatform

/// Pages by number instead of bytes by position; numbers start at 1.
extension OpenFile {
    /// Writes whole pages, adjacent ones from `page` on.
    @unsafe func write(_ bytes: UnsafeRawBufferPointer, page: Int, pageSize: Int) throws(PageBuildError) {
        do throws(FileError) {
            try unsafe write(bytes, at: Int64(page - 1) * Int64(pageSize))
        } catch {
            throw PageBuildError(error, page: page)
        }
    }

    /// Writes a part of `bytes`.
    func write(_ bytes: [UInt8], _ part: Range<Int>, page: Int, pageSize: Int) throws(PageBuildError) {
        try unsafe bytes.span.extracting(part).withUnsafeBytes { (bytes) throws(PageBuildError) in
            try unsafe write(bytes, page: page, pageSize: pageSize)
        }
    }

    /// Reads pages into a part of `target`.
    /// - Returns: the number of bytes: fewer than asked for where the file ends.
    func read(into target: inout [UInt8], _ part: Range<Int>, page: Int, pageSize: Int) throws(PageBuildError) -> Int {
        do throws(FileError) {
            var bytes = target.mutableSpan
            return try unsafe bytes.withUnsafeMutableBytes { (bytes) throws(FileError) in
                let part = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[part])
                return try unsafe read(into: part, at: Int64(page - 1) * Int64(pageSize))
            }
        } catch {
            throw PageBuildError(error, page: page)
        }
    }
}
