import CausewayPlatform
import CausewayStores

/// The files of an export that are open: it may have more of them than a process may have open.
final class OpenOutputs {
    /// The one that was used last is the last.
    private var files: [OutputFile] = []

    private static let most = 64

    /// A file is written to; the one that was used first is closed where there are too many.
    fileprivate func use(_ file: OutputFile) throws(EngineError) {
        if files.last === file { return }
        files.removeAll { $0 === file }
        files.append(file)
        if files.count > Self.most { try files.removeFirst().close() }
    }

    fileprivate func forget(_ file: OutputFile) { files.removeAll { $0 === file } }

    /// Closes them all: what they hold goes.
    func drop() {
        for file in files { file.drop() }
        files.removeAll()
    }
}

/// A new file, written from its beginning on.
final class OutputFile {
    private let path: String
    private weak var others: OpenOutputs?
    private var file: OpenFile?
    private var length: Int64 = 0

    /// - Parameters:
    ///   - path: where nothing must be.
    ///   - others: the export's open files.
    /// - Throws: where it can't be made.
    init(_ path: String, among others: OpenOutputs) throws(EngineError) {
        (self.path, self.others) = (path, others)
        file = try EngineError.at(path, as: .cannotCreate) {
            try OpenFile(path, mode: .createNew, permissions: 0o666)
        }
        try others.use(self)
    }

    private func reopen() throws(FileError) {
        if file == nil { file = try OpenFile(path, mode: .readWrite) }
    }

    fileprivate func drop() { file = nil }

    /// Everything is written, and on its medium.
    func finish() throws(EngineError) {
        try close()
        others?.forget(self)
    }

    /// Until it is used again. What was written is on its medium first: the system may forget that it failed to write
    /// to a file that nobody has open.
    fileprivate func close() throws(EngineError) {
        try sync()
        file = nil
    }

    func append(_ bytes: [UInt8]) throws(EngineError) {
        try others?.use(self)
        do throws(FileError) {
            try reopen()
            try unsafe bytes.span.bytes.withUnsafeBytes { bytes throws(FileError) in
                try unsafe file?.write(bytes, at: length)
            }
            length += Int64(bytes.count)
        } catch {
            throw EngineError(.inputOutput, "\(path): \(error.message)")
        }
    }

    private func sync() throws(EngineError) {
        do throws(FileError) {
            try reopen()
            try file?.sync()
        } catch {
            throw EngineError(.inputOutput, "\(path): \(error.message)")
        }
    }
}
