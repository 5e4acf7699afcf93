import CausewaySQLiteFile

/// The keys of recently found rows, in two generations: a bounded number of entries, one dictionary look-up, and often
/// used entries stay.
final class SharedRowCache {
    struct Key: Hashable {
        var entity: Int32
        var attribute: String
        var value: Stored
    }

    /// A value as the store compares it: texts by their bytes, while Swift's strings are equal in all normal forms.
    enum Stored: Hashable {
        case integer(Int64)
        case real(UInt64)
        case text([UInt8])
        case blob([UInt8])

        /// nil for a value that can't identify a row.
        init?(_ cell: Cell) {
            switch cell.stored {
            case .integer(let value): self = .integer(value)
            case .real(let value): self = .real(value.bitPattern)
            case .text(let value): self = .text(Array(value.utf8))
            case .blob(let value): self = .blob(value)
            case .null?, nil: return nil
            }
        }
    }

    /// Entries of one generation: some 10 MB with ordinary values.
    private static let capacity = 32_768

    private var young: [Key: Int64] = [:]
    private var old: [Key: Int64] = [:]

    /// Forgets everything: a row that was found may have been deleted.
    func removeAll() {
        young.removeAll()
        old.removeAll()
    }

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
