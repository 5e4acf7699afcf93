import CausewayPlatform

/// The file of rejected rows (`--rejects`): JSON lines, appended by every step of a run, readable by its owner alone.
///
/// It holds the user's own values. Not Sendable: only the thread that runs the migration uses it.
package final class RejectsFile {
    /// Bytes collected before they are written.
    static let bufferSize = 1 << 16

    package let path: String
    private let file: OpenFile
    private var offset: Int64 = 0
    private var buffer: [UInt8] = []
    /// Lines written so far.
    package private(set) var lines = 0

    /// Creates the file.
    ///
    /// - Throws: `.cannotCreate` where there is a file already or none can be made.
    package init(creating path: String) throws(EngineError) {
        self.path = path
        do {
            file = try OpenFile(path, mode: .createNew, permissions: 0o600, followsLinks: false)
        } catch {
            throw EngineError(
                .cannotCreate, "\(path): the file for rejected rows can't be created: \(error.message)",
                remedy: error.code == .exists ? "move the file of an earlier run away, or name another" : "")
        }
        buffer.reserveCapacity(Self.bufferSize)
    }

    func append(_ bytes: some Sequence<UInt8>) throws(EngineError) {
        buffer.append(contentsOf: bytes)
        if buffer.count >= Self.bufferSize { try flush() }
    }

    func endLine() throws(EngineError) {
        try append(CollectionOfOne(UInt8(ascii: "\n")))
        lines += 1
    }

    /// Returns when everything is on the medium, the file's name too.
    func sync() throws(EngineError) {
        try flush()
        do {
            try file.sync()
            try Files.syncDirectory(Paths.parent(of: path))
        } catch {
            throw EngineError(.inputOutput, "\(path): \(error.message)")
        }
    }

    /// Removes the file: for a run that failed, whose lines mean nothing.
    package func discard() throws(EngineError) {
        do {
            try Files.unlink(path)
        } catch {
            throw EngineError(.inputOutput, "\(path): \(error.message)")
        }
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
        do {
            try outcome.get()
        } catch {
            throw EngineError(.inputOutput, "\(path): \(error.message)")
        }
        offset += Int64(buffer.count)
        buffer.removeAll(keepingCapacity: true)
    }
}
