/// Which rows are made, and to which rows links lead: whether every link leads to one is known without a look-up once
/// all rows are made.
///
/// Where the keys don't fit into memory, or an earlier run has made some of the rows, links are looked up instead.
struct LinkTargets {
    /// Memory of all sets: 128 million keys, if they are dense.
    private static let mostBytes = 16 << 20

    /// By Z_ENT.
    private var rows: [KeySet]
    /// By the check of the links.
    private var links: [KeySet]
    private var bytesLeft = mostBytes
    /// Whether everything was noted.
    private(set) var isComplete = true

    /// - Parameters:
    ///   - entities: how many the model has.
    ///   - checks: how many there are.
    init(entities: Int, checks: Int) {
        rows = Array(repeating: KeySet(), count: entities + 1)
        links = Array(repeating: KeySet(), count: checks)
    }

    /// A row is made.
    mutating func note(row key: Int64, of entity: Int32) {
        guard isComplete else { return }
        isComplete = rows.indices.contains(Int(entity)) && rows[Int(entity)].insert(key, &bytesLeft)
    }

    /// A link of a check leads to a row.
    mutating func note(link key: Int64, of check: Int) {
        guard isComplete else { return }
        isComplete = links[check].insert(key, &bytesLeft)
    }

    /// Whether links of a check were noted, or would have been.
    func hasLinks(of check: Int) -> Bool { !isComplete || !links[check].isEmpty }

    /// Whether all links of a check lead to rows of these entities.
    func allLead(_ check: Int, to numbers: ClosedRange<Int>) -> Bool {
        isComplete && links[check].isCovered(by: rows[numbers.clamped(to: 0...rows.count - 1)])
    }
}
