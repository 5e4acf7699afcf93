/// How Core Data makes SQL names out of a model's names. Its SQL is unquoted, so a name must be an SQL identifier.
enum SchemaNames {
    /// Longest name of an entity, property or index, in UTF-8 bytes. Real ones stay under 100; a model with longer ones
    /// is refused.
    static let longestName = 512

    /// Whether SQL accepts the text without quotes after a letter: letters, digits, underscores. SQLite takes every
    /// character beyond ASCII as a letter; control and format characters among them are still refused.
    static func isSafe(_ name: String) -> Bool {
        guard !name.isEmpty, name.utf8.count <= longestName else { return false }
        return name.unicodeScalars.allSatisfy { scalar in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "_": true
            default: !scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
            }
        }
    }

    static func upper(_ name: String) -> String { name.uppercased() }

    /// Table of a root entity.
    static func table(_ entity: String) -> String { "Z" + upper(entity) }
    /// Column of an attribute or to-one.
    static func column(_ property: String) -> String { "Z" + upper(property) }
    static func toOneEntity(_ number: Int, _ relationship: String) -> String { "Z\(number)_\(upper(relationship))" }
    static func orderKey(_ relationship: String) -> String { "Z_FOK_\(upper(relationship))" }
    static func virtualToOne(_ number: Int, _ relationship: String) -> String { "Z\(number)\(upper(relationship))" }
    static func virtualOrderKey(_ number: Int, _ relationship: String) -> String {
        "Z_FOK_\(number)\(upper(relationship))"
    }
    /// Join table, and a join table's key column.
    static func join(_ number: Int, _ relationship: String) -> String { "Z_\(number)\(upper(relationship))" }
    /// A join table's order column for one of its key columns.
    static func joinOrderKey(_ keyColumn: String) -> String { "Z_FOK_" + keyColumn.dropFirst(2) }
    /// Second column of a join table whose relationship is its own inverse.
    static let reflexive = "REFLEXIVE"

    /// The number that Core Data appended to a used name (`ZTEXT1`): 0 for the bare name, nil for another name.
    static func clashNumber(of name: String, base: String) -> Int? {
        let name = name.uppercased()
        guard name.hasPrefix(base) else { return nil }
        let digits = name.dropFirst(base.count)
        if digits.isEmpty { return 0 }
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), digits.first != "0" else { return nil }
        return Int(digits)
    }
}

/// Names in use within one scope; later ones get 1, 2, … appended.
struct NameScope {
    private var used: Set<String>

    init(_ used: Set<String> = []) { self.used = used }

    mutating func claim(_ base: String) -> String {
        var name = base
        var number = 0
        while used.contains(name) {
            number += 1
            name = base + String(number)
        }
        used.insert(name)
        return name
    }
}
