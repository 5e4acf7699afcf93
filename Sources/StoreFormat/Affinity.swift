/// How SQLite keeps the values of a column (https://www.sqlite.org/datatype3.html#determination_of_column_affinity);
/// INTEGER and NUMERIC keep them alike.
package enum Affinity: Hashable, Sendable {
    case numeric, text, real, blob

    package init(_ declaredType: String) {
        let type = declaredType.uppercased()
        if type.contains("INT") {
            self = .numeric
        } else if type.contains("CHAR") || type.contains("CLOB") || type.contains("TEXT") {
            self = .text
        } else if type.isEmpty || type.contains("BLOB") {
            self = .blob
        } else if type.contains("REAL") || type.contains("FLOA") || type.contains("DOUB") {
            self = .real
        } else {
            self = .numeric
        }
    }
}
