internal import CausewayPlatform

/// The results of a run's fsyncs, as the fault shim has traced them.
package struct SyncRecord: Sendable {
    /// Files, by inode, of which an fsync failed; without folders.
    package private(set) var lostFiles: Set<UInt64> = []
    /// Whether a new store was put in place.
    package private(set) var wasSwapped = false
    /// Whether the first fsync of the store's folder after that succeeded. A later one proves nothing.
    package private(set) var isSwapDurable = false

    /// Bytes. A run of a small subject writes a few MiB; a larger file isn't one of our traces.
    private static let traceLimit = 1 << 30

    /// - Parameters:
    ///   - trace: the shim's file.
    ///   - store: the store's path, without links in it.
    /// - Throws: if the file can't be read or isn't a trace.
    package init(trace: String, store: String) throws {
        self.init(try Trace(Files.readFile(trace, limit: Self.traceLimit)), store: store)
    }

    package init(_ trace: Trace, store: String) {
        let folder = Paths.parent(of: store)
        var isAsked = false
        for operation in trace.operations {
            switch operation.kind {
            // File systems use inode numbers again: a file that is made now has lost nothing yet.
            case .create: lostFiles.remove(operation.inode)
            case .rename where operation.path2 == store: (wasSwapped, isSwapDurable, isAsked) = (true, false, false)
            case .sync where operation.flags & 1 == 0:
                if operation.failed { lostFiles.insert(operation.inode) }
            case .sync where wasSwapped && !isAsked && operation.path == folder:
                (isSwapDurable, isAsked) = (!operation.failed, true)
            default: break
            }
        }
    }

    /// Finds files that may not be used after a failed fsync, because their content on the disk is unknown.
    ///
    /// - Parameters:
    ///   - ending: of the run.
    ///   - data: the store's folder.
    ///   - work: the work directory, in it.
    /// - Returns: what is wrong, as text; nil if nothing is.
    /// - Throws: errors of the file system.
    package func fault(after ending: ChildRun.Ending, data: String, work: String) throws -> String? {
        if ending == .exited(0) {
            guard wasSwapped else { return "success without a swap" }
            guard isSwapDurable else { return "success, although the store's folder wasn't synced after the swap" }
        }
        // If the old store is still in place, it is unchanged, and the next run reads it.
        let folder = wasSwapped ? data : work
        guard try Files.exists(folder) else { return nil }
        for (path, status) in try FolderTree.files(in: folder) where lostFiles.contains(status.inode) {
            // SQLite writes a journal from its start before it uses it. A commit whose journal wasn't synced isn't
            // made. A rollback, as at the end of a stopped run, leaves the journal, which is rolled back again.
            if path.hasSuffix("-journal") { continue }
            return "\(path.dropFirst(data.count + 1)) is there after \(ending), although its fsync failed"
        }
        return nil
    }
}
