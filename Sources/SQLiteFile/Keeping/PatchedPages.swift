/// Which pages belong to patched trees: the leaves of tables, and all b-tree pages of indexes.
///
/// Known from walking the interior pages; no leaf but the first of each tree is read. Memory: a byte a page, two where
/// more than 127 trees are patched.
struct PatchedPages: Sendable {
    struct Owner {
        /// Place of the tree among the patches.
        let tree: Int
        let isLeaf: Bool
    }

    /// 0 for none, else 1 + 2 × tree, and one more for a leaf.
    private var low: [UInt8]
    private var high: [UInt8]

    /// - Parameters:
    ///   - file: the source.
    ///   - patches: at most 32,767.
    ///   - claims: the trees' pages are claimed, but for their overflow pages and unread leaves' content.
    /// - Throws: what is damaged.
    init(of file: PageFile, _ patches: [TreePatch], claims: PageClaims) throws(PageReadError) {
        precondition(patches.count <= 32_767, "the owner of a page has 16 bits")
        low = patches.isEmpty ? [] : [UInt8](repeating: 0, count: file.layout.pageCount + 1)
        high = patches.count <= 127 ? [] : low
        for (index, patch) in patches.enumerated() {
            try walk(patch.tree, 1 + 2 * index, file, claims)
        }
    }

    private mutating func walk(
        _ tree: TreeRoot, _ mark: Int, _ file: PageFile, _ claims: PageClaims
    ) throws(PageReadError) {
        var path = TreePath(file, root: tree.page, tree.kind, claims: claims)
        try path.begin()
        while true {
            set(path.leaf, mark + 1)
            if tree.kind == .index {
                for level in 0..<path.depth { set(path.page(ofLevel: level), mark) }
            }
            guard path.leaveFinished() else { return }
            try path.moveRight()
        }
    }

    private mutating func set(_ page: Int, _ mark: Int) {
        low[page] = UInt8(truncatingIfNeeded: mark)
        if !high.isEmpty { high[page] = UInt8(truncatingIfNeeded: mark >> 8) }
    }

    /// All that could belong to one.
    var pages: Range<Int> { 0..<low.count }

    func contains(_ page: Int) -> Bool {
        guard page < low.count else { return false }
        return low[page] != 0 || !high.isEmpty && high[page] != 0
    }

    subscript(page: Int) -> Owner? {
        guard page < low.count else { return nil }
        let mark = Int(low[page]) | (high.isEmpty ? 0 : Int(high[page]) << 8)
        return mark == 0 ? nil : Owner(tree: (mark - 1) / 2, isLeaf: mark & 1 == 0)
    }
}
