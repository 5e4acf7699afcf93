import CausewayPlatform
package import CausewayStores

/// A file that a run writes beside the new store: JSON lines, appended by every step of a run, readable by its owner
/// alone.
///
/// It may hold the user's own values. Not Sendable: only the thread that runs the migration uses it.
package final class LineFile {
    package enum Purpose {
        /// Rejected rows (`--rejects`).
        case rejects
        /// Old and new URIs (`--key-map`).
        case keyMap
    }

    /// Bytes collected before they are written.
    static let bufferSize = 1 << 16

    package let path: String
    private let file: OpenFile
    private var offset: Int64 = 0
    private var buffer: [UInt8] = []
    private var isSynced = false

    /// Creates the file, or takes over the file of an earlier run of the same work.
    ///
    /// - Throws: `.cannotCreate` if there is a file already or none can be made.
    package init(_ path: String, for purpose: Purpose, resuming: Bool = false) throws(EngineError) {
        self.path = path
        do {
            if resuming {
                file = try OpenFile(path, mode: .readWrite, followsLinks: false)
                offset = try file.status().size
            } else {
                file = try OpenFile(path, mode: .createNew, permissions: 0o600, followsLinks: false)
            }
        } catch {
            throw purpose.failure(error, path, resuming: resuming)
        }
        buffer.reserveCapacity(Self.bufferSize)
    }

    /// Bytes that the file has, or will have.
    var length: Int64 { offset + Int64(buffer.count) }

    /// Cuts off what was written after the last commit.
    ///
    /// - Throws: `.undecided` if the file is shorter: another program has changed it.
    func cut(at length: Int64) throws(EngineError) {
        buffer.removeAll(keepingCapacity: true)
        isSynced = false
        try EngineError.at(path) {
            guard try file.status().size >= length else {
                throw EngineError(
                    .undecided, "\(path): the file is shorter than the earlier run left it",
                    remedy: "start over with --restart")
            }
            try file.truncate(to: length)
        }
        offset = length
    }

    func append(_ bytes: some Sequence<UInt8>) throws(EngineError) {
        buffer.append(contentsOf: bytes)
        isSynced = false
        if buffer.count >= Self.bufferSize { try flush() }
    }

    /// Returns when everything is on the medium, the file's name too.
    func sync() throws(EngineError) {
        if isSynced { return }
        try flush()
        do {
            try file.sync()
            try Files.syncDirectory(Paths.parent(of: path))
            isSynced = true
        } catch {
            // A second fsync could succeed although lines are lost: the step starts over and writes them again.
            var failure = EngineError(
                .inputOutput, "\(path): \(error.message)", remedy: "check the disk, then run again")
            failure.isFailedSync = error.operation == "sync"
            throw failure
        }
    }

    /// Removes the file of a failed run, whose lines mean nothing.
    package func discard() throws(EngineError) {
        try EngineError.at(path) { try Files.unlink(path) }
    }

    private func flush() throws(EngineError) {
        guard !buffer.isEmpty else { return }
        try EngineError.at(path) {
            try unsafe buffer.withUnsafeBytes { bytes in try unsafe file.write(bytes, at: offset) }
        }
        offset += Int64(buffer.count)
        buffer.removeAll(keepingCapacity: true)
    }
}

extension LineFile.Purpose {
    fileprivate func failure(_ error: FileError, _ path: String, resuming: Bool) -> EngineError {
        switch self {
        case .rejects:
            EngineError(
                .cannotCreate,
                "\(path): the rejects file can't be \(resuming ? "opened" : "created"): \(error.message)",
                remedy: error.code == .exists && !resuming
                    ? "move the file of an earlier run away, or name another" : "")
        case .keyMap:
            EngineError(
                .cannotCreate, "\(path): \(error.message)",
                remedy: resuming ? "" : "give another --key-map, or move it away")
        }
    }
}
