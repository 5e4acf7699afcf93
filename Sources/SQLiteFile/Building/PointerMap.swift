internal import CausewayPlatform

/// The pointer map of a file with auto-vacuum: for every page its kind and the page that points at it
/// (https://www.sqlite.org/fileformat2.html#pointer_map_or_ptrmap_pages).
///
/// A few of its pages are in memory, the least recently used is written back: entries come in long ascending runs.
struct PointerMap: Sendable {
    /// Type of an entry. Those of root pages (1) are SQLite's.
    enum Entry: UInt8 {
        /// A free page; it has no parent.
        case free = 2
        /// The first page of an overflow chain; the parent is the b-tree page with its cell.
        case firstOverflow = 3
        /// A later one; the parent is the overflow page before it.
        case laterOverflow = 4
        /// A b-tree page that isn't a root; the parent is the interior page above.
        case child = 5
    }

    private struct Slot {
        /// Number of the pointer-map page; 0: none.
        var page = 0
        var isDirty = false
        var lastUse = 0
    }

    /// Pointer-map pages in memory: 2 MiB with the largest pages.
    private static let slotCount = 32

    private let numbering: PageNumbering
    private var slots = [Slot](repeating: Slot(), count: Self.slotCount)
    private var bytes: [UInt8]
    private var current = 0
    private var clock = 0

    init(_ numbering: PageNumbering) {
        self.numbering = numbering
        bytes = [UInt8](repeating: 0, count: Self.slotCount * numbering.pageSize)
    }

    /// Sets the entry of a page.
    /// - Throws: `.badState` for a page that has none: a pointer-map page or the pending-byte page.
    mutating func set(
        _ page: Int, _ entry: Entry, parent: Int, on file: borrowing OpenFile
    ) throws(PageBuildError) {
        let map = numbering.mapPage(of: page)
        guard page > map else { throw PageBuildError.badState(page: page) }
        if slots[current].page != map { try use(map, on: file) }
        let offset = current * numbering.pageSize + PageNumbering.mapEntryLength * (page - map - 1)
        bytes[offset] = entry.rawValue
        bytes[offset + 1] = UInt8(truncatingIfNeeded: parent >> 24)
        bytes[offset + 2] = UInt8(truncatingIfNeeded: parent >> 16)
        bytes[offset + 3] = UInt8(truncatingIfNeeded: parent >> 8)
        bytes[offset + 4] = UInt8(truncatingIfNeeded: parent)
        slots[current].isDirty = true
    }

    /// Starts a new pointer-map page, all zeros.
    mutating func start(_ map: Int, on file: borrowing OpenFile) throws(PageBuildError) {
        try takeSlot(for: map, on: file)
        zero(fromOffset: 0)
    }

    /// Zeros the entries for pages from `page` on, in the pointer-map page that has its entry: what a file's earlier
    /// pages left there.
    mutating func clear(from page: Int, on file: borrowing OpenFile) throws(PageBuildError) {
        let map = numbering.mapPage(of: page)
        // The page right after the last is itself a pointer-map page: it is started when pages are given out.
        if map >= page { return }
        try use(map, on: file)
        zero(fromOffset: PageNumbering.mapEntryLength * (page - map - 1))
    }

    /// Writes back what was changed.
    mutating func flush(on file: borrowing OpenFile) throws(PageBuildError) {
        for slot in slots.indices { try writeBack(slot, on: file) }
    }

    private mutating func zero(fromOffset offset: Int) {
        let start = current * numbering.pageSize
        for index in start + offset..<start + numbering.pageSize { bytes[index] = 0 }
        slots[current].isDirty = true
    }

    /// Makes a pointer-map page the current one.
    private mutating func use(_ map: Int, on file: borrowing OpenFile) throws(PageBuildError) {
        clock += 1
        if let slot = slots.firstIndex(where: { $0.page == map }) {
            current = slot
            slots[slot].lastUse = clock
            return
        }
        try takeSlot(for: map, on: file)
        let count = try file.read(into: &bytes, part(of: current), page: map, pageSize: numbering.pageSize)
        if count != numbering.pageSize {
            slots[current].page = 0
            throw PageBuildError(
                code: .unsuitable, page: map,
                message: "the new file ends before a pointer-map page: remove it and build it anew")
        }
    }

    private mutating func takeSlot(for map: Int, on file: borrowing OpenFile) throws(PageBuildError) {
        clock += 1
        var oldest = 0
        for slot in slots.indices where slots[slot].lastUse < slots[oldest].lastUse { oldest = slot }
        try writeBack(oldest, on: file)
        slots[oldest] = Slot(page: map, isDirty: false, lastUse: clock)
        current = oldest
    }

    private mutating func writeBack(_ slot: Int, on file: borrowing OpenFile) throws(PageBuildError) {
        guard slots[slot].page != 0, slots[slot].isDirty else { return }
        try file.write(bytes, part(of: slot), page: slots[slot].page, pageSize: numbering.pageSize)
        slots[slot].isDirty = false
    }

    private func part(of slot: Int) -> Range<Int> {
        slot * numbering.pageSize..<(slot + 1) * numbering.pageSize
    }
}
