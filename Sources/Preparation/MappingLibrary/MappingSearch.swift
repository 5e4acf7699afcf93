import CausewayPlatform

/// Where a found mapping model lies, seen from the models.
struct MappingPlace: Hashable, Sendable {
    /// Levels below the models' folder; 0 in it or in the bundle.
    var depth = 0
    /// The folder beside the models that it is in, or below; nil directly beside them.
    var branch: String?
}

/// The names of model bundles without extension, in lower case: on a Mac, case doesn't count in file names.
struct ModelBundles: Hashable, Sendable {
    struct Other: Hashable, Sendable {
        var name: String
        var branch: String?
    }

    /// Those that were read.
    var own: Set<String> = []
    /// Those around them.
    var others: [Other] = []
}

/// Looks for mapping models around model bundles: in a bundle's folder, in the bundle itself, and in folders below,
/// where projects keep them too (`Migrations/`, `Core Data/Migrations/`).
///
/// Folders with an extension (packages and bundles), hidden ones and those of packages and build products aren't
/// entered. Symbolic links aren't followed: they may lead to anyone's files. Each that could have led to a mapping
/// model is named in a notice, and so is a folder that can't be listed.
struct MappingSearch {
    /// Levels below the models' folder.
    private static let maximumDepth = 3
    /// Names that are looked at in all folders together, a fraction of a second's work. The models may lie in a home
    /// folder.
    private static let maximumNames = 20_000
    /// Names that are looked at in one folder: pictures beside the models mustn't hide the folder after them.
    private static let maximumNamesInFolder = 5_000

    private static let bundleExtensions = ["xcdatamodeld", "momd"]
    private static let modelExtensions = ["xcdatamodeld", "xcdatamodel", "momd", "mom"]
    private static let mappingExtensions = ["xcmappingmodel", "cdm"]
    private static let skippedFolders = ["pods", "carthage", "node_modules", "deriveddata", "build"]

    struct Found {
        var path: String
        var place: MappingPlace
    }

    /// Nearer ones first, then by file name; those in the bundle's folder before those of the same name inside.
    private(set) var found: [Found] = []
    private(set) var bundles = ModelBundles()
    private(set) var unread: [MappingLibrary.Unread] = []
    private(set) var notices: [String] = []
    private var ownFiles: [FileStatus] = []
    private var visited: Set<String> = []
    private var remainingNames = maximumNames

    /// Several bundles in one folder are looked around once. Nothing is searched for beside a store.
    init(around models: [String]) {
        let models = models.filter { Self.modelExtensions.contains(Self.pathExtension(Paths.name(of: $0))) }
        for bundle in models.compactMap(Self.bundle) {
            bundles.own.insert(Self.key(of: bundle))
            if let status = try? Files.status(of: bundle) { ownFiles.append(status) }
        }
        var level: [Found] = []
        for path in models {
            let parent = Paths.parent(of: path)
            level.append(Found(path: parent, place: MappingPlace()))
            let isFolder = (try? Files.status(of: path))?.kind == .directory
            if isFolder { level.append(Found(path: path, place: MappingPlace())) }
        }
        while !level.isEmpty {
            level = level.flatMap { visited.insert($0.path).inserted ? look(into: $0) : [] }
        }
        if remainingNames <= 0, let first = models.first {
            notices.append(
                """
                mapping models: only the first \(Self.maximumNames) files around \(Paths.parent(of: first)) were \
                looked at; name one that lies deeper with --mapping
                """)
        }
        found = found.enumerated()
            .sorted { a, b in
                (a.element.place.depth, Paths.name(of: a.element.path), a.offset)
                    < (b.element.place.depth, Paths.name(of: b.element.path), b.offset)
            }.map(\.element)
    }

    /// - Returns: the folders in it to look into.
    private mutating func look(into folder: Found) -> [Found] {
        let isDeep = folder.place.depth > 0
        if isDeep, remainingNames <= 0 { return [] }
        let limit = min(remainingNames, Self.maximumNamesInFolder)
        do throws(FileError) {
            let names = try Files.list(folder.path, limit: isDeep ? limit : Files.maximumListLength)
            remainingNames -= names.count
            return names.compactMap { take($0, in: folder) }
        } catch {
            if error.code == .tooLarge, isDeep {
                remainingNames -= limit
                notices.append(
                    """
                    mapping models: \(folder.path) has more than \(limit) files and wasn't looked into; name one in it \
                    with --mapping
                    """)
            }
            // The models themselves are read without listing the folder, so a folder that can't be listed isn't an
            // error.
            if error.code != .tooLarge || !isDeep {
                notices.append(
                    "mapping models can't be looked for in \(folder.path): \(error.message); name one in it with --mapping"
                )
            }
            return []
        }
    }

