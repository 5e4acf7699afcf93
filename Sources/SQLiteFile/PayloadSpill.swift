/// How much of a payload stays on its b-tree page; the rest goes to an overflow chain
/// (https://www.sqlite.org/fileformat2.html#b_tree_pages, "cell payload overflow pages": U, P, X, M and K there).
///
/// Files with bytes reserved at the end of pages are neither read nor built here: the usable size U is the page size.
struct PayloadSpill: Hashable, Sendable {
    /// Bytes of payload on an overflow page: U − 4.
    let overflowCapacity: Int
    /// X: a payload up to this many bytes stays whole.
    let maximumLocal: Int
    /// M: at least this many bytes of a longer payload stay.
    let minimumLocal: Int

    private init(pageSize: Int, maximumLocal: Int) {
        overflowCapacity = Self.overflowCapacity(pageSize: pageSize)
        self.maximumLocal = maximumLocal
        minimumLocal = (pageSize - 12) * 32 / 255 - 23
    }

    /// Bytes of payload on an overflow page, after the number of the next one.
    static func overflowCapacity(pageSize: Int) -> Int { pageSize - 4 }

    /// For leaves of tables.
    static func table(pageSize: Int) -> PayloadSpill {
        PayloadSpill(pageSize: pageSize, maximumLocal: pageSize - 35)
    }

    /// For leaves and interior pages of indexes. Four cells of any length fit on a page.
    static func index(pageSize: Int) -> PayloadSpill {
        PayloadSpill(pageSize: pageSize, maximumLocal: (pageSize - 12) * 64 / 255 - 23)
    }

    /// Bytes of the payload that stay on the page; fewer than `payload` where a chain follows.
    @inline(__always) func localLength(_ payload: Int) -> Int {
        if payload <= maximumLocal { return payload }
        let filling = minimumLocal + (payload - minimumLocal) % overflowCapacity
        return filling <= maximumLocal ? filling : minimumLocal
    }
}
