internal import CausewayPlatform

/// What became of the fsyncs of a run, as the fault shim has traced them.
package struct SyncRecord: Sendable {
    /// Files, by inode, of which an fsync failed; folders left out.
    package private(set) var lostFiles: Set<UInt64> = []
    /// Whether a new store was put in place.
    package private(set) var wasSwapped = false
    /// Whether the store's folder was synced after that, the first time that it was tried: asking again proves nothing.
    package private(set) var isSwapDurable = false

    /// Bytes. A run of a small subject writes a few MiB; more than this is no trace of ours.
    private static let traceLimit = 1 << 30

    /// - Parameters:
    ///   - trace: the shim's file.
    ///   - store: the store's path, without links in it.
    /// - Throws: where the file can't be read, or is no trace.
    package init(trace: String, store: String) throws {
        self.init(try Trace(Files.readFile(trace, limit: Self.traceLimit)), store: store)
    }

    package init(_ trace: Trace, store: String) {
        let folder = Paths.parent(of: store)
        var isAsked = false
        for operation in trace.operations {
            switch operation.kind {
            // File systems use numbers again: what is made now has lost nothing yet.
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

    /// What nobody may rest on after a failed fsync: of the file nobody knows what is on the disk.
    ///
    /// - Parameters:
    ///   - ending: of the run.
    ///   - data: the store's folder.
    ///   - work: the work directory, in it.
    /// - Returns: what is wrong, in words; nil is fine.
    /// - Throws: what the file system says.
    package func fault(after ending: ChildRun.Ending, data: String, work: String) throws -> String? {
        if ending == .exited(0) {
            guard wasSwapped else { return "success without a swap" }
            guard isSwapDurable else { return "success, although the store's folder wasn't synced after the swap" }
        }
        // The old store, where it is still in place, is as the application left it; the next run reads what there is.
        let folder = wasSwapped ? data : work
        guard try Files.exists(folder) else { return nil }
        for (path, status) in try FolderTree.files(in: folder) where lostFiles.contains(status.inode) {
            // SQLite writes a journal from its start before it rests on it. A commit whose journal wasn't synced isn't made;
            // a rollback, as at the end of a stopped run, leaves the journal to be rolled back again.
            if path.hasSuffix("-journal") { continue }
            return "\(path.dropFirst(data.count + 1)) is there after \(ending), although its fsync failed"
        }
        return nil
    }
}
