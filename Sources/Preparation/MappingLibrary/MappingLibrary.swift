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
        /// Found beside the models, inside their bundle, or in a folder below.
        case found
    }

    package struct Entry: Hashable, Sendable {
        package var origin: Origin
        package var description: MappingModelDescription
        /// Where a found one lies.
        var place = MappingPlace()

        /// For messages: the path, or the name of one that is written in Swift.
        package var title: String { description.path ?? "“\(description.name)” (Swift)" }
    }

    /// A file beside the models that can't be read, or isn't opened.
    package struct Unread: Hashable, Sendable {
        package var path: String
        package var reason: String
        /// Whether it can't be understood, or is a link that leads nowhere, so that nobody knows its step.
        var isDamaged = false
        var place = MappingPlace()
    }

    /// In the order in which they run where several fit a step: Swift, then those given, then those found: the nearest
    /// first, by file name.
    package let entries: [Entry]
    package let unread: [Unread]
    /// About the search itself.
    package let notices: [String]
    /// To tell mapping models of other models.
    let bundles: ModelBundles
    /// Whether a step is inferred although a mapping model says that it is for this step and doesn't match.
    package let infersDespiteMismatch: Bool

    /// Reads the mapping models.
    ///
    /// `MappingSearch` says where they are looked for.
    ///
    /// - Parameters:
    ///   - given: paths that the user names.
    ///   - models: paths of the model bundles.
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
        let search = MappingSearch(around: models)
        var unread = search.unread
        for file in search.found where isNew(file.path) {
            do throws(MappingFileError) {
                let description = try MappingModelReader.read(file.path)
                entries.append(Entry(origin: .found, description: description, place: file.place))
            } catch {
                var reason = error
                reason.path = nil
                unread.append(
                    Unread(path: file.path, reason: reason.description, isDamaged: true, place: file.place))
            }
        }
        self.entries = entries
        self.unread = unread
        (notices, bundles) = (search.notices, search.bundles)
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
