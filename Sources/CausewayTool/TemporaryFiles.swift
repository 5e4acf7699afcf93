import CausewayPlatform
import Foundation

/// SQLite sorts in temporary files what doesn't fit in memory. They hold row content, so they belong in the work
/// directory, private to the store's owner and on the disk with enough room, not in `/var/tmp`.
///
/// Set through the environment before SQLite is used: it reads the variable once. A value that the user has set stays.
func keepTemporaryFiles(with store: String, output: String?) {
    guard let folder = workDirectory(of: output ?? store) else { return }
    // Fails only without memory; then SQLite uses the system's folder.
    _ = unsafe setenv("SQLITE_TMPDIR", folder, 0)
}

/// For several stores: SQLite knows one folder only, so it is that of the first. Its files have no name as soon as they
/// are open, and are private to their owner.
func keepTemporaryFiles(inFolderOf store: String) {
    guard let folder = try? Files.realPath(of: Paths.parent(of: store)) else { return }
    _ = unsafe setenv("SQLITE_TMPDIR", folder, 0)
}

/// The folder that the migration works in; nil where the store's own can't be found, which the migration itself will
/// say.
private func workDirectory(of store: String) -> String? {
    let path = (try? Files.realPath(of: store)) ?? store
    guard let parent = try? Files.realPath(of: Paths.parent(of: path)) else { return nil }
    return Paths.join(parent, ".\(Paths.name(of: path)).migration")
}
