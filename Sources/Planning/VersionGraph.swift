/// The versions of a history and which follows which: a line by default, with the jumps and detours that the user
/// gives.
package struct VersionGraph: Hashable, Sendable {
    /// Version names in the history's order.
    package let versions: [String]
    /// `next` by version; a version without an entry is followed by the next one in `versions`.
    package let edges: [String: String]

    /// `versions` has no repetitions; `edges` are the user's (`--next V2=V4`, `versions.json`). Throws
    /// `PathError.unknownVersion` for an edge that names no version.
    package init(versions: [String], edges: [String: String] = [:]) throws(PathError) {
        for name in edges.flatMap({ [$0.key, $0.value] }).sorted() where !versions.contains(name) {
            throw .unknownVersion(name, known: versions)
        }
        self.versions = versions
        self.edges = edges
    }

    /// The version that follows `version`; nil at the end of the line.
    package func next(after version: String) -> String? {
        if let edge = edges[version] { return edge }
        guard let index = versions.firstIndex(of: version), index + 1 < versions.count else { return nil }
        return versions[index + 1]
    }

    /// The versions from `start` to `end`, both included; one version where they are the same.
    ///
    /// - Throws: `PathError` where a name is unknown, the edges form a circle, or `end` doesn't come after `start`.
    package func path(from start: String, to end: String) throws(PathError) -> [String] {
        for name in [start, end] where !versions.contains(name) { throw .unknownVersion(name, known: versions) }
        var path = [start]
        var seen: Set<String> = [start]
        while let last = path.last, last != end {
            guard let next = next(after: last) else {
                if reaches(from: end, to: start) { throw .backwards(from: start, to: end) }
                throw .unreachable(from: start, to: end, stopsAt: last)
            }
            guard seen.insert(next).inserted else { throw .cycle(path + [next]) }
            path.append(next)
        }
        return path
    }

    private func reaches(from start: String, to end: String) -> Bool {
        var seen: Set<String> = []
        var current: String? = start
        while let version = current, seen.insert(version).inserted {
            if version == end { return true }
            current = next(after: version)
        }
        return false
    }
}

/// Why no path leads to the target.
package enum PathError: Error, Hashable, Sendable, CustomStringConvertible {
    case unknownVersion(String, known: [String])
    case backwards(from: String, to: String)
    case cycle([String])
    case unreachable(from: String, to: String, stopsAt: String)

    package var description: String {
        switch self {
        case .unknownVersion(let name, let known):
            "no version \"\(name)\" among the models; there are: \(known.joined(separator: ", "))"
        case .backwards(let from, let to):
            """
            "\(to)" comes before the store's version "\(from)" in the order of the models, and stores can't be \
            migrated backwards; if the order is wrong, give the right one in versions.json beside the models, or say \
            what follows with --next "\(from)=…"
            """
        case .cycle(let path):
            """
            the versions form a circle: \(path.joined(separator: " → ")); change the edge (--next or versions.json) \
            that leads back
            """
        case .unreachable(let from, let to, let stopsAt):
            """
            no path from "\(from)" to "\(to)": the line ends at "\(stopsAt)"; say what follows it with \
            --next "\(stopsAt)=…", or give the order in versions.json beside the models
            """
        }
    }
}
