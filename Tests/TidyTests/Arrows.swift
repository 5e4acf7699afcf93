/// Which folders of a target use types of which other folders.
struct Arrows {
    struct Use: CustomStringConvertible {
        let from: String
        let to: String
        let type: String

        var description: String { "\(from) uses \(type) of \(to)" }
    }

    /// Uses of another folder's types. A room is a folder of the target.
    let uses: [Use]
    /// Uses of a folder that comes earlier in the list.
    let upward: [Use]
    /// Files that are in none of the folders.
    let unknown: [String]

    /// - Parameters:
    ///   - target: its path.
    ///   - rooms: folders of the target; each may use those after it in the list.
    /// - Throws: if the files can't be read.
    init(of target: String, rooms: [String]) throws {
        let tree = try SourceTree([target])
        func room(_ path: String) -> Int? {
            let inside = path.dropFirst(target.count + 1)
            return rooms.indices.filter { inside.hasPrefix(rooms[$0] + "/") }.max { rooms[$0].count < rooms[$1].count }
        }
        var declared: [String: String] = [:]
        for file in tree.files {
            for name in Self.declarations(file) { declared[name] = file.path }
        }
        var uses: [Use] = []
        var upward: [Use] = []
        for file in tree.files {
            guard let from = room(file.path) else { continue }
            for word in Self.words(file) {
                guard let path = declared[word], let to = room(path), to != from else { continue }
                let use = Use(from: file.path, to: path, type: word)
                uses.append(use)
                if to < from { upward.append(use) }
            }
        }
        self.uses = uses
        self.upward = upward
        unknown = tree.files.map(\.path).filter { room($0) == nil }
    }

    /// Types that a file declares at its top level for other files.
    private static func declarations(_ file: SourceTree.File) -> [String] {
        let kinds: Set<String> = ["struct", "class", "enum", "actor", "protocol", "typealias"]
        return file.code.compactMap { line in
            guard line.first != " " else { return nil }
            let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "@" }.map(String.init)
            guard let kind = words.firstIndex(where: kinds.contains), words.indices.contains(kind + 1),
                !words[..<kind].contains(where: { $0 == "private" || $0 == "fileprivate" || $0 == "extension" })
            else { return nil }
            return words[kind + 1]
        }
    }

    private static func words(_ file: SourceTree.File) -> Set<String> {
        Set(file.words.filter { $0.utf8.first.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) } ?? false })
    }
}
