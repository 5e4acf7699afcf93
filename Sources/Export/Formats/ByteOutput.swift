import CausewayPlatform
import CausewayStores

/// Where an export's bytes go: a file, or a stream.
enum ByteTarget {
    case file(OutputFile)
    /// False: the reader is gone, which ends the export without an error.
    case stream(([UInt8]) throws(EngineError) -> Bool)
}

/// A new file, written from its beginning on. It is open only while it is written to: an export may have more files than
/// a process may have open.
final class OutputFile {
    private let path: String
    private var length: Int64 = 0

    init(_ path: String) throws(EngineError) {
        self.path = path
        try EngineError.at(path, as: .cannotCreate) {
            _ = try OpenFile(path, mode: .createNew, permissions: 0o666)
        }
    }

    func append(_ bytes: [UInt8]) throws(EngineError) {
        do throws(FileError) {
            let file = try OpenFile(path, mode: .readWrite)
            try unsafe bytes.span.bytes.withUnsafeBytes { bytes throws(FileError) in
                try unsafe file.write(bytes, at: length)
            }
            length += Int64(bytes.count)
        } catch {
            throw EngineError(.inputOutput, "\(path): \(error.message)")
        }
    }

    func sync() throws(EngineError) {
        do throws(FileError) {
            try OpenFile(path, mode: .readWrite).sync()
        } catch {
            throw EngineError(.inputOutput, "\(path): \(error.message)")
        }
    }
}

/// Collects bytes and hands them on in pieces.
final class ByteOutput {
    /// A piece: calls of the system cost little then.
    private static let pieceLength = 1 << 18

    private let target: ByteTarget
    private var bytes: [UInt8] = []
    /// Whether the stream's reader has gone.
    private(set) var isClosed = false

    init(_ target: ByteTarget) {
        self.target = target
    }

    func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

    func append(_ byte: UInt8) { bytes.append(byte) }

    /// Hands on what there is if it is enough for a piece: to be called now and then.
    func flushIfFull() throws(EngineError) {
        if bytes.count >= Self.pieceLength { try flush() }
    }

    private func flush() throws(EngineError) {
        guard !bytes.isEmpty, !isClosed else { return bytes.removeAll(keepingCapacity: true) }
        switch target {
        case .file(let file): try file.append(bytes)
        case .stream(let write): isClosed = try !write(bytes)
        }
        bytes.removeAll(keepingCapacity: true)
    }

    /// Everything is written; a file's content is on its medium.
    func finish() throws(EngineError) {
        try flush()
        if case .file(let file) = target { try file.sync() }
    }
}
