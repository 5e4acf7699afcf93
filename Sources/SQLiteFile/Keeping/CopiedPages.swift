/// The pages of a copy: which stay as they are, and the bytes of those that don't. One for each chunk at work.
@safe
final class CopiedPages {
    enum Role {
        /// The source's bytes.
        case kept
        /// Other bytes, made from the source's and the plan.
        case made
        /// Zeros.
        case free
    }

    private let source: PageFile
    private let plan: CopyPlan
    private let isClone: Bool
    private let patcher: PagePatcher
    private let rootPages: Set<Int>
    private var buffer: UnsafeMutableRawBufferPointer

    init(_ source: PageFile, _ plan: CopyPlan, isClone: Bool) {
        self.source = source
        self.plan = plan
        self.isClone = isClone
        patcher = PagePatcher(plan, source)
        rootPages = Set(plan.freed.roots.map(\.page))
        unsafe buffer = .allocate(byteCount: 0, alignment: 4_096)
    }

    deinit {
        unsafe buffer.deallocate()
    }

    /// Memory for adjacent pages; the same for each call.
    @unsafe func memory(for pages: Int) -> UnsafeMutableRawBufferPointer {
        let length = pages * source.layout.pageSize
        if unsafe buffer.count < length {
            unsafe buffer.deallocate()
            unsafe buffer = .allocate(byteCount: length, alignment: 4_096)
        }
        return unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<length])
    }

    func takeCounts(into counts: inout PatchCounts) {
        patcher.takeCounts(into: &counts)
    }

    func role(of page: Int) -> Role {
        let numbering = source.layout.numbering
        if page == 1 || (isClone ? plan.changes(page) : plan.patched.contains(page)) { return .made }
        if plan.freed.pages.contains(page) { return plan.freed.list.isTrunk(page) ? .made : .free }
        // Whatever lies there is no content.
        if page == numbering.pendingBytePage { return .free }
        if numbering.isMapPage(page) { return freePages(in: page).isEmpty ? .kept : .made }
        return rootPages.contains(page) ? .made : .kept
    }

    /// From the first free page that a pointer-map page describes to the last that it could describe; empty for none.
    private func freePages(in map: Int) -> Range<Int> {
        let end = min(map + source.layout.pageSize / PageNumbering.mapEntryLength, source.layout.pageCount) + 1
        guard let first = plan.freed.pages.first(from: map), first < end else { return end..<end }
        return first..<end
    }

    /// Makes a page's bytes.
    ///
    /// - Parameters:
    ///   - page: one whose role is `made`.
    ///   - bytes: the source's page.
    /// - Throws: `.source`, `.record`.
    @unsafe func make(_ page: Int, in bytes: UnsafeMutableRawPointer) throws(PageCopyError) {
        if page == 1 {
            unsafe makeHeader(in: bytes)
        } else if let owner = plan.patched[page] {
            try unsafe patcher.patch(bytes, number: page, owner)
        } else if plan.freed.pages.contains(page) {
            unsafe plan.freed.list.write(trunk: page, to: bytes)
        } else if source.layout.numbering.isMapPage(page) {
            for free in freePages(in: page) where plan.freed.pages.contains(free) {
                let entry = unsafe bytes + PageNumbering.mapEntryLength * (free - page - 1)
                unsafe entry.storeBytes(of: PointerMap.Entry.free.rawValue, as: UInt8.self)
                unsafe entry.storeBig(UInt32(0), at: 1)
            }
        } else if let root = plan.freed.roots.first(where: { $0.page == page }) {
            unsafe LeafLayout.writeEmpty(root.kind, pageSize: source.layout.pageSize, to: bytes)
        }
    }

    /// Writes what of a patched page's records lies on overflow pages.
    ///
    /// - Parameters:
    ///   - page: of a patched tree.
    ///   - bytes: the source's page.
    ///   - copy: has all pages.
    /// - Throws: `.source`, `.record`, `.copy`.
    @unsafe func patchOverflow(
        of page: Int, in bytes: UnsafeMutableRawPointer, on copy: DatabaseCopy
    ) throws(PageCopyError) {
        guard let owner = plan.patched[page] else { return }
        try unsafe patcher.patch(bytes, number: page, owner, overflowIn: copy)
    }

    /// The rest of page 1 is the schema's.
    @unsafe private func makeHeader(in bytes: UnsafeMutableRawPointer) {
        let layout = source.layout
        var header = unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: DatabaseHeader.length))
        header.setRollbackJournal()
        header[.changeCounter] = 1
        header[.versionValidFor] = 1
        header[.pageCount] = UInt32(truncatingIfNeeded: layout.pageCount)
        header[.firstFreelistTrunk] = UInt32(truncatingIfNeeded: plan.freed.list.first)
        header[.freelistCount] = UInt32(truncatingIfNeeded: plan.freed.list.count)
        if layout.hasPointerMaps { header[.isIncremental] = 1 }
        unsafe bytes.copyMemory(from: header, byteCount: DatabaseHeader.length)
    }
}
