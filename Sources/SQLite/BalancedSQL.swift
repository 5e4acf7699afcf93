/// Conditions of many terms as a balanced tree: SQLite bounds the depth of expressions (`ConnectionLimits`), and reads
/// a chain of terms as deep as it is long.
package enum BalancedSQL {
    /// Terms between `AND` or `OR`.
    package static func joined(_ terms: [String], by word: String) -> String { joined(terms[...], word) }

    private static func joined(_ terms: ArraySlice<String>, _ word: String) -> String {
        guard terms.count > 1 else { return terms.first ?? "" }
        let middle = terms.startIndex + terms.count / 2
        return "(\(joined(terms[..<middle], word)) \(word) \(joined(terms[middle...], word)))"
    }
}
