/// The way from a tree's root to its current leaf, from leaf to leaf in key order.
///
/// Holds the interior pages of this way and nothing else. Every page is claimed and checked when the path first reaches
/// it; leaves are read and checked by the caller.
struct TreePath: ~Copyable {
    let file: PageFile
    let kind: TreeKind
    let spill: PayloadSpill
    let coverage: PageCoverage
    /// The current leaf's page.
    private(set) var leaf = 0
    /// Interior pages above the leaves.
    private(set) var depth = 0

    private let root: Int
    private let claims: PageClaims
    private let pointerMap: PointerMapCheck?
    /// Pages of levels that were reached once; the first `depth` are the path.
    private var levels: [PathPage] = []
    /// Known from the first leaf on: all leaves are equally deep.
    private var leafDepth: Int?

    /// SQLite's cursors have 20 levels, the leaf included (btreeInt.h, BTCURSOR_MAX_DEPTH).
    private static let maximumDepth = 19

    init(_ file: PageFile, root: Int, _ kind: TreeKind, claims: PageClaims) {
        self.file = file
        self.root = root
        self.kind = kind
        self.claims = claims
        pointerMap = claims.checksPointerMap && file.layout.hasPointerMaps ? PointerMapCheck(file) : nil
        spill = kind.spill(pageSize: file.layout.usableSize)
        coverage = PageCoverage(pageSize: file.layout.pageSize)
    }

    /// Goes to the first leaf, or to the first that may have rowids over one.
    mutating func begin(after rowid: Int64? = nil) throws(PageReadError) {
        guard root == 1 || file.layout.mayHoldContent(root) else {
            throw PageReadError(.badPageNumber, page: 1, value: Int64(root))
        }
        try descend(to: root, after: rowid)
    }

    /// Leaves the interior pages all of whose children were visited.
    ///
    /// - Returns: false after the last leaf. Else the next cell of `bottom` is the one between the last leaf and the
    ///   next.
    mutating func leaveFinished() -> Bool {
        while depth > 0, levels[depth - 1].index == levels[depth - 1].cellCount { depth -= 1 }
        return depth > 0
    }

    /// The lowest interior page of the path; there is one.
    var bottom: PathPage { levels[depth - 1] }

    /// Number of an interior page of the path; level 0 is the root, the last one `depth - 1`.
    func page(ofLevel level: Int) -> Int { levels[level].number }

    /// Goes to the next leaf, after `leaveFinished` said that there is one.
    mutating func moveRight() throws(PageReadError) {
        bottom.index += 1
        try descend(to: try child(of: bottom), after: nil)
    }

    /// Rowids that the current leaf of a table may have.
    func leafBounds() throws(PageReadError) -> ClosedRange<Int64> {
        depth == 0 ? .min ... .max : try bottom.boundsOfChild()
    }

    /// Leaves from the current one on that lie behind each other in the file too, `limit` at most.
    func adjacentLeaves(limit: Int) throws(PageReadError) -> Int {
        guard depth > 0 else { return 1 }
        var count = 1
        while count < limit, bottom.index + count <= bottom.cellCount {
            let page = try bottom.child(at: bottom.index + count)
            guard page == leaf + count, file.layout.mayHoldContent(page) else { break }
            count += 1
        }
        return count
    }

    private func child(of parent: PathPage) throws(PageReadError) -> Int {
        let page = try parent.child(at: parent.index)
        guard file.layout.mayHoldContent(page) else {
            throw PageReadError(.badPageNumber, page: parent.number, value: Int64(page))
        }
        return page
    }

    private mutating func descend(to first: Int, after rowid: Int64?) throws(PageReadError) {
        var number = first
        while true {
            guard claims.claim(number) else { throw PageReadError(.usedTwice, page: number) }
            try pointerMap?.require(number, depth == 0 ? nil : .child, parent: depth == 0 ? 0 : bottom.number)
            if depth == leafDepth {
                leaf = number
                return
            }
            let level = try load(number)
            guard level.page.kind.tree == kind else {
                throw PageReadError(.badKind, page: number, value: Int64(level.page.kind.rawValue))
            }
            if level.page.kind.isLeaf {
                guard leafDepth == nil else { throw PageReadError(.unequalDepth, page: number) }
                leafDepth = depth
                leaf = number
                return
            }
            guard depth < Self.maximumDepth else { throw PageReadError(.tooDeep, page: number) }
            let bounds = kind == .table && depth > 0 ? try bottom.boundsOfChild() : .min ... .max
            try level.check(within: bounds, coverage, spill)
            if let rowid { level.index = try level.firstChild(after: rowid) }
            depth += 1
            number = try child(of: level)
        }
    }

    /// Reads a page into the memory of the level below the path.
    private mutating func load(_ number: Int) throws(PageReadError) -> PathPage {
        if depth < levels.count {
            try levels[depth].load(number, of: file)
        } else {
            levels.append(try PathPage(number, of: file))
        }
        return levels[depth]
    }
}