    /// - Returns: the file, if it is a folder to look into.
    private mutating func take(_ name: String, in folder: Found) -> Found? {
        let path = folder.path == "." ? name : Paths.join(folder.path, name)
        let kind = Self.pathExtension(name)
        if Self.mappingExtensions.contains(kind) {
            if let link = SymbolicLink(path) {
                let reason = link.end.map { "it is a symbolic link \($0)" }
                unread.append(
                    .init(
                        path: path, reason: reason ?? "it is a symbolic link; name it with --mapping to use it",
                        isDamaged: reason != nil, place: folder.place))
                return nil
            }
            found.append(Found(path: path, place: folder.place))
            return nil
        }
        if Self.bundleExtensions.contains(kind) {
            if let end = SymbolicLink(path)?.end {
                notices.append("\(path) is a symbolic link \(end)")
            } else if !isOwn(path) {
                addOther(path, in: folder)
            }
            return nil
        }
        guard remainingNames > 0, folder.place.depth < Self.maximumDepth, !Self.isBundle(folder.path),
            Self.mayBeEntered(name)
        else { return nil }
        if let link = SymbolicLink(path), link.end != nil || link.leadsToFolder {
            let end = link.end ?? "to a folder"
            notices.append(
                "\(path) is a symbolic link \(end) and wasn't looked into for mapping models; name one with --mapping")
            return nil
        }
        guard (try? Files.linkStatus(of: path))?.kind == .directory else { return nil }
        return Found(
            path: path, place: MappingPlace(depth: folder.place.depth + 1, branch: folder.place.branch ?? path))
    }

    /// Of two bundles with the same name, each has the mapping models in its own folder below the models'.
    private mutating func addOther(_ bundle: String, in folder: Found) {
        let name = Self.key(of: bundle)
        bundles.others.append(.init(name: name, branch: folder.place.branch))
        guard let branch = folder.place.branch, bundles.own.contains(name) else { return }
        notices.append(
            "\(bundle) has the name of the models that were given: what was made for a bundle of this name in \(branch) "
                + "is taken to be its own")
    }

    private func isOwn(_ bundle: String) -> Bool {
        guard let status = try? Files.status(of: bundle) else { return false }
        return ownFiles.contains { $0.isSameFile(as: status) }
    }

    /// The bundle that a model path names or leads into; nil for a single model outside.
    private static func bundle(_ path: String) -> String? {
        [path, Paths.parent(of: path)].first { bundleExtensions.contains(pathExtension(Paths.name(of: $0))) }
    }

    static func isBundle(_ path: String) -> Bool {
        modelExtensions.contains(pathExtension(Paths.name(of: path)))
    }

    /// Asks nothing of the file system, which a name with an extension would cost most.
    private static func mayBeEntered(_ folder: String) -> Bool {
        guard !folder.hasPrefix("."), !skippedFolders.contains(folder.lowercased()) else { return false }
        // “v1.2” has none.
        return pathExtension(folder).first?.isLetter != true
    }

    /// How a bundle's name is compared.
    private static func key(of path: String) -> String {
        let name = Paths.name(of: path)
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name.lowercased() }
        return name[..<dot].lowercased()
    }

    private static func pathExtension(_ name: String) -> String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "" }
        return name[name.index(after: dot)...].lowercased()
    }
}

/// A symbolic link, which the search doesn't follow.
private struct SymbolicLink {
    /// Where it leads if that is no file and no folder.
    let end: String?
    let leadsToFolder: Bool

    /// nil where the path isn't one.
    init?(_ path: String) {
        guard (try? Files.linkStatus(of: path))?.kind == .symbolicLink else { return nil }
        do throws(FileError) {
            leadsToFolder = try Files.status(of: path).kind == .directory
            end = nil
        } catch {
            leadsToFolder = false
            switch error.code {
            case .notFound, .notADirectory: end = "that leads nowhere"
            case .symbolicLink: end = "that leads in a circle"
            default: end = "that can't be followed (\(error.reason))"
            }
        }
    }
}
