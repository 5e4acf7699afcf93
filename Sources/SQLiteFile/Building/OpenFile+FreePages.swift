internal import CausewayPlatform

extension Freelist {
    /// The list of free pages that a new file's writer begins with.
    ///
    /// - Parameters:
    ///   - file: the new file.
    ///   - state: says where the list begins.
    ///   - numbering: of the file.
    ///   - isResumed: whether the state is from an earlier run, and so to blame if the list isn't there.
    /// - Throws: `.unsuitable` or `.badState`, `.file`.
    init(
        of file: borrowing OpenFile, _ state: DatabaseWriter.State, _ numbering: PageNumbering, isResumed: Bool
    ) throws(PageBuildError) {
        // Where nothing is listed, no memory depends on a number that nobody has checked.
        let isEmpty = state.firstFreelistTrunk == 0 && state.freelistCount == 0
        // The end of a file that was complete already may be cut off, but not out of the list.
        let count = isEmpty ? 0 : state.nextPage - 1
        let bounds = FreelistBounds(numbering: numbering, pageCount: count)
        var bytes = [UInt8](repeating: 0, count: state.pageSize)
        do throws(PageReadError) {
            try self.init(first: state.firstFreelistTrunk, count: state.freelistCount, bounds) {
                page throws(PageReadError) in
                let read: Int
                do throws(PageBuildError) {
                    read = try file.read(into: &bytes, 0..<bytes.count, page: page, pageSize: bytes.count)
                } catch {
                    throw PageReadError(.unreadable, page: page, cause: error.cause)
                }
                guard read == bytes.count else { throw PageReadError(.missing, page: page) }
                return bytes
            }
        } catch {
            if let cause = error.cause { throw PageBuildError(cause, page: error.page) }
            throw isResumed
                ? PageBuildError.badState(page: error.page)
                : NewFileHeader.unsuitable("has a broken list of free pages")
        }
    }
}

extension OpenFile {
    /// Gives a file that was complete already the free pages back that were cut off its end.
    ///
    /// - Throws: `.badState` where it lacks other pages: it is another file.
    func restoreEnd(
        of state: DatabaseWriter.State, _ freePages: FreePageSupply, _ numbering: PageNumbering
    ) throws(PageBuildError) {
        let size = try DatabaseWriter.size(of: self)
        let wanted = Int64(state.nextPage - 1) * Int64(state.pageSize)
        if size >= wanted { return }
        var page = Int(size / Int64(state.pageSize)) + 1
        while page < state.nextPage {
            guard freePages.isLeaf(page) || numbering.isOwn(page) else { throw PageBuildError.badState(page: page) }
            page += 1
        }
        do throws(FileError) {
            try truncate(to: wanted)
        } catch {
            throw PageBuildError(error)
        }
    }
}
