import ArgumentParser
import Causeway
import CausewayPlatform

/// What each of several stores gets of one call's options: files of its own in the folders that the options name, and
/// its part of the threads and the memory.
struct StoreShares {
    /// One store's part.
    struct Share: Hashable {
        /// As it was given.
        let store: String
        /// Bytes of its main file, for the progress; 0 where it can't be looked at.
        let bytes: Int
        let output: String?
        let rejects: String?
        let keyMap: String?
    }

    let shares: [Share]
    /// Stores that are migrated at a time.
    let parallel: Int

    /// - Parameters:
    ///   - arguments: the stores, and the options that `plan` has too.
    ///   - output: the folder for the new stores; nil for the stores' own places.
    ///   - parallel: stores at a time, as asked for.
    /// - Throws: `ValidationError` where a store is given twice, files would collide, or a folder is none.
    init(_ arguments: MigrateArguments, output: String? = nil, parallel: Int = 1) throws {
        let files = arguments.stores.map { ($0, try? Files.status(of: $0)) }
        try Self.refuseDuplicates(files)
        try Self.refuseShared(files, arguments)
        for (option, folder) in [
            ("--output", output), ("--rejects", arguments.rejects), ("--key-map", arguments.keyMap),
        ] {
            guard let folder else { continue }
            guard (try? Files.status(of: folder))?.kind == .directory else {
                throw ValidationError("With several stores \(option) must be an existing folder: \(folder) isn't one.")
            }
            try Self.refuseCollisions(arguments.stores, option, stem: option == "--output")
        }
        try output.map { try Self.refuseOwnFolder($0, of: files) }
        shares = files.map { store, status in
            let name = Paths.name(of: store)
            return Share(
                store: store, bytes: Int(clamping: status?.size ?? 0), output: output.map { Paths.join($0, name) },
                rejects: arguments.rejects.map { Paths.join($0, name + ".rejects.jsonl") },
                keyMap: arguments.keyMap.map { Paths.join($0, name + ".key-map.jsonl") })
        }
        self.parallel = min(parallel, shares.count)
    }

    /// One store's options out of those of the whole call.
    func options(_ share: Share, of whole: MigrationOptions) -> MigrationOptions {
        var options = whole
        (options.output, options.rejects, options.keyMap) = (share.output, share.rejects, share.keyMap)
        guard parallel > 1 else { return options }
        options.jobs = max(1, (whole.jobs ?? ProcessFacts.processorCount) / parallel)
        options.memoryLimit = whole.memoryLimit.map { $0 / parallel }
        return options
    }

    // MARK: - Refusals

    /// Two migrations of one file would each wait for the other, or undo its locks.
    private static func refuseDuplicates(_ files: [(store: String, status: FileStatus?)]) throws {
        var seen: [FileStatus.Identity: String] = [:]
        var names: Set<String> = []
        for (store, status) in files {
            guard names.insert(store).inserted else {
                throw ValidationError("\(store) is given twice; give every store once.")
            }
            guard let status else { continue }
            if let other = seen.updateValue(store, forKey: status.identity) {
                throw ValidationError("\(store) and \(other) are the same file; give every store once.")
            }
        }
    }

    /// A store that is read for all others mustn't be replaced meanwhile.
    private static func refuseShared(
        _ files: [(store: String, status: FileStatus?)], _ arguments: MigrateArguments
    ) throws {
        let given: [(option: String, path: String)] =
            arguments.models.map { ("--models", $0) } + [("--schema-template", arguments.schemaTemplate ?? "")]
        for (option, path) in given {
            guard let shared = try? Files.status(of: path), shared.kind == .regular,
                let store = files.first(where: { $0.status?.isSameFile(as: shared) == true })?.store
            else { continue }
            throw ValidationError("\(store) is \(option) too; leave it out of the stores.")
        }
    }

    /// A new store would be the store itself.
    private static func refuseOwnFolder(_ output: String, of files: [(store: String, status: FileStatus?)]) throws {
        for (store, status) in files {
            let path = Paths.join(output, Paths.name(of: store))
            guard let status, let other = try? Files.status(of: path), other.isSameFile(as: status) else { continue }
            throw ValidationError(
                "--output \(output) is the folder of \(store) itself; give another folder, or leave --output out to "
                    + "replace the stores.")
        }
    }

    /// `stem`: whether the support folder of external values, which has the name without its extension, counts too.
    private static func refuseCollisions(_ stores: [String], _ option: String, stem: Bool) throws {
        var seen: [String: String] = [:]
        for store in stores {
            // Some file systems ignore case.
            var name = Paths.name(of: store).lowercased()
            if stem, let dot = name.lastIndex(of: "."), dot != name.startIndex { name = String(name[..<dot]) }
            if let other = seen.updateValue(store, forKey: name) {
                throw ValidationError(
                    "\(other) and \(store) would write to the same file in the folder of \(option); rename one of them "
                        + "or run them apart.")
            }
        }
    }
}

extension FileStatus {
    /// What makes it the same file under every name.
    fileprivate struct Identity: Hashable {
        let device: UInt64
        let inode: UInt64
    }

    fileprivate var identity: Identity { Identity(device: device, inode: inode) }
}
