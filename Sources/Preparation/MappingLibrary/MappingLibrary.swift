package import CausewayMapping
package import CausewayObjects
import CausewayPlatform
package import CausewayStores

/// Every mapping model that a migration could use: those written in Swift, those given by name, and those found beside
/// the models. Nothing is matched to a step yet (`MappingLibrary+Selection.swift`).
package struct MappingLibrary: Sendable {
    /// Where a mapping model comes from, which decides what happens if it fits nothing.
    package enum Origin: Hashable, Sendable {
        /// Swift, for the step between two versions.
        case code(from: String, to: String)
        /// Named by the user.
        case given
        /// Found beside the models, or inside their bundle.
        case found
    }

    package struct Entry: Hashable, Sendable {
        package var origin: Origin
        package var description: MappingModelDescription

        /// For messages: the path, or the name of one that is written in Swift.
        package var title: String { description.path ?? "“\(description.name)” (Swift)" }
    }

    /// A file beside the models that can't be read, or isn't opened.
    package struct Unread: Hashable, Sendable {
        package var path: String
        package var reason: String
    }

    /// In the order in which they run where several fit a step: Swift, then those given, then those found by file name.
    package let entries: [Entry]
    package let unread: [Unread]
    /// Whether a step is inferred although a mapping model says that it is for this step and doesn't match.
    package let infersDespiteMismatch: Bool

    /// Reads the mapping models.
    ///
    /// Beside the models means: in the bundle's folder and in the bundle itself, not deeper, with the extension
    /// `xcmappingmodel` or `cdm`. Symbolic links aren't followed: they may lead to anyone's files.
    ///
    /// - Parameters:
    ///   - given: paths that the user names.
    ///   - models: paths of the model bundles; nothing is searched for beside a store.
    ///   - code: mapping models in Swift.
    ///   - infersDespiteMismatch: whether a step is inferred although a found mapping model is meant for it and doesn't
    ///     match.
    /// - Throws: `.missing` or `.plan` for a given file that can't be read. A found one goes to `unread`.
    package init(
        given: [String], besideModels models: [String], code: MigrationCode = MigrationCode(),
        infersDespiteMismatch: Bool = false
    ) throws(EngineError) {
        self.infersDespiteMismatch = infersDespiteMismatch
        var entries = code.mappings.map {
            Entry(origin: .code(from: $0.from, to: $0.to), description: $0.model)
        }
        var seen: [FileStatus] = []
        // The same file twice, or under two names, is one mapping model. Reading one without a status says why.
        func isNew(_ path: String) -> Bool {
            guard let status = try? Files.status(of: path) else { return true }
            defer { seen.append(status) }
            return !seen.contains { $0.isSameFile(as: status) }
        }
        for path in given {
            let description = try Self.mappingModel(at: path)
            if isNew(path) { entries.append(Entry(origin: .given, description: description)) }
        }
        var search = Search()
        for path in models { search.lookBeside(path) }
        for path in search.paths where isNew(path) {
            do throws(MappingFileError) {
                entries.append(Entry(origin: .found, description: try MappingModelReader.read(path)))
            } catch {
                var reason = error
                reason.path = nil
                search.unread.append(Unread(path: path, reason: reason.description))
            }
        }
        self.entries = entries
        unread = search.unread
    }

    /// Reads one mapping model that the user names.
    ///
    /// - Throws: `.missing` or `.plan`.
    package static func mappingModel(at path: String) throws(EngineError) -> MappingModelDescription {
        do throws(MappingFileError) {
            return try MappingModelReader.read(path)
        } catch {
            throw EngineError(
                error.code == .unreadable ? .missing : .plan, "the mapping model can't be read: \(error)",
                remedy: "check the path")
        }
    }
}

/// Looks for mapping models around a model bundle.
private struct Search {
    private static let modelExtensions = ["xcdatamodeld", "xcdatamodel", "momd", "mom"]
    private static let mappingExtensions = ["xcmappingmodel", "cdm"]

    private(set) var paths: [String] = []
    private var folders: Set<String> = []
    var unread: [MappingLibrary.Unread] = []

    /// Sorted by file name; those in the bundle's folder before those of the same name inside. A folder that holds
    /// several bundles is looked into once.
    mutating func lookBeside(_ models: String) {
        guard Self.modelExtensions.contains(Self.pathExtension(Paths.name(of: models))) else { return }
        for folder in [Paths.parent(of: models), models] where folders.insert(folder).inserted {
            if folder != models || (try? Files.status(of: models))?.kind == .directory { look(into: folder) }
        }
        paths = paths.enumerated()
            .sorted { (Paths.name(of: $0.element), $0.offset) < (Paths.name(of: $1.element), $1.offset) }
            .map(\.element)
    }

    private mutating func look(into folder: String) {
        do throws(FileError) {
            for name in try Files.list(folder) where Self.mappingExtensions.contains(Self.pathExtension(name)) {
                let path = folder == "." ? name : Paths.join(folder, name)
                guard try Files.linkStatus(of: path).kind != .symbolicLink else {
                    unread.append(.init(path: path, reason: "it is a symbolic link; name it with --mapping to use it"))
                    continue
                }
                paths.append(path)
            }
        } catch {
            // The models themselves are read without listing the folder, so a folder that can't be listed isn't an
            // error.
            unread.append(.init(path: folder, reason: "mapping models can't be looked for: \(error.message)"))
        }
    }

    private static func pathExtension(_ name: String) -> String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "" }
        return name[name.index(after: dot)...].lowercased()
    }
}
