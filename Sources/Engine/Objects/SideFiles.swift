/// The files that a run writes beside the new store: rejected rows, and old and new URIs.
struct SideFiles {
    let rejects: RejectsFile?
    let keyMap: KeyMapFile?

    /// Creates those that are asked for; nothing may be there.
    init(rejects: String?, keyMap: String?) throws(EngineError) {
        self.rejects = try rejects.map { path throws(EngineError) in try RejectsFile(creating: path) }
        do throws(EngineError) {
            self.keyMap = try keyMap.map { path throws(EngineError) in try KeyMapFile(creating: path) }
        } catch {
            try? self.rejects?.discard()
            throw error
        }
    }

    /// Refuses paths that belong to a store, or to each other.
    static func requireOwnPlaces(
        _ files: [(option: String, path: String?)], besides stores: [String]
    ) throws(EngineError) {
        let suffixes = ["", "-wal", "-shm", "-journal", ".premigration"]
        var taken: Set<String> = []
        for store in stores {
            let path = try StoreLocation(new: store).path
            taken.formUnion(suffixes.map { path + $0 })
        }
        for (option, path) in files {
            guard let path else { continue }
            guard taken.insert(try StoreLocation(new: path).path).inserted else {
                throw EngineError(
                    .usage, "\(option) \(path): this place is a store's, or another file's", remedy: "give another path"
                )
            }
        }
    }

    /// Makes them durable: the new store counts on what was left out of it being written down.
    func finish() throws(EngineError) {
        try rejects?.sync()
        try keyMap?.finish()
    }

    /// Removes them after a failure, which is what is reported; a file that stays is named by the next run.
    func discard() {
        try? rejects?.discard()
        try? keyMap?.discard()
    }
}
