/// One level of interior pages: the page that is being filled, and children for which it isn't decided yet whether they
/// get a cell or are the last of their page.
///
/// Two children are held where the page is full, because one alone would be a page without a cell, which SQLite takes
/// for damage.
struct SpineLevel: Sendable {
    var page: InteriorPage
    var pending: [TreeState.Child] = []
    /// Whether pages of the level are in the file already.
    var hasPages = false

    init(_ kind: TreeKind, pageSize: Int) {
        page = InteriorPage(kind, pageSize: pageSize)
    }

    /// Nil where the state can't be one of a level of such a tree.
    ///
    /// - Parameters:
    ///   - kind: the tree's.
    ///   - state: as it was written down.
    ///   - hasLast: whether the last child is an index's last, which no entry follows.
    ///   - writer: of the file.
    init?(_ kind: TreeKind, _ state: TreeState.Level, hasLast: Bool, on writer: borrowing DatabaseWriter) {
        guard state.page.count == writer.pageSize, let page = InteriorPage(kind, bytes: state.page),
            state.pending.count == 1 || state.pending.count == 2 && page.cellCount > 0
        else { return nil }
        for (index, child) in state.pending.enumerated() {
            let isLast = hasLast && index == state.pending.count - 1
            guard child.page >= 2, child.page <= writer.pageCount,
                isLast
                    ? child.divider.isEmpty
                    : InteriorPage.isDivider(child.divider, kind: kind, pageSize: writer.pageSize)
            else { return nil }
        }
        self.page = page
        pending = state.pending
        hasPages = state.hasPages
    }

    var state: TreeState.Level {
        TreeState.Level(page: page.bytes, pending: pending, hasPages: hasPages)
    }
}

extension TreeBuilder {
    /// Adds the next page of the level below.
    mutating func push(_ child: TreeState.Child, to level: Int, with writer: inout DatabaseWriter)
        throws(PageBuildError)
    {
        if level == levels.count { levels.append(SpineLevel(kind, pageSize: writer.pageSize)) }
        let pending = levels[level].pending
        if pending.isEmpty {
            levels[level].pending = [child]
        } else if pending.count == 1 {
            let hasRoom = levels[level].page.append(pending[0])
            levels[level].pending = hasRoom ? [child] : [pending[0], child]
        } else {
            try close(level, last: pending[0], with: &writer)
            let hasRoom = levels[level].page.append(pending[1])
            precondition(hasRoom, "every cell fits on an empty page")
            levels[level].pending = [child]
        }
    }

    /// Writes a level's page, which isn't the root, and starts the next. The cell after its last child goes up.
    private mutating func close(
        _ level: Int, last: TreeState.Child, with writer: inout DatabaseWriter
    ) throws(PageBuildError) {
        let number = try writer.number()
        try write(level, last: last.page, page: number, with: &writer)
        levels[level].page = InteriorPage(kind, pageSize: writer.pageSize)
        levels[level].hasPages = true
        try push(TreeState.Child(page: number, divider: last.divider), to: level + 1, with: &writer)
    }

    private mutating func write(
        _ level: Int, last: Int, page number: Int, with writer: inout DatabaseWriter
    ) throws(PageBuildError) {
        levels[level].page.close(rightmost: last)
        let page = levels[level].page
        try writer.write(page.bytes, page: number)
        for child in page.children { try writer.setPointer(to: child, .child, from: number) }
        for overflow in page.overflowPages { try writer.setPointer(to: overflow, .firstOverflow, from: number) }
    }

    /// Writes the last pages of all levels, the topmost to the root.
    mutating func finishLevels(with writer: inout DatabaseWriter) throws(PageBuildError) {
        var level = 0
        while level < levels.count {
            if levels[level].pending.count == 2 { try split(level, with: &writer) }
            guard let last = levels[level].pending.last else { preconditionFailure("a level has a last child") }
            if levels[level].hasPages {
                try close(level, last: last, with: &writer)
            } else {
                try write(level, last: last.page, page: root, with: &writer)
            }
            level += 1
        }
    }

    /// The level ends with one child too many for its page: the page's last cell goes up, so that the child isn't alone
    /// on the next page.
    private mutating func split(_ level: Int, with writer: inout DatabaseWriter) throws(PageBuildError) {
        let pending = levels[level].pending
        guard let last = levels[level].page.removeLast() else { preconditionFailure("a full page has cells") }
        try close(level, last: last, with: &writer)
        let hasRoom = levels[level].page.append(pending[0])
        precondition(hasRoom, "every cell fits on an empty page")
        levels[level].pending = [pending[1]]
    }
}
