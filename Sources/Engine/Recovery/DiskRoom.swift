import CausewayPlatform
import CausewayPreparation
package import CausewayStores

/// Room on the disk for the work of a migration, or of one step.
package struct DiskRoom {
    /// Bytes that are always asked for; see `PreparedMigration.reserve`.
    let reserve: Int
    /// Too little room is a warning, not a refusal: the user knows better, or the file system doesn't tell.
    let isIgnored: Bool
    let warn: (String) -> Void

    package init(reserve: Int, isIgnored: Bool, warn: @escaping (String) -> Void) {
        (self.reserve, self.isIgnored, self.warn) = (reserve, isIgnored, warn)
    }

    /// Refuses a disk without room for what the run will still write, or warns.
    ///
    /// - Parameters:
    ///   - bytes: the most that the work directory holds when the work is done.
    ///   - path: the work directory; what it holds already counts.
    /// - Throws: `.inputOutput` where the disk has too little room.
    package func require(_ bytes: Int, at path: String) throws(EngineError) {
        let lack: String?
        do throws(EngineError) {
            lack = try Self.lack(of: bytes, reserve: reserve, work: path, in: path)
        } catch {
            guard isIgnored else { throw error }
            return warn("\(error.message); the room on the disk isn't checked (--ignore-space)")
        }
        guard let lack else { return }
        guard !isIgnored else { return warn("\(lack); running anyway (--ignore-space)") }
        throw EngineError(
            .inputOutput, lack, remedy: "make room, then run again; --ignore-space runs without this check")
    }

    /// Looks for what is missing.
    ///
    /// - Parameters:
    ///   - bytes: the most that the work directory holds when the work is done.
    ///   - reserve: asked for even if the work directory holds more than that.
    ///   - work: the work directory, which need not exist yet.
    ///   - folder: a folder on its file system.
    /// - Returns: what is missing, in a sentence; nil where there is room.
    /// - Throws: where the file system doesn't tell.
    static func lack(
        of bytes: Int, reserve: Int, work: String, in folder: String
    ) throws(EngineError) -> String? {
        let (available, used) = try EngineError.at(folder) {
            // A copy that isn't whole is as long as the source, with holes.
            let names = try Files.exists(work) ? try Files.list(work) : []
            let used = try names.reduce(Int64(0)) { sum, name in
                let status = try Files.statusIfExists(work + "/" + name)
                return sum + (status.map { min($0.size, $0.allocated) } ?? 0)
            }
            return (try DiskSpace.available(at: folder), used)
        }
        let needed = max(Int64(reserve), Int64(bytes) - used)
        guard available < needed else { return nil }
        return "\(folder): not enough room: the migration needs about \(Int(clamping: needed).grouped) bytes more, "
            + "\(Int(clamping: available).grouped) are free"
    }
}

extension DiskRoom {
    init(_ prepared: PreparedMigration, _ request: MigrationRequest, _ events: @escaping (EngineEvent) -> Void) {
        self.init(reserve: prepared.reserve, isIgnored: request.ignoresSpace) { events(.warning($0)) }
    }
}
