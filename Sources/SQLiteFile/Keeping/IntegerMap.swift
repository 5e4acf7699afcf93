/// Which integers of a column become which others, each with its stored size
/// (https://www.sqlite.org/fileformat2.html#record_format): only bytes of a value change, never a record's form.
package struct IntegerMap: Hashable, Sendable {
    /// What values that the map doesn't name mean; NULL, and columns that a short record doesn't have, always stay.
    package enum Others: Hashable, Sendable {
        /// They stay, of any storage class.
        case stay
        /// They are an error, `PatchError.Code.unknownValue`.
        case refuse
    }

    package struct Pair: Hashable, Sendable {
        package let old: Int64
        package let new: Int64
    }

    /// Ascending by the old value; counts refer to this order.
    package let pairs: [Pair]
    package let others: Others

    /// - Parameters:
    ///   - values: new values by old ones; a value may stay as it is, and must then be named where others are refused.
    ///   - others: what is done with all other values.
    /// - Throws: `.changesSize` where a pair has two stored sizes. 0 and 1 are stored in no bytes at all, so that only
    ///   0 → 0 and 1 → 1 are possible.
    package init(_ values: [Int64: Int64], others: Others) throws(PatchRefusal) {
        pairs = values.map { Pair(old: $0.key, new: $0.value) }.sorted { $0.old < $1.old }
        self.others = others
        for pair in pairs where pair.old != pair.new {
            let type = SerialType.integer(pair.old)
            guard type == .integer(pair.new), type.length > 0 else {
                throw .changesSize(old: pair.old, new: pair.new)
            }
        }
    }

    /// Two old values that keep their order only one way: the later one gets no greater value.
    var firstDisorder: (old: Int64, next: Int64)? {
        for index in pairs.indices.dropFirst() where pairs[index - 1].new >= pairs[index].new {
            return (pairs[index - 1].old, pairs[index].old)
        }
        return nil
    }
}

/// Why a tree can't be patched; known before a page is read.
package enum PatchRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The two values aren't stored in the same number of bytes, or in none.
    case changesSize(old: Int64, new: Int64)
    /// The index's order would change: of two values, the greater doesn't stay the greater one.
    case changesOrder(old: Int64, next: Int64)
    /// A column of an index whose map lets other values stay: whether the order stays would depend on the rows.
    case openMapOfIndex(column: Int)
    /// A column of an index whose map depends on another column: the order would depend on the rows.
    case conditionInIndex(column: Int)
    /// Two maps of one column may both apply to a row.
    case ambiguous(column: Int)

    package var description: String {
        switch self {
        case .changesSize(let old, let new): "\(old) and \(new) aren't stored in the same number of bytes"
        case .changesOrder(let old, let next): "the order of \(old) and \(next) would change in an index"
        case .openMapOfIndex(let column): "values of column \(column) that aren't named could change an index's order"
        case .conditionInIndex(let column): "column \(column) of an index depends on another column"
        case .ambiguous(let column): "two maps of column \(column) may apply to one row"
        }
    }
}
