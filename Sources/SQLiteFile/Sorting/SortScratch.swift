internal import CausewayPlatform

/// A sorted run of entries in the scratch file.
struct SortedRun {
    /// Where its blocks are in the file.
    var bytes: Range<Int64>
    /// Bytes of its longest block, decompressed.
    var longestBlock: Int
    var count: Int
}

/// The file that holds sorted runs, in blocks: 4 bytes with the block's length, 4 with that of its zstd frame, the
/// frame.
///
/// Nothing in it is used after this process: it is emptied when it is opened.
struct SortScratch: ~Copyable {
    let codec: BlockCodec
    private let file: OpenFile
    /// Where the next block goes.
    private(set) var end: Int64 = 0

    /// Bytes before a block's frame.
    static let blockHeaderLength = 8

    init(_ path: String) throws(IndexSortError) {
        let codec = try BlockCodec()
        let file = try Self.emptyFile(path)
        self.codec = codec
        self.file = file
    }

    private static func emptyFile(_ path: String) throws(IndexSortError) -> OpenFile {
        do throws(FileError) {
            let file = try OpenFile(path, mode: .create, followsLinks: false)
            try file.truncate(to: 0)
            return file
        } catch {
            throw IndexSortError(.scratch(error))
        }
    }

    /// Empties the file when no run is needed any more.
    consuming func discard() {
        // What is left only takes space: the next run of the tool empties it.
        try? file.truncate(to: 0)
    }

    @unsafe mutating func append(_ block: UnsafeRawBufferPointer) throws(IndexSortError) {
        let bytes = unsafe try codec.compress(block, prefix: Self.blockHeaderLength)
        guard let start = bytes.baseAddress else { return }
        unsafe start.storeBig(UInt32(truncatingIfNeeded: block.count), at: 0)
        unsafe start.storeBig(UInt32(truncatingIfNeeded: bytes.count - Self.blockHeaderLength), at: 4)
        do throws(FileError) {
            try unsafe file.write(UnsafeRawBufferPointer(bytes), at: end)
        } catch {
            throw IndexSortError(.scratch(error))
        }
        end += Int64(bytes.count)
    }

    /// Reads the header of the next block of a run.
    ///
    /// - Parameters:
    ///   - position: where it begins.
    ///   - run: the block and its frame must be within what the run was written with.
    /// - Returns: bytes of the block and of its frame.
    /// - Throws: `.scratchDamaged`, `.scratch`.
    func lengths(at position: Int64, of run: SortedRun) throws(IndexSortError) -> (block: Int, frame: Int) {
        var lengths: (UInt32, UInt32) = (0, 0)
        try unsafe withUnsafeMutableBytes(of: &lengths) { (bytes) throws(IndexSortError) in
            try unsafe read(bytes, at: position)
        }
        let block = Int(UInt32(bigEndian: lengths.0))
        let frame = Int(UInt32(bigEndian: lengths.1))
        guard block > 0, block <= run.longestBlock,
            position + Int64(Self.blockHeaderLength + frame) <= run.bytes.upperBound
        else { throw IndexSortError(.scratchDamaged) }
        return (block, frame)
    }

    /// Reads a block whose lengths are known.
    @unsafe func read(
        _ target: UnsafeMutableRawBufferPointer, frame: Int, at position: Int64
    ) throws(IndexSortError) {
        let room = unsafe UnsafeMutableRawBufferPointer(start: codec.room(frame), count: frame)
        try unsafe read(room, at: position + Int64(Self.blockHeaderLength))
        try unsafe codec.decompress(UnsafeRawBufferPointer(room), into: target)
    }

    @unsafe private func read(_ target: UnsafeMutableRawBufferPointer, at position: Int64) throws(IndexSortError) {
        do throws(FileError) {
            let count = try unsafe file.read(into: target, at: position)
            if count == target.count { return }
        } catch {
            throw IndexSortError(.scratch(error))
        }
        throw IndexSortError(.scratchDamaged)
    }
}
