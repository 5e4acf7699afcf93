/// How much of a payload stays on its b-tree page; the rest goes to an overflow chain
/// (https://www.sqlite.org/fileformat2.html#b_tree_pages, "cell payload overflow pages": U, P, X, M and K there).
///
/// Bytes reserved at the end of pages are 0 here, so that the usable size U is the page size.
struct PayloadSpill: Hashable, Sendable {
    /// Bytes of payload on an overflow page, after the number of the next one: U − 4.
    let overflowCapacity: Int
    /// X: a payload up to this many bytes stays whole.
    let maximumLocal: Int
    /// M: at least this many bytes of a longer payload stay.
    let minimumLocal: Int

    private init(pageSize: Int, maximumLocal: Int) {
        overflowCapacity = pageSize - 4
        self.maximumLocal = maximumLocal
        minimumLocal = (pageSize - 12) * 32 / 255 - 23
    }

    /// For leaves of tables.
    static func table(pageSize: Int) -> PayloadSpill {
        PayloadSpill(pageSize: pageSize, maximumLocal: pageSize - 35)
    }

    /// For leaves and interior pages of indexes. Four cells of any length fit on a page.
    static func index(pageSize: Int) -> PayloadSpill {
        PayloadSpill(pageSize: pageSize, maximumLocal: (pageSize - 12) * 64 / 255 - 23)
    }

    /// Bytes of the payload that stay on the page; fewer than `payload` where a chain follows.
    func localLength(_ payload: Int) -> Int {
        if payload <= maximumLocal { return payload }
        let filling = minimumLocal + (payload - minimumLocal) % overflowCapacity
        return filling <= maximumLocal ? filling : minimumLocal
    }
}

/// A b-tree's kind (https://www.sqlite.org/fileformat2.html#b_tree_pages).
package enum TreeKind: Hashable, Sendable {
    /// Rows by rowid.
    case table
    /// Entries by key; a table WITHOUT ROWID has this form too.
    case index

    var leafType: UInt8 { self == .table ? 13 : 10 }
    var interiorType: UInt8 { self == .table ? 5 : 2 }

    func spill(pageSize: Int) -> PayloadSpill {
        self == .table ? .table(pageSize: pageSize) : .index(pageSize: pageSize)
    }
}
