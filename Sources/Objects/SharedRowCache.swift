import CausewayEvaluation

/// The keys of rows that were found lately: two generations, so that a bounded number of entries is kept with one
/// dictionary look-up, and what is used often stays.
final class SharedRowCache {
    struct Key: Hashable {
        var entity: Int32
        var attribute: String
        var value: Value
    }

    /// Entries of one generation: some 10 MB with ordinary values.
    private static let capacity = 32_768

    private var young: [Key: Int64] = [:]
    private var old: [Key: Int64] = [:]

    subscript(key: Key) -> Int64? {
        get {
            if let found = young[key] { return found }
            guard let found = old[key] else { return nil }
            self[key] = found
            return found
        }
        set {
            if young.count >= Self.capacity {
                old = young
                young.removeAll(keepingCapacity: true)
            }
            young[key] = newValue
        }
    }
}
