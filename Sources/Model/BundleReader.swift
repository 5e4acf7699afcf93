import CausewayPlist

/// Reads a folder that is a model bundle: `.xcdatamodeld`, `.xcdatamodel` or `.momd`.
struct BundleReader {
    private static let currentVersionFile = ".xccurrentversion"
    private static let versionInfoFile = "VersionInfo.plist"
    /// The source of one version, XML since Xcode 4.
    private static let sourceFile = "contents"
    /// The source of one version, binary, before that.
    private static let oldSourceFile = "elements"

    private let files: ModelFiles
    private var notices: [String] = []

    init(_ files: ModelFiles) {
        self.files = files
    }

    /// The last part of a path without its extension.
    static func name(of path: String) -> String {
        ForeignFile.name(of: path, without: ["xcdatamodeld", "xcdatamodel", "momd", "mom", "omo"])
    }

    mutating func read() throws(ModelError) -> ModelBundle {
        let entries = try files.list()
        let inside = entries.filter { $0.hasSuffix(".xcdatamodeld") || $0.hasSuffix(".momd") }
        notices += inside.map { "The bundle holds another one, \(files.path(of: $0)), which isn't read: name it." }
        let sources = entries.filter { $0.hasSuffix(".xcdatamodel") }
        if entries.contains(Self.currentVersionFile) || !sources.isEmpty { return try sourceHistory(sources, entries) }
        if entries.contains(Self.versionInfoFile) || entries.contains(where: { $0.hasSuffix(".mom") }) {
            return try compiledHistory(entries)
        }
        if entries.contains(Self.sourceFile) || entries.contains(Self.oldSourceFile) {
            let version = ModelBundle.Version(
                name: Self.name(of: files.path), path: files.path, model: .success(try Self.source("", files)))
            return ModelBundle(
                name: version.name, path: files.path, kind: .source, versions: [version],
                currentVersionName: version.name)
        }
        throw ModelError(
            .notAModel,
            inside.isEmpty
                ? "The folder isn't a model bundle: it holds neither versions (.xcdatamodel, .mom) nor a model's "
                    + "source."
                : "The folder isn't a model bundle but holds some; name one of them: "
                    + "\(inside.joined(separator: ", ")).",
            path: files.path)
    }

    // MARK: - Source

    private mutating func sourceHistory(_ names: [String], _ entries: [String]) throws(ModelError) -> ModelBundle {
        guard !names.isEmpty else {
            throw ModelError(.notAModel, "The bundle holds no version (.xcdatamodel).", path: files.path)
        }
        var versions: [ModelBundle.Version] = []
        for entry in names {
            versions.append(version(entry, recorded: nil) { files throws(ModelError) in try Self.source(entry, files) })
        }
        var current: String?
        if entries.contains(Self.currentVersionFile) {
            current = property("_XCCurrentVersionName", in: Self.currentVersionFile)?.string.map(Self.name(of:))
        } else if versions.count > 1 {
            notices.append("The bundle doesn't say which version is the current one (no .xccurrentversion).")
        }
        return bundle(.sourceHistory, versions, current)
    }

    /// The model of one `.xcdatamodel` folder; an empty name means the bundle's own folder.
    private static func source(_ folder: String, _ files: ModelFiles) throws(ModelError) -> ManagedObjectModel {
        let prefix = folder.isEmpty ? "" : folder + "/"
        for file in [sourceFile, oldSourceFile] where try files.kind(of: prefix + file) == .file {
            let bytes = try files.read(prefix + file)
            return try ModelReader.model(bytes, ModelForm(bytes), files.path(of: prefix + file))
        }
        throw ModelError(.notAModel, "The version has no source (“contents”).", path: files.path(of: folder))
    }

    // MARK: - Compiled

