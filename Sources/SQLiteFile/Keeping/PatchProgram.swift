/// All patches of a copy in flat memory, so that a row needs no array and no reference count.
///
/// Sendable: the memory never changes.
@safe
final class PatchProgram: @unchecked Sendable {
    /// Where a table of integers lies.
    struct Table {
        /// The pairs, ascending by the old value.
        let first: Int
        let count: Int
        /// The smallest old value, and the places by value from there on; 0 where the values lie too far apart.
        let least: Int64
        let firstPlace: Int
        let placeCount: Int
    }

    struct Step {
        let column: Int
        let map: Table
        let mayStay: Bool
        let mayBeNull: Bool
        /// -1: none.
        let conditionColumn: Int
        let condition: Table
        /// The first counter: one a pair, then others, nulls, left out.
        let firstCounter: Int
    }

    struct Tree {
        let root: Int
        let kind: TreeKind
        let steps: Range<Int>
        /// Cells of a record that must be found.
        let width: Int
        /// The counter of records; that of long ones and those of the steps follow.
        let counter: Int
    }

    let trees: UnsafeMutableBufferPointer<Tree>
    let steps: UnsafeMutableBufferPointer<Step>
    let width: Int
    let counterCount: Int
    private let pairs: UnsafeMutableBufferPointer<IntegerMap.Pair>
    private let places: UnsafeMutableBufferPointer<Int32>

    /// Values of a table that is looked up by place: 256 KiB.
    private static let mostPlaces: Int64 = 65_536

    init(_ patches: [TreePatch]) {
        var (trees, steps, counter) = ([Tree](), [Step](), 0)
        var tables = Tables()
        for patch in patches {
            let (firstStep, own) = (steps.count, counter)
            counter += 2
            for column in patch.columns {
                let condition = (column.condition?.values ?? []).sorted().map { IntegerMap.Pair(old: $0, new: $0) }
                steps.append(
                    Step(
                        column: column.column, map: tables.add(column.map.pairs), mayStay: column.map.others == .stay,
                        mayBeNull: !column.refusesNull,
                        conditionColumn: column.condition?.column ?? -1, condition: tables.add(condition),
                        firstCounter: counter))
                counter += column.map.pairs.count + 3
            }
            trees.append(
                Tree(
                    root: patch.tree.page, kind: patch.tree.kind, steps: firstStep..<steps.count,
                    width: patch.width, counter: own))
        }
        unsafe self.trees = Self.copy(trees)
        unsafe self.steps = Self.copy(steps)
        unsafe pairs = Self.copy(tables.pairs)
        unsafe places = Self.copy(tables.places)
        width = patches.reduce(0) { max($0, $1.width) }
        counterCount = counter
    }

    deinit {
        unsafe trees.deallocate()
        unsafe steps.deallocate()
        unsafe pairs.deallocate()
        unsafe places.deallocate()
    }

    @unsafe private static func copy<Element>(
        _ elements: [Element]
    ) -> UnsafeMutableBufferPointer<Element> {
        let memory = UnsafeMutableBufferPointer<Element>.allocate(capacity: elements.count)
        unsafe _ = memory.initialize(from: elements)
        return unsafe memory
    }

    private struct Tables {
        var pairs: [IntegerMap.Pair] = []
        var places: [Int32] = []

        mutating func add(_ added: [IntegerMap.Pair]) -> Table {
            let (first, firstPlace) = (pairs.count, places.count)
            pairs += added
            var placeCount = 0
            if let least = added.first?.old, let most = added.last?.old {
                let (span, isTooLarge) = most.subtractingReportingOverflow(least)
                if !isTooLarge, span < mostPlaces {
                    placeCount = Int(span) + 1
                    places += [Int32](repeating: -1, count: placeCount)
                    for (index, pair) in added.enumerated() {
                        places[firstPlace + Int(pair.old - least)] = Int32(truncatingIfNeeded: index)
                    }
                }
            }
            return Table(
                first: first, count: added.count, least: added.first?.old ?? 0, firstPlace: firstPlace,
                placeCount: placeCount)
        }
    }

    /// The pair of a value in a table; -1 where there is none.
    @inline(__always) func find(_ value: Int64, in table: Table) -> Int {
        if table.placeCount > 0 {
            let place = value &- table.least
            // A difference that overflows has another sign or lies beyond.
            guard place >= 0, place < table.placeCount, value >= table.least else { return -1 }
            return unsafe Int(places[table.firstPlace &+ Int(place)])
        }
        var (low, high) = (0, table.count)
        while low < high {
            let middle = (low &+ high) / 2
            if unsafe pairs[table.first &+ middle].old < value { low = middle &+ 1 } else { high = middle }
        }
        return unsafe low < table.count && pairs[table.first &+ low].old == value ? low : -1
    }

    @inline(__always) func newValue(_ index: Int, in table: Table) -> Int64 {
        unsafe pairs[table.first &+ index].new
    }
}
