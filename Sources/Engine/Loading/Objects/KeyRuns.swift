import CausewayObjects

/// The rows that a mapping without code has made, by the keys of their source rows: neighbours together.
struct KeyRuns: Sendable {
    /// Most of one mapping that are held: 24 MB.
    static let mostRuns = 1_000_000

    private var sources: [Int64] = []
    private var destinations: [Int64] = []
    private var counts: [Int64] = []

    /// - Parameter runs: of one entity's source rows, by their keys.
    init(_ runs: [AssociationRun]) {
        for run in runs {
            sources.append(run.source)
            destinations.append(run.destination)
            counts.append(run.count)
        }
    }

    /// The key of a source row's row; nil where none was made.
    func destination(of key: Int64) -> Int64? {
        var (low, high) = (0, sources.count)
        while low < high {
            let middle = (low + high) / 2
            if sources[middle] <= key { low = middle + 1 } else { high = middle }
        }
        guard low > 0 else { return nil }
        let place = UInt64(bitPattern: key &- sources[low - 1])
        return place < UInt64(counts[low - 1]) ? destinations[low - 1] &+ Int64(place) : nil
    }
}