    private mutating func compiledHistory(_ entries: [String]) throws(ModelError) -> ModelBundle {
        var info: PropertyList?
        if entries.contains(Self.versionInfoFile) {
            info = propertyList(Self.versionInfoFile)
        } else {
            notices.append("The bundle has no VersionInfo.plist, so the current version isn't known from it.")
        }
        let hashes = info?["NSManagedObjectModel_VersionHashes"]
        let checksums = info?["NSManagedObjectModel_VersionChecksums"]
        var versions: [ModelBundle.Version] = []
        var seen: Set<String> = []
        for entry in entries where entry.hasSuffix(".mom") {
            let name = Self.name(of: entry)
            seen.insert(name)
            versions.append(
                version(entry, recorded: recorded(name, hashes, checksums)) { files throws(ModelError) in
                    let bytes = try files.read(entry)
                    return try ModelReader.model(bytes, ModelForm(bytes), files.path(of: entry))
                })
        }
        // A version that only the list or an .omo has is reported, not left out.
        let optimized = entries.filter { $0.hasSuffix(".omo") }.map(Self.name(of:))
        let listed = hashes?.dictionary.map { Set($0.keys) } ?? []
        for name in listed.union(optimized).subtracting(seen).sorted() {
            versions.append(missing(name, isOptimized: optimized.contains(name), recorded(name, hashes, checksums)))
        }
        guard !versions.isEmpty else {
            throw ModelError(.notAModel, "The bundle holds no version (.mom).", path: files.path)
        }
        return bundle(.compiledHistory, versions, info?["NSManagedObjectModel_CurrentVersionName"]?.string)
    }

    private func missing(
        _ name: String, isOptimized: Bool, _ recorded: ModelBundle.RecordedHashes?
    ) -> ModelBundle.Version {
        let error =
            isOptimized
            ? ModelError(
                .unsupportedFormat,
                "The version “\(name)” is there only in the optimised form (.omo), which Apple doesn't publish. Use the "
                    + "model's source or the store's own model cache.",
                path: files.path(of: name + ".omo"))
            : ModelError(
                .unreadable, "VersionInfo.plist names the version “\(name)”, but there is no \(name).mom.",
                path: files.path(of: name + ".mom"))
        return ModelBundle.Version(
            name: name, path: error.path ?? files.path, model: .failure(error), recorded: recorded)
    }

    private func recorded(
        _ name: String, _ hashes: PropertyList?, _ checksums: PropertyList?
    ) -> ModelBundle.RecordedHashes? {
        guard let entities = hashes?[name]?.dictionary else { return nil }
        return ModelBundle.RecordedHashes(
            entities: entities.compactMapValues(\.data), checksum: checksums?[name]?.string)
    }

    // MARK: - Common

    private func version(
        _ entry: String, recorded: ModelBundle.RecordedHashes?,
        _ read: (ModelFiles) throws(ModelError) -> ManagedObjectModel
    ) -> ModelBundle.Version {
        let model: Result<ManagedObjectModel, ModelError>
        do {
            model = .success(try read(files))
        } catch {
            model = .failure(error)
        }
        return ModelBundle.Version(
            name: Self.name(of: entry), path: files.path(of: entry), model: model, recorded: recorded)
    }

    private mutating func bundle(
        _ kind: ModelBundle.Kind, _ versions: [ModelBundle.Version], _ current: String?
    ) -> ModelBundle {
        if let current, !versions.contains(where: { $0.name == current }) {
            notices.append("The bundle calls “\(current)” its current version, but has no version of that name.")
        }
        return ModelBundle(
            name: Self.name(of: files.path), path: files.path, kind: kind, versions: versions,
            currentVersionName: current ?? (versions.count == 1 ? versions.first?.name : nil), notices: notices)
    }

    private mutating func property(_ key: String, in entry: String) -> PropertyList? {
        guard let list = propertyList(entry) else { return nil }
        if list[key]?.string == nil { notices.append("\(entry) has no “\(key)”.") }
        return list[key]
    }

    /// nil with a notice where the list can't be read: the versions are usable without it.
    private mutating func propertyList(_ entry: String) -> PropertyList? {
        do {
            return try BundlePropertyList.parse(try files.read(entry), path: files.path(of: entry))
        } catch {
            notices.append("\(entry) can't be read, so the current version isn't known: \(error.message)")
            return nil
        }
    }
}
