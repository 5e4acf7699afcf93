import CausewayCheckpoint
import CausewayPlatform
import CausewayStores

/// The files that a run writes beside the new store: rejected rows, and old and new URIs.
///
/// Their content belongs to the rows: each commit includes what was written before it, and a resumed run cuts off what
/// was written after the last one.
package final class SideFiles {
    let rejects: RejectsFile?
    let keyMap: KeyMapFile?
    /// The files' lengths when the current step began.
    private var begin = SideFileMarks()

    /// Creates the requested files. They must not exist, unless the same work wrote them.
    init(rejects: String?, keyMap: String?, isResumed: Bool) throws(EngineError) {
        self.rejects = try rejects.map { path throws(EngineError) in
            if isResumed, try Self.isThere(path) { return try RejectsFile(resuming: path) }
            return try RejectsFile(creating: path)
        }
        do throws(EngineError) {
            self.keyMap = try keyMap.map { path throws(EngineError) in
                if isResumed, try Self.isThere(path) { return try KeyMapFile(resuming: path) }
                return try KeyMapFile(creating: path)
            }
        } catch {
            if !isResumed { try? self.rejects?.discard() }
            throw error
        }
    }

    private static func isThere(_ path: String) throws(EngineError) -> Bool {
        try EngineError.at(path, as: .cannotCreate) { try Files.exists(path) }
    }

    /// The files' lengths, with everything written.
    var marks: SideFileMarks { SideFileMarks(rejects: rejects?.length ?? 0, keyMap: keyMap?.length ?? 0) }

    /// A step begins: the files' lengths after the one before.
    func beginStep(at marks: SideFileMarks) {
        begin = marks
    }

    private static let part = "side files"

    /// Saved with the step's progress from now on.
    func keep(in ledger: StepLedger) throws(EngineError) {
        guard rejects != nil || keyMap != nil else { return }
        var place = begin
        try ledger.keep(
            Self.part,
            restore: { (reader: inout FieldReader) throws(CheckpointError) in
                place = SideFileMarks(rejects: try reader.signed(), keyMap: try reader.signed())
            },
            save: { writer in
                let marks = self.marks
                writer.write(marks.rejects)
                writer.write(marks.keyMap)
            })
        try rejects?.cut(at: place.rejects)
        try keyMap?.cut(at: place.keyMap)
        ledger.beforeCommit(of: Self.part) { () throws(EngineError) in try self.sync() }
    }

    /// Refuses files with another length than the steps left: the new store depends on their content.
    func require(_ marks: SideFileMarks) throws(EngineError) {
        for (path, length, mark) in [
            (rejects?.path, self.marks.rejects, marks.rejects), (keyMap?.path, self.marks.keyMap, marks.keyMap),
        ] {
            guard let path, length != mark else { continue }
            throw EngineError(
                .undecided,
                "\(path): the file has changed since the earlier run: it had \(mark) bytes and has "
                    + "\(length)",
                remedy: "put that file back, or start over with --restart, which removes the one that is there")
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
                    .usage, "\(option) \(path): this path is a store's, or another file's", remedy: "give another path"
                )
            }
        }
    }

    /// Refuses files that exist before the work begins: they belong to someone else.
    static func requireAbsent(_ files: [(option: String, path: String?)]) throws(EngineError) {
        for (option, path) in files {
            guard let path else { continue }
            do throws(FileError) {
                guard try Files.statusIfExists(path) != nil else { continue }
            } catch {
                throw EngineError(.cannotCreate, "\(path): \(error.message)")
            }
            throw EngineError(
                .cannotCreate, "\(path): already exists", remedy: "give another \(option), or move it away")
        }
    }

    /// Makes them durable: rows that are left out of the new store must be on disk here.
    func sync() throws(EngineError) {
        try rejects?.sync()
        try keyMap?.sync()
    }

    /// Removes them after a failure, which is reported; the next run names a file that stays.
    func discard() {
        try? rejects?.discard()
        try? keyMap?.discard()
    }
}
