/// Paths as text, without the file system.
package enum Paths {
    /// The folder part: `/a/b` gives `/a`, `b` gives `.`, `/` gives `/`.
    package static func parent(of path: String) -> String {
        let trimmed = withoutTrailingSlashes(path)
        if trimmed.isEmpty, !path.isEmpty { return "/" }
        guard let slash = trimmed.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        let parent = withoutTrailingSlashes(trimmed[..<slash])
        return parent.isEmpty ? "/" : String(parent)
    }

    /// The last part: `/a/b` gives `b`; `/` gives the empty name.
    package static func name(of path: String) -> String {
        let trimmed = withoutTrailingSlashes(path)
        guard let slash = trimmed.utf8.lastIndex(of: UInt8(ascii: "/")) else { return String(trimmed) }
        return String(trimmed[trimmed.utf8.index(after: slash)...])
    }

    package static func join(_ folder: String, _ name: String) -> String {
        folder.hasSuffix("/") ? folder + name : folder + "/" + name
    }

    private static func withoutTrailingSlashes(_ path: some StringProtocol) -> Substring {
        var result = Substring(path)
        while result.utf8.last == UInt8(ascii: "/") { result.removeLast() }
        return result
    }
}
