/// A page that may be damaged: what can be taken from it, without judging the rest.
package struct SalvagePage {
    package let number: Int
    /// As many as a page has.
    let bytes: [UInt8]
    /// Bytes of it that the file has: it may end inside of the last page, which SQLite reads with zeros then.
    let end: Int

    init(_ bytes: [UInt8], number: Int, size: Int) {
        self.number = number
        self.bytes = bytes + [UInt8](repeating: 0, count: size - bytes.count)
        end = bytes.count
    }

    private var headerStart: Int { number == 1 ? DatabaseHeader.length : 0 }

    var kind: TreePage.Kind? { TreePage.Kind(rawValue: bytes[headerStart]) }

    /// Whether it says that it is a leaf of a table.
    package var isTableLeaf: Bool { kind == .tableLeaf }

    private func word(_ offset: Int) -> Int { Int(bytes[offset]) << 8 | Int(bytes[offset + 1]) }

    /// Where the cell pointers begin.
    private var pointersStart: Int { headerStart + (kind?.isLeaf == true ? 8 : 12) }

    /// Cells that the header counts, as far as their pointers fit on the page.
    var cellCount: Int { min(word(headerStart + 3), max(0, bytes.count - pointersStart) / 2) }

    /// Whether kind, header and cell pointers are those of a table's leaf.
    var looksLikeLeaf: Bool {
        guard isTableLeaf, word(headerStart + 3) > 0, word(headerStart + 3) == cellCount else { return false }
        let end = pointersStart + 2 * cellCount
        return (0..<cellCount).allSatisfy { index in
            let start = word(pointersStart + 2 * index)
            return start >= end && start + 4 <= bytes.count
        }
    }

    /// Where a cell begins; nil where its pointer leads out of the page, or of the file.
    func cellStart(_ index: Int) -> Int? {
        // SQLite takes a pointer's low bits only (`maskPage` in btree.c).
        let start = word(pointersStart + 2 * index) & (bytes.count - 1)
        return start >= headerStart + 8 && start + 4 <= bytes.count && start < end ? start : nil
    }

    /// Whether the file ends inside of it.
    var isCut: Bool { end < bytes.count }

    /// The children of a table's interior page, in order, but for those that the file lacks.
    var children: [Int] {
        func child(_ offset: Int) -> Int? {
            offset + 4 <= end ? bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } : nil
        }
        return ((0..<cellCount).map { cellStart($0).flatMap(child) } + [child(headerStart + 8)]).compactMap(\.self)
    }
}

/// A table's tree, as far as its pages can be read.
package struct SalvagedTree {
    /// Leaves in the order of the tree.
    package fileprivate(set) var leaves: [Int] = []
    /// Pages that belong to the tree and can't be read, not all of them, or aren't a table's.
    package fileprivate(set) var unreadable: [Int] = []

    /// Walks a tree from its root. A page that is claimed already is left out: two pointers to it can't both be right.
    ///
    /// - Parameters:
    ///   - root: number of the root page.
    ///   - file: the database.
    ///   - claimed: takes the tree's pages.
    package init(root: Int, in file: SalvageFile, claimed: inout PageSet) {
        var waiting = [root]
        while let number = waiting.popLast() {
            guard number >= 1, number <= file.pageCount else {
                unreadable.append(number)
                continue
            }
            guard !claimed.contains(number) else { continue }
            guard let page = file.page(number), let kind = page.kind, kind.tree == .table else {
                unreadable.append(number)
                continue
            }
            claimed.insert(number)
            if kind == .tableLeaf {
                leaves.append(number)
            } else {
                if page.isCut { unreadable.append(number) }
                waiting += page.children.reversed()
            }
        }
    }
}
