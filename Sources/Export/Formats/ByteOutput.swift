import CausewayStores

/// Where an export's bytes go: a file, or a stream.
enum ByteTarget {
    case file(OutputFile)
    /// False: the reader is gone, which ends the export without an error.
    case stream(([UInt8]) throws(EngineError) -> Bool)
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
        if case .file(let file) = target { try file.finish() }
    }
}
