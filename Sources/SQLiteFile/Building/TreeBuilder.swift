/// Builds one b-tree from packed leaves in their order: gives the pages numbers, writes them, and streams the interior
/// pages above them (the spine) with a page of memory for each level. The topmost page goes to the tree's root, which
/// exists; a tree without rows leaves it as it is.
///
/// A value: several trees can be built by turns with one writer. Page numbers follow from the order of the calls.
///
/// After a throw neither the builder nor the writer may be used: go on from a state.
package struct TreeBuilder: Sendable {
    let kind: TreeKind
    /// Number of the root page.
    package let root: Int
    private var largestRowid: Int64?
    private var heldLeaf: [UInt8] = []
    private var hasLastLeaf = false
    var levels: [SpineLevel] = []

    /// Starts a tree at a root that SQLite made and that is empty.
    ///
    /// - Throws: `.unsuitable` where that page isn't the root of an empty tree of this kind.
    package init(_ kind: TreeKind, root: Int, on writer: borrowing DatabaseWriter) throws(PageBuildError) {
        self.kind = kind
        self.root = root
        guard root >= 2, root <= writer.pageCount else { throw Self.unsuitable(root) }
        let page = try writer.read(page: root)
        guard page[0] == kind.leafType, page[3] == 0, page[4] == 0 else { throw Self.unsuitable(root) }
    }

    /// Goes on from a state.
    ///
    /// - Throws: `.badState` where the state can't be one of a tree of this file.
    package init(resuming state: TreeState, on writer: borrowing DatabaseWriter) throws(PageBuildError) {
        kind = state.kind
        root = state.root
        largestRowid = state.largestRowid
        heldLeaf = state.heldLeaf
        hasLastLeaf = state.hasLastLeaf
        let bad = PageBuildError.badState(page: state.root)
        guard root >= 2, root <= writer.pageCount,
            heldLeaf.isEmpty || heldLeaf.count == writer.pageSize && state.levels.isEmpty,
            (heldLeaf.isEmpty && state.levels.isEmpty) || (kind == .table) == (largestRowid != nil),
            heldLeaf.isEmpty || kind == .table || hasLastLeaf
        else { throw bad }
        for (index, level) in state.levels.enumerated() {
            let hasLast = hasLastLeaf && index == 0
            guard let level = SpineLevel(kind, level, hasLast: hasLast, on: writer),
                level.hasPages == (index + 1 < state.levels.count)
            else { throw bad }
            levels.append(level)
        }
        if !heldLeaf.isEmpty { _ = try overflowPages(ofHeldLeaf: root) }
    }

    /// What is needed to go on from here, with the writer's state of the same moment.
    package var state: TreeState {
        var state = TreeState(kind: kind, root: root)
        state.largestRowid = largestRowid
        state.heldLeaf = heldLeaf
        state.hasLastLeaf = hasLastLeaf
        state.levels = levels.map(\.state)
        return state
    }

    private static func unsuitable(_ root: Int) -> PageBuildError {
        PageBuildError(
            code: .unsuitable, page: root,
            message: "a tree of the new file can't be filled: its root isn't an empty page of its kind")
    }

    /// Adds the next leaves. Fills in the numbers in the buffer: it can't be added a second time.
    ///
    /// - Throws: `.outOfOrder` where the first rowid isn't greater than the last one before; `.badState` where an
    ///   index's last leaf came before; `.full`; `.file`.
    package mutating func add(_ packed: PackedLeaves, to writer: inout DatabaseWriter) throws(PageBuildError) {
        precondition(packed.pageSize == writer.pageSize, "the leaves are packed for pages of another size")
        guard let last = packed.leaves.last else { return }
        // The index's last leaf came before.
        if hasLastLeaf { throw PageBuildError.badState(page: root) }
        if kind == .table, let largestRowid, packed.firstRowid <= largestRowid {
            throw PageBuildError(
                code: .outOfOrder, page: root,
                message: "rowid \(packed.firstRowid) comes after \(largestRowid): \(PageBuildError.repair)")
        }
        try placeHeldLeaf(with: &writer)
        largestRowid = kind == .table ? last.rowid : nil
        hasLastLeaf = kind == .index && last.divider.isEmpty
        // The only leaf so far gets no number: it becomes the root if no other follows.
        let isHeld = levels.isEmpty && packed.leafCount == 1 && last.divider.isEmpty
        let numbers = try writer.numbers(for: (isHeld ? 1 : 0)..<packed.pageCount)
        try number(packed, numbers, with: &writer)
        try writer.write(packed, as: numbers)
        if isHeld {
            heldLeaf = unsafe Array(packed.pages(0..<1))
            return
        }
        for leaf in packed.leaves {
            guard let page = numbers[leaf.place] else { preconditionFailure("every leaf has a number") }
            try push(TreeState.Child(page: page, divider: divider(of: leaf, in: packed)), to: 0, with: &writer)
        }
    }

    private func divider(of leaf: PackedLeaves.Leaf, in packed: PackedLeaves) -> [UInt8] {
        kind == .table ? Self.key(leaf.rowid) : Array(packed.dividers[leaf.divider])
    }

    private static func key(_ rowid: Int64) -> [UInt8] {
        unsafe withUnsafeTemporaryAllocation(byteCount: Varint.maximumLength, alignment: 1) { scratch in
            guard let start = scratch.baseAddress else { return [] }
            let length = unsafe Varint.write(UInt64(bitPattern: rowid), to: start)
            return unsafe Array(scratch[..<length])
        }
    }

    /// Fills in the numbers of overflow pages, and says in the pointer map what points at them.
    private func number(
        _ packed: PackedLeaves, _ numbers: PageNumbers, with writer: inout DatabaseWriter
    ) throws(PageBuildError) {
        for chain in packed.chains {
            var before: Int?
            for place in chain.places {
                guard let number = numbers[place] else { preconditionFailure("every overflow page has a number") }
                if let before {
                    unsafe packed.page(at: place - 1).storeBig(UInt32(truncatingIfNeeded: number), at: 0)
                    try writer.setPointer(to: number, .laterOverflow, from: before)
                } else {
                    try point(chain, at: number, packed, numbers, with: &writer)
                }
                before = number
            }
        }
    }

    private func point(
        _ chain: PackedLeaves.Chain, at number: Int, _ packed: PackedLeaves, _ numbers: PageNumbers,
        with writer: inout DatabaseWriter
    ) throws(PageBuildError) {
        switch chain.holder {
        case .leaf(let place):
            unsafe packed.page(at: place).storeBig(UInt32(truncatingIfNeeded: number), at: chain.pointer)
            // That of a leaf without a number comes with it.
            if let leaf = numbers[place] { try writer.setPointer(to: number, .firstOverflow, from: leaf) }
        case .divider:
            // The interior page that will hold it says so when it is written.
            for index in 0..<4 {
                packed.dividers[chain.pointer + index] = UInt8(truncatingIfNeeded: number >> (24 - 8 * index))
            }
        }
    }

    /// A second leaf comes: the first one gets a number.
    private mutating func placeHeldLeaf(with writer: inout DatabaseWriter) throws(PageBuildError) {
        guard !heldLeaf.isEmpty, let largestRowid else { return }
        let page = try writer.number()
        try writeHeldLeaf(page: page, with: &writer)
        heldLeaf = []
        try push(TreeState.Child(page: page, divider: Self.key(largestRowid)), to: 0, with: &writer)
    }

    private func writeHeldLeaf(page: Int, with writer: inout DatabaseWriter) throws(PageBuildError) {
        try writer.write(heldLeaf, page: page)
        for overflow in try overflowPages(ofHeldLeaf: page) {
            try writer.setPointer(to: overflow, .firstOverflow, from: page)
        }
    }

    /// First pages of the overflow chains of the held leaf's cells.
    ///
    /// - Parameter number: the leaf's.
    /// - Returns: their numbers.
    /// - Throws: `.badState` where it can't be a leaf with rows.
    private func overflowPages(ofHeldLeaf number: Int) throws(PageBuildError) -> [Int] {
        do throws(PageReadError) {
            return try unsafe heldLeaf.span.bytes.withUnsafeBytes { (bytes) throws(PageReadError) in
                guard let start = bytes.baseAddress else { return [] }
                let page = try unsafe TreePage(start, number: number, usable: bytes.count)
                guard page.kind.rawValue == kind.leafType else { throw PageReadError(.badKind, page: number) }
                guard page.cellCount > 0 else { throw PageReadError(.empty, page: number) }
                let spill = kind.spill(pageSize: bytes.count)
                var pages: [Int] = []
                for index in 0..<page.cellCount {
                    let cell = try PayloadCell(page, at: index, spill)
                    if cell.overflows { pages.append(page.word32(cell.localStart + cell.localLength)) }
                }
                return pages
            }
        } catch {
            throw PageBuildError.badState(page: root)
        }
    }

    /// Ends the tree: writes what is still in memory, the topmost page to the root.
    ///
    /// - Throws: `.badState` where leaves of an index are missing; `.full`; `.file`.
    package consuming func finish(with writer: inout DatabaseWriter) throws(PageBuildError) {
        if !heldLeaf.isEmpty { return try writeHeldLeaf(page: root, with: &writer) }
        // The index's last leaf is missing.
        if kind == .index, !levels.isEmpty, !hasLastLeaf { throw PageBuildError.badState(page: root) }
        try finishLevels(with: &writer)
    }
}
