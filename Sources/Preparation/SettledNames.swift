import CausewayModel
import CausewayPlatform
package import CausewayStoreFormat
import CausewayStores

/// What the user gives for names that models leave open (InsideStoreFormat §5.3): stores that Core Data wrote
/// (`--schema-template`), and names of join tables that were seen on a device (`--join-table`).
struct SettledNames {
    /// Names of join tables of the target version, in capitals.
    let joinTables: [String]
    private var templates: [Template] = []
    private let target: ModelHistory.Version
    private let frameworkVersion: Int

    /// A store that settles names of its version.
    private struct Template {
        var path: String
        var hashes: [String: [UInt8]]
        var hints: LayoutHints
    }

    /// Reads the templates and checks that they fit the target and don't contradict each other.
    init(
        _ request: MigrationRequest, target: ModelHistory.Version, history: ModelHistory, frameworkVersion: Int,
        store: SourceStore
    ) throws(EngineError) {
        self.target = target
        self.frameworkVersion = frameworkVersion
        // SQLite doesn't distinguish cases, and Core Data writes capitals.
        joinTables = Set(request.joinTables.map { $0.uppercased() }).sorted()
        if let path = request.schemaTemplate {
            let isFolder: Bool
            do {
                isFolder = try Files.status(of: path).kind == .directory
            } catch {
                throw EngineError(reading: error, at: path, "no such template, or it can't be reached")
            }
            templates = try isFolder ? Self.templates(in: path, besides: store) : [Self.template(path, besides: store)]
            try requireTarget(path, isFolder: isFolder, history)
        }
        try requireOneStoreAVersion()
        try requirePossible()
    }

    var isEmpty: Bool { joinTables.isEmpty && templates.isEmpty }

    /// What a template says of a version's names; nil without one.
    func hints(for version: ModelHistory.Version) -> LayoutHints? {
        templates.first { $0.hashes == version.hashes.entities }?.hints
    }

    /// The layout of a store of the target version, with `schema`'s names where nothing else is known.
    func layout(insteadOf schema: StoreSchema) throws(EngineError) -> StoreLayout {
        try layout(hints(for: target) ?? LayoutHints(schema), joinTables)
    }

    private func layout(_ hints: LayoutHints, _ joinTables: [String]) throws(EngineError) -> StoreLayout {
        do {
            return try StoreLayout(
                model: target.model, frameworkVersion: frameworkVersion, hints: hints, joinTables: joinTables)
        } catch {
            throw EngineError(.plan, "\(target.name): \(error)", remedy: "fix the model")
        }
    }

    // MARK: - Templates

    private static func template(_ path: String, besides store: SourceStore) throws(EngineError) -> Template {
        // Opening the store's own file again would drop the lock on it.
        guard (try? Files.status(of: path).isSameFile(as: store.identity)) != true else {
            throw EngineError(
                .usage, "\(path): the store to be migrated can't be the template of its own schema",
                remedy: "give a store of the target version that Core Data wrote")
        }
        return try SourceStore.reading(StoreLocation(existing: path)) { template in
            Template(path: path, hashes: template.metadata.entityHashes, hints: LayoutHints(template.schema))
        }
    }

    /// Every store of a folder; other files are ignored.
    private static func templates(in folder: String, besides store: SourceStore) throws(EngineError) -> [Template] {
        let names = try EngineError.reading(folder) { try Files.list(folder).sorted() }
        var result: [Template] = []
        for name in names {
            let path = folder + "/" + name
            if try isStore(path, besides: store) { result.append(try template(path, besides: store)) }
        }
        return result
    }

    /// Whether a file of a folder looks like a store, and isn't the one to be migrated.
    private static func isStore(_ path: String, besides store: SourceStore) throws(EngineError) -> Bool {
        do {
            let status = try Files.status(of: path)
            guard status.kind == .regular, !status.isSameFile(as: store.identity) else { return false }
            return try StoreFile.isDatabase(path)
        } catch {
            // A dangling link, or a circle of links.
            if [.notFound, .symbolicLink].contains(error.code) { return false }
            throw EngineError(reading: error, at: path)
        }
    }

