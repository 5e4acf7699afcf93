/// Where the n-th of a number of rows points: arithmetic, so that either end of a link is known without the other.
///
/// The rank is the row's place among those that point to the same target; ranks of one target are distinct and rise
/// with the row's number.
enum ToOneFormula {
    /// Children in blocks, of very different sizes: most owners have few, some many, a few none.
    case spread(Spread)
    /// Children in blocks of equal size, so that every owner has some; from `limit` on they have no owner.
    case even(children: Int, owners: Int, limit: Int)
    /// A forest inside one entity, without cycles; the first row has no parent, or itself where it must have one.
    case tree(fanOut: Int, rootHasItself: Bool)
    /// Some are pointed to often, most hardly ever; for a to-one without inverse, which needs no rank.
    case popular(targets: Int, stream: UInt64)
    /// Every target at most once.
    case injective(targets: Int)
    case paired(Pairing)

    func target(of child: Int) -> (index: Int, rank: Int)? {
        switch self {
        case .spread(let spread):
            return spread.owner(of: child)
        case .even(let children, let owners, let limit):
            guard child < limit else { return nil }
            let owner = child * owners / children
            return (owner, child - (owner * children + owners - 1) / owners)
        case .tree(let fanOut, let rootHasItself):
            guard child > 0 else { return rootHasItself ? (0, fanOut) : nil }
            return ((child - 1) / fanOut, (child - 1) % fanOut)
        case .popular(let targets, let stream):
            var random = RandomStream(stream: stream, key: child)
            let unit = random.nextUnit()
            return (min(Int(unit * unit * Double(targets)), targets - 1), 0)
        case .injective(let targets):
            return child < targets ? (child, 0) : nil
        case .paired(let pairing):
            return pairing.partner(of: child).map { ($0, 0) }
        }
    }
}

/// Children shared out among owners in cycles of eight, whose shares differ.
struct Spread {
    /// Owners' shares of a cycle's children; one of them has none.
    private static let shares = [2, 0, 5, 1, 12, 3, 8, 1]

    private let children: Int
    private let cycles: Int
    /// Sum of the shares before each owner of a cycle.
    private let sums: [Int]
    private let total: Int

    /// Both must be positive.
    init(children: Int, owners: Int) {
        self.children = children
        let width = min(Spread.shares.count, owners)
        cycles = owners / width
        var sums: [Int] = []
        var total = 0
        for share in Spread.shares.prefix(width) {
            sums.append(total)
            total += share
        }
        self.sums = sums
        self.total = total
    }

    func owner(of child: Int) -> (index: Int, rank: Int) {
        // The cycle's block is [cycle * children / cycles, (cycle + 1) * children / cycles), rounded down.
        let cycle = ((child + 1) * cycles - 1) / children
        let start = cycle * children / cycles
        let size = (cycle + 1) * children / cycles - start
        let offset = child - start
        var slot = sums.count - 1
        while slot > 0, sums[slot] * size >= (offset + 1) * total { slot -= 1 }
        return (cycle * sums.count + slot, offset - sums[slot] * size / total)
    }
}

/// One-to-one: partners of two populations, or inside one.
struct Pairing {
    enum Form {
        /// The i-th of one side and the (i + shift)-th of the other, around the circle of pairs.
        case shifted(by: Int, pairs: Int, isForward: Bool)
        /// Two inverse relationships inside one population (`next`, `previous`): a chain, closed where it must be.
        case chain(count: Int, isClosed: Bool, isForward: Bool)
        /// A relationship that is its own inverse: neighbours.
        case mutual(count: Int)
    }
    let form: Form
    /// Pairs that are left out, of 256; both sides must agree, so it is decided by pair.
    let missing: Int
    let stream: UInt64

    func partner(of row: Int) -> Int? {
        let (partner, pair) = candidate(of: row)
        guard let partner, !RandomStream.chance(stream, pair, outOf256: missing) else { return nil }
        return partner
    }

    private func candidate(of row: Int) -> (partner: Int?, pair: Int) {
        switch form {
        case .shifted(let shift, let pairs, let isForward):
            guard row < pairs else { return (nil, row) }
            if isForward { return ((row + shift) % pairs, row) }
            let partner = (row - shift + pairs) % pairs
            return (partner, partner)
        case .chain(let count, let isClosed, let isForward):
            if isForward { return (row + 1 < count ? row + 1 : isClosed ? 0 : nil, row) }
            if row > 0 { return (row - 1, row - 1) }
            return (isClosed ? count - 1 : nil, count - 1)
        case .mutual(let count):
            let partner = row ^ 1
            return (partner < count ? partner : nil, row / 2)
        }
    }
}

/// The values of `Z_FOK_…` columns.
enum OrderKey {
    /// Core Data's first value and step (InsideStoreFormat §5.4).
    private static let first = 2048
    private static let step = 1024
    /// From this rank on the step is 1, so that no list leaves 32 bits.
    private static let wideRanks = 1 << 20

    static func value(ofRank rank: Int) -> Int {
        first + min(rank, wideRanks) * step + max(0, rank - wideRanks)
    }
}
