/// Which rows a many-to-many relationship links: arithmetic on the two rows' numbers.
///
/// The t-th partner of owner i is `i + offset(t)` around the circle of partners, with distinct offsets: an owner's
/// partners are distinct, and a partner's owners can be counted without looking at the others.
struct JoinFormula {
    /// The limits of the two sides; a maximum of 0 is none.
    struct Bounds {
        var least = 0
        var most = 0
    }

    /// How many partners owners have: most few, some many.
    private static let degrees = [0, 1, 1, 2, 2, 3, 4, 7]
    /// Neighbours on either side that a relationship with itself may link.
    private static let reach = 3

    let owners: Int
    let partners: Int
    private let isReflexive: Bool
    private let leastDegree: Int
    private let mostDegree: Int
    /// Owners from here on have no partners, because the partners would have too many.
    private let lastOwner: Int
    private let stride: Int
    /// 1 where both sides are the same rows: nothing is linked with itself.
    private let firstTurn: Int
    /// Owners of one partner at most, for each of an owner's turns.
    private let ownersPerTurn: Int
    private let stream: UInt64

    init(
        owners: Int, partners: Int, isReflexive: Bool, isSamePopulation: Bool, bounds: Bounds, inverseBounds: Bounds,
        stream: UInt64
    ) {
        self.owners = owners
        self.partners = partners
        self.isReflexive = isReflexive
        self.stream = stream
        firstTurn = isSamePopulation ? 1 : 0
        var least = bounds.least
        var most = max(0, partners - firstTurn)
        var stride = 1
        let perTurn = max(1, (owners + max(partners, 1) - 1) / max(partners, 1))
        var last = owners
        if inverseBounds.least > 0, owners > 0, owners < partners {
            // Owners in steps of their number reach every partner.
            stride = owners
            least = max(least, (partners + owners - 1) / owners)
            most = min(most, partners / JoinFormula.commonDivisor(owners, partners) - firstTurn)
        } else {
            least = max(least, inverseBounds.least)
            var random = RandomStream(stream: stream, key: -1)
            stride = partners > 1 ? 1 + random.next(below: partners - 1) : 1
            while JoinFormula.commonDivisor(stride, max(partners, 1)) != 1 { stride += 1 }
        }
        if bounds.most > 0 { most = min(most, bounds.most) }
        if inverseBounds.most > 0 {
            if inverseBounds.most < perTurn { last = min(owners, partners * inverseBounds.most) }
            most = min(most, max(1, inverseBounds.most / perTurn))
        }
        self.stride = stride
        lastOwner = last
        ownersPerTurn = perTurn
        mostDegree = max(0, most)
        leastDegree = min(least, mostDegree)
    }

    /// Calls `body` for each partner of the owner with the partner's index, its rank in the owner's list and the
    /// owner's rank in the partner's list.
    func forEachPartner<Failure: Error>(
        of owner: Int, _ body: (_ partner: Int, _ rank: Int, _ ownerRank: Int) throws(Failure) -> Void
    ) throws(Failure) {
        if isReflexive { return try forEachNeighbour(of: owner, body) }
        for turn in 0..<degree(of: owner) {
            let offset = (turn + firstTurn) % partners * (stride % partners) % partners
            try body((owner + offset) % partners, turn, turn * ownersPerTurn + owner / partners)
        }
    }

    private func degree(of owner: Int) -> Int {
        guard partners > 0, owner < lastOwner else { return 0 }
        var random = RandomStream(stream: stream, key: owner)
        let wished = JoinFormula.degrees[random.next(below: JoinFormula.degrees.count)]
        return min(max(wished, leastDegree), mostDegree)
    }

    /// Both rows of each link, since either side lists the other.
    private func forEachNeighbour<Failure: Error>(
        of row: Int, _ body: (_ partner: Int, _ rank: Int, _ ownerRank: Int) throws(Failure) -> Void
    ) throws(Failure) {
        // Twice the reach must stay below the circle, else one neighbour would be met from both sides.
        let reach = min(JoinFormula.reach, (owners - 1) / 2)
        guard reach > 0 else { return }
        var rank = 0
        for distance in 1...reach {
            for (from, to) in [(row, (row + distance) % owners), ((row - distance + owners) % owners, row)] {
                guard isLinked(from, distance) else { continue }
                try body(from == row ? to : from, rank, rank)
                rank += 1
            }
        }
    }

    private func isLinked(_ row: Int, _ distance: Int) -> Bool {
        // A mandatory relationship links direct neighbours always.
        distance <= leastDegree || RandomStream.chance(stream &+ UInt64(distance), row, outOf256: 100 / distance)
    }

    private static func commonDivisor(_ a: Int, _ b: Int) -> Int {
        var (a, b) = (a, b)
        while b != 0 { (a, b) = (b, a % b) }
        return a
    }
}
