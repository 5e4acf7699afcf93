import CausewayPlatform
package import CausewayStores

/// The rejects file (`--rejects`): JSON lines, appended by every step of a run, readable by its owner only.
///
/// It holds the user's own values. Not Sendable: only the thread that runs the migration uses it.
package final class RejectsFile {
    /// Bytes collected before they are written.
    static let bufferSize = 1 << 16

    package let path: String
    private let file: OpenFile
    private var offset: Int64 = 0
    private var buffer: [UInt8] = []
    private var isSynced = false
    /// Lines written so far.
    package private(set) var lines = 0

    /// Creates the file.
    ///
    /// - Throws: `.cannotCreate` if there is a file already or none can be made.
    package init(creating path: String) throws(EngineError) {
        self.path = path
        do {
            file = try OpenFile(path, mode: .createNew, permissions: 0o600, followsLinks: false)
        } catch {
            throw EngineError(
                .cannotCreate, "\(path): the rejects file can't be created: \(error.message)",
                remedy: error.code == .exists ? "move the earlier run's file away, or name another" : "")
        }
        buffer.reserveCapacity(Self.bufferSize)
    }

    /// Continues the file of an earlier run of the same work.
    package init(resuming path: String) throws(EngineError) {
        self.path = path
        do {
            file = try OpenFile(path, mode: .readWrite, followsLinks: false)
            offset = try file.status().size
        } catch {
            throw EngineError(.cannotCreate, "\(path): the rejects file can't be opened: \(error.message)")
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
        offset = try file.cut(at: length, path: path)
    }

    func append(_ bytes: some Sequence<UInt8>) throws(EngineError) {
        buffer.append(contentsOf: bytes)
        isSynced = false
        if buffer.count >= Self.bufferSize { try flush() }
    }

    func endLine() throws(EngineError) {
        try append(CollectionOfOne(UInt8(ascii: "\n")))
        lines += 1
    }

    /// Appends whole lines, their ends included.
    func append(lines bytes: [UInt8], count: Int) throws(EngineError) {
        try append(bytes)
        lines += count
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
        // Array's own closure carries no typed error.
        let outcome = unsafe buffer.withUnsafeBytes { bytes -> Result<Void, FileError> in
            do throws(FileError) {
                try unsafe file.write(bytes, at: offset)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try EngineError.at(path) { try outcome.get() }
        offset += Int64(buffer.count)
        buffer.removeAll(keepingCapacity: true)
    }
}

extension OpenFile {
    /// Truncates a file of lines to its length at the last commit.
    ///
    /// - Returns: the length.
    func cut(at length: Int64, path: String) throws(EngineError) -> Int64 {
        do {
            guard try status().size >= length else {
                throw EngineError(
                    .undecided, "\(path): the file is shorter than the earlier run left it",
                    remedy: "start over with --restart")
            }
            try truncate(to: length)
            return length
        } catch let error as FileError {
            throw EngineError(.inputOutput, "\(path): \(error.message)")
        } catch let error as EngineError {
            throw error
        } catch {
            throw EngineError(.verification, "\(path): \(error)")
        }
    }
}
