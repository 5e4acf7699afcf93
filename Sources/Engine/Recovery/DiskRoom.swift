import CausewayPlatform
import CausewayPreparation
import CausewayStores

/// Room on the disk for the work of a migration, or of one step.
enum DiskRoom {
    /// Refuses a disk without room for what the run will still write.
    ///
    /// - Parameters:
    ///   - bytes: the most that the work directory holds when the work is done.
    ///   - path: the work directory; what it holds already counts.
    /// - Throws: `.inputOutput` where the disk has too little room.
    static func require(_ bytes: Int, at path: String) throws(EngineError) {
        let (available, used) = try EngineError.at(path) {
            // A copy that isn't whole is as long as the source, with holes.
            let used = try Files.list(path).reduce(Int64(0)) { sum, name in
                let status = try Files.statusIfExists(path + "/" + name)
                return sum + (status.map { min($0.size, $0.allocated) } ?? 0)
            }
            return (try DiskSpace.available(at: path), used)
        }
        let needed = max(Int64(PreparedMigration.reserve), Int64(bytes) - used)
        guard available >= needed else {
            throw EngineError(
                .inputOutput,
                "\(path): not enough room: the migration needs about \(needed) bytes more, \(available) are free",
                remedy: "make room, then run again")
        }
    }
}
