/// Values of an attribute that allows external storage: every one has a prefix byte, and a few are references to files
/// (InsideStoreFormat §4.3).
struct ExternalBlobs {
    /// A value that is stored in the row.
    static let inlinePrefix: UInt8 = 1
    /// A reference: the file's name and a NUL follow.
    static let referencePrefix: UInt8 = 2

    private let stream: UInt64
    /// One file in so many rows, the first at `phase`.
    private let period: Int
    private let phase: Int
    private let sizes: ClosedRange<Int>

    init(stream: UInt64, count: Int, options: GenerationOptions) {
        self.stream = stream
        // Down to one file in all: a small store has one too.
        period = max(options.rowsPerExternalFile, count / options.maximumExternalFiles)
        var random = RandomStream(stream: stream, key: -2)
        phase = random.next(below: max(1, min(period, count)))
        sizes = options.externalFileBytes
    }

    func isFile(_ ordinal: Int) -> Bool { ordinal % period == phase }

    /// The name and length of the row's file; its bytes follow from `random`.
    func file(_ ordinal: Int) -> (uuid: RandomUUID, length: Int, content: RandomStream) {
        var random = RandomStream(stream: stream &+ 1, key: ordinal)
        let uuid = RandomUUID(&random)
        return (uuid, sizes.lowerBound + random.next(below: sizes.count), random)
    }
}

extension RandomStream {
    /// Bytes that compress a little, as those of real images and documents do.
    mutating func append(_ length: Int, to bytes: inout [UInt8]) {
        let end = bytes.count + length
        bytes.reserveCapacity(end)
        while bytes.count < end {
            var bits = next()
            if bits & 7 == 0 {
                // A run.
                let byte = UInt8(truncatingIfNeeded: bits >> 8)
                bytes.append(contentsOf: repeatElement(byte, count: min(8, end - bytes.count)))
                continue
            }
            for _ in 0..<min(8, end - bytes.count) {
                bytes.append(UInt8(truncatingIfNeeded: bits))
                bits >>= 8
            }
        }
    }
}
