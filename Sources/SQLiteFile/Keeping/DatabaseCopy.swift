internal import CausewayPlatform

/// A copy of a database in which some trees keep their pages, some are patched, and all others are empty: a valid
/// database for stock SQLite once every chunk is copied (and long records are patched), and the same bytes for any
/// order of chunks.
///
/// A chunk's bytes follow from the source and the plan alone: a chunk can be copied twice, by any thread, also by a
/// later run. The copy isn't a database before all of them are.
///
/// In the copy:
/// - the roots of freed trees are empty leaves, and all freed pages are on the list of free pages and hold zeros, as
///   holes where the file system has such;
/// - the file isn't in WAL mode, and the change counter is 1;
/// - auto_vacuum is incremental where it was full: else SQLite would fill the free pages with others at its first
///   commit. `PRAGMA auto_vacuum = FULL` at the end makes it full again.
///
/// Sendable: nothing changes here after `init`.
package final class DatabaseCopy: Sendable {
    let source: PageFile
    package let plan: CopyPlan
    let target: OpenFile
    /// Whether the file began with the source's extents: then only what differs is written.
    package let isClone: Bool

    private let pagesPerChunk: Int

    /// Bytes of a chunk: large enough that a call's overhead doesn't count, small enough for many workers and for
    /// saving the progress often.
    package static let chunkLength = 16 << 20

    private init(
        _ source: PageFile, _ plan: CopyPlan, _ target: consuming OpenFile, isClone: Bool, chunkLength: Int
    ) {
        pagesPerChunk = max(1, chunkLength / source.layout.pageSize)
        self.source = source
        self.plan = plan
        self.target = target
        self.isClone = isClone
    }

    /// Makes a new file: with shared extents if asked and if the file system can, else as long as the copy and empty.
    ///
    /// - Parameters:
    ///   - source: the source, audited.
    ///   - plan: of the source.
    ///   - path: of the new file.
    ///   - sharing: whether to ask the file system for shared extents. What came of it: `isClone`.
    ///   - chunkLength: bytes of a chunk; the copy's bytes don't depend on it.
    /// - Returns: the copy, no chunk of which is there yet.
    /// - Throws: `.copy`, `.exists` among them.
    package static func begin(
        _ source: PageFile, _ plan: CopyPlan, at path: String, sharing: Bool, chunkLength: Int = chunkLength
    ) throws(PageCopyError) -> DatabaseCopy {
        do throws(FileError) {
            let outcome = sharing ? try source.clone(to: path) : .notSupported
            let target = try OpenFile(path, mode: outcome == .shared ? .readWrite : .createNew)
            // A clone may have pages after the last one that the header counts.
            try target.truncate(to: source.layout.length)
            return DatabaseCopy(source, plan, target, isClone: outcome == .shared, chunkLength: chunkLength)
        } catch {
            throw .copy(error)
        }
    }

    /// Goes on with a file that an earlier run began.
    ///
    /// - Parameters:
    ///   - source: the same as then.
    ///   - plan: the same as then.
    ///   - path: of the file.
    ///   - isClone: as it was then.
    ///   - chunkLength: as it was then.
    /// - Returns: the copy; which chunks are there, the caller knows.
    /// - Throws: `.copy`, `.otherCopy`.
    package static func resume(
        _ source: PageFile, _ plan: CopyPlan, at path: String, isClone: Bool,
        chunkLength: Int = chunkLength
    ) throws(PageCopyError) -> DatabaseCopy {
        let copy: DatabaseCopy
        let length: Int64
        do throws(FileError) {
            let target = try OpenFile(path, mode: .readWrite)
            copy = DatabaseCopy(source, plan, target, isClone: isClone, chunkLength: chunkLength)
            length = try copy.target.status().size
        } catch {
            throw .copy(error)
        }
        guard length == source.layout.length else { throw .otherCopy(path: path) }
        return copy
    }

    /// Bytes of the file.
    package var length: Int64 { source.layout.length }

    /// Chunks that the copy has.
    package var chunkCount: Int { (source.layout.pageCount + pagesPerChunk - 1) / pagesPerChunk }

    /// Copies a chunk.
    ///
    /// - Parameter chunk: 0 and up to `chunkCount`.
    /// - Returns: what was found and overwritten in it; each chunk counts once. Of trees that are only read, nothing
    ///   where the copy is a clone.
    /// - Throws: what is damaged in the source's patched pages or doesn't fit the patch; what can't be read or written.
    package func copy(_ chunk: Int) throws(PageCopyError) -> PatchCounts {
        let maker = CopiedPages(source, plan, isClone: isClone)
        let pages = pages(of: chunk)
        try copy(pages, maker)
        // While the next ones are copied: else the last `sync` would find gigabytes to write.
        target.startWriting(bytes(pages))
        var counts = PatchCounts(plan.patches)
        maker.takeCounts(into: &counts)
        return counts
    }

    /// Whether the records of the tree of one of the plan's patches are read: in a clone only those that change.
    package func reads(patch place: Int) -> Bool { !isClone || place < plan.firstRead }

    /// Whether `patchOverflow` is needed: what was found of records that are to change lies on overflow pages.
    package func hasLongRecords(_ counts: PatchCounts) -> Bool {
        counts.trees[..<plan.firstRead].contains { $0.longRecords > 0 }
    }

    /// Patches what of a chunk's records lies on overflow pages. Needed where `hasLongRecords` says so, once all chunks
    /// are copied; like `copy`, it can be done twice and by any thread.
    ///
    /// - Parameter chunk: 0 and up to `chunkCount`.
    /// - Throws: as `copy`.
    package func patchOverflow(_ chunk: Int) throws(PageCopyError) {
        let maker = CopiedPages(source, plan, isClone: isClone)
        let pages = pages(of: chunk)
        for page in pages where plan.changes(page) {
            let buffer = unsafe maker.memory(for: 1)
            guard let start = buffer.baseAddress else { return }
            do throws(PageReadError) {
                try unsafe source.read(page, into: start)
            } catch {
                throw .source(error)
            }
            try unsafe maker.patchOverflow(of: page, in: start, on: self)
        }
    }

    /// Whether the file's first page is the copy's: no other program, and no connection of SQLite's, has written to it
    /// since the first chunk was copied.
    package func hasOwnFirstPage() throws(PageCopyError) -> Bool {
        let maker = CopiedPages(source, plan, isClone: isClone)
        let expected = unsafe maker.memory(for: 1)
        guard let start = expected.baseAddress else { return false }
        do throws(PageReadError) {
            try unsafe source.read(1, into: start)
        } catch {
            throw .source(error)
        }
        try unsafe maker.make(1, in: start)
        do throws(FileError) {
            return try unsafe target.prefix(expected.count) == [UInt8](expected)
        } catch {
            throw .copy(error)
        }
    }

    /// Writes a byte.
    func write(_ byte: UInt8, at offset: Int64) throws(PageCopyError) {
        do throws(FileError) {
            try unsafe withUnsafeBytes(of: byte) { bytes throws(FileError) in
                try unsafe target.write(bytes, at: offset)
            }
        } catch {
            throw .copy(error)
        }
    }

    private func pages(of chunk: Int) -> Range<Int> {
        precondition(chunk >= 0 && chunk < chunkCount, "no such chunk")
        let first = chunk * pagesPerChunk + 1
        return first..<min(first + pagesPerChunk, source.layout.pageCount + 1)
    }

    /// Returns when what was copied is on the medium.
    package func sync() throws(PageCopyError) {
        do throws(FileError) {
            try target.sync()
        } catch {
            throw .copy(error)
        }
    }
}

extension DatabaseLayout {
    /// Bytes of all pages.
    var length: Int64 { Int64(pageCount) * Int64(pageSize) }
}
