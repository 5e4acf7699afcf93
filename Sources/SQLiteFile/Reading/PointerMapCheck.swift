/// Compares pages of trees with their entries in the pointer map
/// (https://www.sqlite.org/fileformat2.html#pointer_map_or_ptrmap_pages), as `PRAGMA quick_check` does.
///
/// Used by one reader; a page of the map is in memory, as neighbours mostly have their entries on one.
@safe
final class PointerMapCheck {
    private let file: PageFile
    private let bytes: UnsafeMutableRawPointer
    /// Number of the page in memory; 0: none.
    private var current = 0

    /// The type of a root's entry.
    private static let root: UInt8 = 1

    init(_ file: PageFile) {
        self.file = file
        unsafe bytes = .allocate(byteCount: file.layout.pageSize, alignment: 16)
    }

    deinit {
        unsafe bytes.deallocate()
    }

    /// - Parameters:
    ///   - page: of a tree.
    ///   - entry: its kind; nil for a root.
    ///   - parent: the page that points at it; 0 for a root.
    /// - Throws: `.badMapEntry`; what can't be read.
    func require(_ page: Int, _ entry: PointerMap.Entry?, parent: Int) throws(PageReadError) {
        // The first page has no entry.
        if page == 1 { return }
        let map = file.layout.numbering.mapPage(of: page)
        if map != current {
            current = 0
            try unsafe file.read(map, into: bytes)
            current = map
        }
        let place = PageNumbering.mapEntryLength * (page - map - 1)
        let type = unsafe bytes.load(fromByteOffset: place, as: UInt8.self)
        let found = unsafe UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: place + 1, as: UInt32.self))
        guard type == entry?.rawValue ?? Self.root, Int(found) == parent else {
            throw PageReadError(.badMapEntry, page: page, value: Int64(type))
        }
    }
}
