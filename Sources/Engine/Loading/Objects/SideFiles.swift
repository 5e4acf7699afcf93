import CausewayCheckpoint
import CausewayPlatform
import CausewayStores

/// The files that a run writes beside the new store: rejected rows, and old and new URIs.
///
/// Their content belongs to the rows: each commit includes what was written before it, and a resumed run cuts off what
/// was written after the last one.
package final class SideFiles {
    let rejects: LineFile?
    let keyMap: LineFile?
    /// The files' lengths when the current step began.
    private var begin = SideFileMarks()
    /// Paths at which a resumed run has found nothing.
    private let missing: Set<String>

    /// Creates the requested files. They must not exist, unless the same work wrote them.
    init(rejects: String?, keyMap: String?, isResumed: Bool) throws(EngineError) {
        var missing: Set<String> = []
        func file(_ path: String?, _ purpose: LineFile.Purpose) throws(EngineError) -> LineFile? {
            guard let path else { return nil }
            let isThere = isResumed ? try EngineError.at(path, as: .cannotCreate) { try Files.exists(path) } : false
            if isResumed, !isThere { missing.insert(path) }
            return try LineFile(path, for: purpose, resuming: isThere)
        }
        let rejected = try file(rejects, .rejects)
        self.rejects = rejected
        do throws(EngineError) {
            self.keyMap = try file(keyMap, .keyMap)
        } catch {
            if !isResumed { try? rejected?.discard() }
            throw error
        }
        self.missing = missing
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
        try requireThere(place)
        try rejects?.cut(at: place.rejects)
        try keyMap?.cut(at: place.keyMap)
        ledger.beforeCommit(of: Self.part) { () throws(EngineError) in try self.sync() }
    }

    /// Refuses files with another length than the steps left: the new store depends on their content.
    func require(_ marks: SideFileMarks) throws(EngineError) {
        try requireThere(marks)
        for (path, length, mark) in files(marks) where length != mark {
            throw EngineError(
                .undecided,
                "\(path): the file has changed since the earlier run: it had \(mark) bytes and has \(length)",
                remedy: "put that file back, or start over with --restart, which removes the one that is there")
        }
    }

    private func files(_ marks: SideFileMarks) -> [(path: String, length: Int64, mark: Int64)] {
        let now = self.marks
        return [(rejects?.path, now.rejects, marks.rejects), (keyMap?.path, now.keyMap, marks.keyMap)].compactMap {
            path, length, mark in path.map { ($0, length, mark) }
        }
    }

    /// Refuses files that are gone with what was written to them.
    private func requireThere(_ marks: SideFileMarks) throws(EngineError) {
        for (path, length, mark) in files(marks) where missing.contains(path) && length < mark {
            // What is there now is empty, and this run's. The failure that counts is the one that is thrown.
            for path in missing { _ = try? Files.unlink(path) }
            throw EngineError(
                .undecided, "\(path): is missing: the unfinished work has written \(mark) bytes to it",
                remedy: "put that file back, or begin anew with --restart")
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
                    .usage, "\(option) \(path): this path is a store's, or another file's", remedy: "give another path")
            }
        }
    }

    /// Refuses files that exist before the work begins: they belong to someone else.
    static func requireAbsent(_ files: [(option: String, path: String?)]) throws(EngineError) {
        for (option, path) in files {
            guard let path else { continue }
            let there = try EngineError.at(path, as: .cannotCreate) { try Files.statusIfExists(path) }
            guard there != nil else { continue }
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