    private func requireTarget(_ path: String, isFolder: Bool, _ history: ModelHistory) throws(EngineError) {
        guard hints(for: target) == nil else { return }
        func version(_ template: Template) -> String {
            let known = history.versions.filter { $0.hashes.entities == template.hashes }.map(\.name)
            return known.isEmpty ? "of no version in \(history.path)" : "of version \(known.joined(separator: ", "))"
        }
        let what = "a store of version \(target.name) that Core Data wrote"
        guard isFolder else {
            throw EngineError(
                .plan, "\(path): the template is \(templates.map(version).first ?? "empty"), not of \(target.name)",
                remedy: "give \(what)")
        }
        throw EngineError(
            .plan, "\(path): the folder has no template for version \(target.name)",
            details: templates.isEmpty
                ? ["no file in it is a store"] : templates.map { "\($0.path): \(version($0))" },
            remedy: "put \(what) into it")
    }

    /// Two stores of one version may differ in rows only.
    private func requireOneStoreAVersion() throws(EngineError) {
        for (index, template) in templates.enumerated() where template.hashes == target.hashes.entities {
            for other in templates[(index + 1)...] where other.hashes == template.hashes {
                guard try layout(template.hints, []).names != layout(other.hints, []).names else { continue }
                throw EngineError(
                    .usage, "\(template.path) and \(other.path) are of one version and name join tables differently",
                    remedy: "keep the one that Core Data wrote")
            }
        }
    }

    // MARK: - Join tables

    private func requirePossible() throws(EngineError) {
        guard !joinTables.isEmpty else { return }
        let template = hints(for: target)
        let possible = try layout(template ?? LayoutHints(), []).possibleJoinTableNames
        for name in joinTables where !possible.contains(where: { $0.names.contains(name) }) {
            let open = possible.filter { $0.names.count > 1 }.map {
                "\($0.relationship): \($0.names.joined(separator: " or "))"
            }
            throw EngineError(
                .usage, "--join-table \(name): no join table of version \(target.name) can have this name",
                details: open.isEmpty ? ["the model leaves no name open"] : open)
        }
        for (relationship, names) in possible {
            let given = names.filter(joinTables.contains)
            if given.count > 1 {
                throw EngineError(
                    .usage, "--join-table \(given.joined(separator: " and ")): both name the table of \(relationship)",
                    remedy: "give the one that was seen")
            }
            guard let name = given.first, template != nil, name != names.first else { continue }
            throw EngineError(
                .usage, "--join-table \(name): the template names the table of \(relationship) \(names.first ?? "")",
                remedy: "give one of them")
        }
    }
}

extension StoreLayout {
    /// Names of join tables and of their key columns by relationship.
    package var names: [String: [String]] {
        Dictionary(
            joinTables.map { table in
                let ends = ["\(table.owner).\(table.relationship)", "\(table.inverseOwner).\(table.inverse)"]
                return (ends.min() ?? "", [table.name, table.ownerColumn, table.destinationColumn])
            }, uniquingKeysWith: { first, _ in first })
    }

    /// The names that a store with the names of `old` changes: `Z_2LIKES → Z_2LIKEDBY`.
    package func renames(from old: StoreLayout) -> [String] {
        let before = old.names
        return names.sorted { $0.key < $1.key }.flatMap { key, now in
            guard let then = before[key], then != now else { return [String]() }
            if then[0] != now[0] { return ["\(then[0]) → \(now[0])"] }
            return zip(then, now).filter { $0 != $1 }.map { "\(now[0]): \($0) → \($1)" }
        }
    }
}

extension OpenName {
    /// The warning of a plan: what is open, and what settles it.
    package var warning: String {
        let template = "a store of this version that Core Data wrote settles it (--schema-template)"
        return "\(message); "
            + (tables.isEmpty ? template : template + ", or the name as seen on a device (--join-table)")
    }
}
