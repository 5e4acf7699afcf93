/// Names that differ also where letters' case doesn't count: in SQL, and in some file systems.
struct UniqueNames {
    private var taken: Set<String>

    init(_ names: [String] = []) {
        taken = Set(names.map { $0.lowercased() })
    }

    /// The first that nothing has; of the last, with a number, where all are taken.
    mutating func first(of names: [String]) -> String {
        for name in names where taken.insert(name.lowercased()).inserted { return name }
        return made(from: names.last ?? "")
    }

    /// The name, with a number where something has it already.
    mutating func made(from name: String) -> String {
        var result = name
        var number = 2
        while !taken.insert(result.lowercased()).inserted {
            result = "\(name)_\(number)"
            number += 1
        }
        return result
    }

    /// A name that every file system takes: letters, digits, `_` and `-`; no dot, which separates the parts of an
    /// export's file names.
    mutating func file(for name: String) -> String {
        var safe = ""
        for scalar in name.unicodeScalars {
            let isSafe =
                scalar.properties.isAlphabetic || scalar.properties.numericType != nil || scalar == "_" || scalar == "-"
            safe.unicodeScalars.append(isSafe ? scalar : "_")
        }
        // A file system's limit is 255 bytes; the suffixes need some.
        return made(from: safe.utf8.count > 180 ? String(safe.prefix(40)) : safe.isEmpty ? "_" : safe)
    }
}

/// The names of an export's files: one stem for everything about an entity.
final class FileNames {
    private var names = UniqueNames()
    private var stems: [String: String] = [:]

    func stem(of entity: String) -> String {
        if let known = stems[entity] { return known }
        let stem = names.file(for: entity)
        stems[entity] = stem
        return stem
    }
}
