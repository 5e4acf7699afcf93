/// A b-tree by its root.
package struct TreeRoot: Hashable, Sendable {
    /// The root page.
    package var page: Int
    package var kind: TreeKind

    package init(_ page: Int, _ kind: TreeKind) {
        self.page = page
        self.kind = kind
    }
}

/// Claims all pages of b-trees: interior pages, leaves and overflow pages, checked as the readers check them. Rows
/// aren't looked at.
struct TreePages {
    private let file: PageFile
    private let claims: PageClaims
    private let overflow: OverflowReader

    /// Bytes of one read.
    private static let readLength = 1 << 20

    init(_ file: PageFile, claims: PageClaims) {
        self.file = file
        self.claims = claims
        overflow = OverflowReader(file, claims: claims)
    }

    /// - Throws: what is damaged.
    func claim(_ tree: TreeRoot) throws(PageReadError) {
        let pageSize = file.layout.pageSize
        let room = max(1, Self.readLength / pageSize)
        let buffer = UnsafeMutableRawPointer.allocate(byteCount: room * pageSize, alignment: 4_096)
        defer { unsafe buffer.deallocate() }
        var path = TreePath(file, root: tree.page, tree.kind, claims: claims)
        try path.begin()
        var (first, count) = (0, 0)
        while true {
            if path.leaf < first || path.leaf >= first + count {
                // Ahead only where the tree's leaves lie behind each other.
                count = try path.adjacentLeaves(limit: room)
                first = path.leaf
                try unsafe file.read(first, count: count, into: buffer)
            }
            let page = try unsafe path.leafPage(buffer + (path.leaf - first) * pageSize)
            try check(page, path.coverage, path.spill)
            guard path.leaveFinished() else { return }
            if tree.kind == .index {
                let bottom = path.bottom.page
                try follow(try PayloadCell(bottom, at: path.bottom.index, path.spill), bottom)
            }
            try path.moveRight()
        }
    }

    private func check(_ page: TreePage, _ coverage: PageCoverage, _ spill: PayloadSpill) throws(PageReadError) {
        coverage.begin()
        for index in 0..<page.cellCount {
            let cell = try PayloadCell(page, at: index, spill)
            guard coverage.mark(cell.start, length: cell.size) else {
                throw PageReadError(.overlap, page: page.number)
            }
            try follow(cell, page)
        }
        try coverage.finish(page)
    }

    private func follow(_ cell: PayloadCell, _ page: TreePage) throws(PageReadError) {
        guard cell.overflows else { return }
        try overflow.claim(
            chainFrom: page.word32(cell.localStart + cell.localLength), namedBy: page.number,
            length: cell.length - cell.localLength)
    }
}
