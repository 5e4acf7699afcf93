package import CausewayMapping
import CausewayModel

extension NumericConversion {
    /// SQL that tells whether a number is a misfit by `fit(of:)`; one that an earlier type can't hold may count too.
    ///
    /// - Parameter column: holds the number; other classes are none.
    /// - Returns: nil where there can be no such number.
    package func misfits(of column: String) -> String? {
        // A value that became real on the way is rounded; the other types leave a number's value alone.
        let isReal = types.dropLast().contains { $0.isReal }
        let value = isReal ? "CAST(\(column) AS REAL)" : column
        let isMisfit: String
        switch destination {
        case .boolean: isMisfit = "\(value) NOT IN (0, 1)"
        case .integer16: isMisfit = Self.isNone(of: Int16.self, value)
        case .integer32: isMisfit = Self.isNone(of: Int32.self, value)
        case .integer64: isMisfit = Self.isNone(of: Int64.self, value)
        // Numbers from here on are nearer to 2^128 than to the largest Float; infinity itself fits.
        case .float: isMisfit = "(abs(\(value)) >= 3.4028235677973366e38 AND abs(\(value)) < 9e999)"
        case .double: return nil
        }
        // abs() of the smallest integer is an error; integers fit every Float.
        let classes = destination == .float ? "= 'real'" : "IN ('integer', 'real')"
        return "CASE WHEN typeof(\(column)) \(classes) THEN \(isMisfit) ELSE 0 END"
    }

    private static func isNone<Whole: FixedWidthInteger & SignedInteger>(of type: Whole.Type, _ value: String) -> String
    {
        // SQLite reads the smallest Int64 as a real where it is written out, which is the same number.
        let range = "\(value) BETWEEN \(Whole.min) AND \(Whole.max)"
        return "NOT (\(range) AND \(value) = CAST(\(value) AS INTEGER))"
    }
}
