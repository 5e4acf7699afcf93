/// An interior page that is being filled (https://www.sqlite.org/fileformat2.html#b_tree_pages): cells of a left child
/// and the key that divides it from the next, and the last child alone in the header.
///
/// Its bytes are those of the file at any time, so that it can be written down half-filled.
struct InteriorPage: Hashable, Sendable {
    private static let headerLength = 12

    private(set) var bytes: [UInt8]
    let kind: TreeKind

    init(_ kind: TreeKind, pageSize: Int) {
        self.kind = kind
        bytes = [UInt8](repeating: 0, count: pageSize)
        bytes[0] = kind.interiorType
        contentStart = pageSize
    }

    /// Nil where the bytes aren't those of such a page.
    init?(_ kind: TreeKind, bytes: [UInt8]) {
        self.kind = kind
        self.bytes = bytes
        guard bytes.count >= 512, bytes[0] == kind.interiorType else { return nil }
        // Cells lie one after another from the end of the page downwards.
        var end = bytes.count
        for index in 0..<cellCount {
            guard Self.headerLength + 2 * (index + 1) <= contentStart else { return nil }
            let start = pointer(at: index)
            guard start >= contentStart, start + 4 < end else { return nil }
            guard let length = cellLength(at: start), start + length == end else { return nil }
            end = start
        }
        guard end == contentStart else { return nil }
    }

    private(set) var cellCount: Int {
        get { Int(bytes[3]) << 8 | Int(bytes[4]) }
        set { store16(newValue, at: 3) }
    }

    /// 65,536 is stored as 0.
    private var contentStart: Int {
        get {
            let start = Int(bytes[5]) << 8 | Int(bytes[6])
            return start == 0 ? 65_536 : start
        }
        set { store16(newValue, at: 5) }
    }

    private func pointer(at index: Int) -> Int {
        let offset = Self.headerLength + 2 * index
        return Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
    }

    private mutating func store16(_ value: Int, at offset: Int) {
        bytes[offset] = UInt8(truncatingIfNeeded: value >> 8)
        bytes[offset + 1] = UInt8(truncatingIfNeeded: value)
    }

    private mutating func store32(_ value: Int, at offset: Int) {
        for index in 0..<4 { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (24 - 8 * index)) }
    }

    private func load32(at offset: Int) -> Int {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }

    /// Adds a child and what divides it from the next.
    /// - Returns: false where there is no room; the page is then as before.
    mutating func append(_ child: TreeState.Child) -> Bool {
        let count = cellCount
        let start = contentStart - 4 - child.divider.count
        let pointerOffset = Self.headerLength + 2 * count
        guard start >= pointerOffset + 2 else { return false }
        store32(child.page, at: start)
        bytes.replaceSubrange(start + 4..<start + 4 + child.divider.count, with: child.divider)
        store16(start, at: pointerOffset)
        cellCount = count + 1
        contentStart = start
        return true
    }

    /// Takes the last cell off the page.
    mutating func removeLast() -> TreeState.Child? {
        let count = cellCount
        guard count > 0 else { return nil }
        let start = contentStart
        let end = count > 1 ? pointer(at: count - 2) : bytes.count
        let child = TreeState.Child(page: load32(at: start), divider: Array(bytes[start + 4..<end]))
        for index in start..<end { bytes[index] = 0 }
        store16(0, at: Self.headerLength + 2 * (count - 1))
        cellCount = count - 1
        contentStart = end
        return child
    }

    /// Sets the last child: the page is finished.
    mutating func close(rightmost page: Int) {
        store32(page, at: 8)
    }

    /// The children of a finished page.
    var children: [Int] {
        (0..<cellCount).map { load32(at: pointer(at: $0)) } + [load32(at: 8)]
    }

    /// First pages of the overflow chains of the page's cells.
    var overflowPages: [Int] {
        guard kind == .index else { return [] }
        return (0..<cellCount).compactMap { index in
            let start = pointer(at: index) + 4
            return extent(at: start)?.overflowPointer.map { load32(at: start + $0) }
        }
    }

    /// Whether bytes are those of a cell of such a page, without its child.
    static func isDivider(_ bytes: [UInt8], kind: TreeKind, pageSize: Int) -> Bool {
        !bytes.isEmpty && dividerLength(bytes[...], kind: kind, pageSize: pageSize) == bytes.count
    }

    /// Bytes of a cell, its child's number included; nil where it goes over the page's end.
    private func cellLength(at start: Int) -> Int? {
        Self.dividerLength(bytes[(start + 4)...], kind: kind, pageSize: bytes.count).map { $0 + 4 }
    }

    private func extent(at start: Int) -> CellExtent? {
        Self.extent(bytes[start...], kind: kind, pageSize: bytes.count)
    }

    private static func extent(_ cell: ArraySlice<UInt8>, kind: TreeKind, pageSize: Int) -> CellExtent? {
        unsafe cell.withUnsafeBytes { cell in
            guard let first = cell.baseAddress else { return nil }
            return try? unsafe CellExtent(first, before: first + cell.count, kind: kind, kind.spill(pageSize: pageSize))
        }
    }

    /// Bytes of the divider at the start of `bytes`: of a table a rowid, of an index a payload.
    private static func dividerLength(_ bytes: ArraySlice<UInt8>, kind: TreeKind, pageSize: Int) -> Int? {
        if kind == .index { return extent(bytes, kind: kind, pageSize: pageSize)?.length }
        return unsafe bytes.withUnsafeBytes { bytes in
            guard let first = bytes.baseAddress else { return nil }
            let length = unsafe Varint.read(first, before: first + bytes.count).length
            return length == 0 ? nil : length
        }
    }
}
