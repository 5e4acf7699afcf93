import CausewayPlatform
import Foundation

/// SQLite sorts what memory doesn't hold in files, which hold content of rows: they go where the migration's own files
/// are, for the store's owner alone and on the disk that has the room, not to `/var/tmp`.
///
/// Asked for through the environment, before SQLite is used: it looks there once. Whoever has set the variable knows why.
func keepTemporaryFiles(with store: String, output: String?) {
    guard let folder = workDirectory(of: output ?? store) else { return }
    // Fails for want of memory only; then SQLite takes the system's folder.
    _ = unsafe setenv("SQLITE_TMPDIR", folder, 0)
}

/// The folder that the migration works in; nil where the store's own can't be found, which the migration itself will say.
private func workDirectory(of store: String) -> String? {
    let path = (try? Files.realPath(of: store)) ?? store
    guard let parent = try? Files.realPath(of: Paths.parent(of: path)) else { return nil }
    return Paths.join(parent, ".\(Paths.name(of: path)).migration")
}
