import CausewayPlatform
import CausewayStores

/// A store's location, even if the store lost its name between two runs.
///
/// Link and rename never cause that; a file system that renames in two steps, or a person, may still leave the old
/// store under its backup's name alone. Then it gets its name back (InsideCrashSafety §4.5).
enum StoreRescue {
    static func location(of path: String) throws(EngineError) -> StoreLocation {
        do throws(EngineError) {
            return try StoreLocation(existing: path)
        } catch {
            // Missing: only an intent says that it existed.
            guard let location = try? StoreLocation(new: path), try restore(location) else { throw error }
            return try StoreLocation(existing: path)
        }
    }

    private static func restore(_ location: StoreLocation) throws(EngineError) -> Bool {
        guard let intent = try WorkDirectory.intent(in: location.workDirectory), intent.store == location.name else {
            return false
        }
        let backup = location.directory + "/" + intent.backup
        return try EngineError.at(backup) {
            guard let found = try FileIdentity(of: backup), found.isSameContent(as: intent.source) else { return false }
            // Never replaces a file that appears meanwhile.
            try Files.link(backup, as: location.path)
            try Files.syncDirectory(location.directory)
            return true
        }
    }
}
