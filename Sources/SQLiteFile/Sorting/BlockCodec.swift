import CausewayCZstd

/// Compresses blocks of bytes to zstd frames with a checksum, and back (RFC 8878).
///
/// One per scratch file, with the memory that zstd needs for it.
@safe
final class BlockCodec {
    private let compressor: OpaquePointer
    private let decompressor: OpaquePointer
    private var frame: UnsafeMutableRawPointer
    private var frameCapacity: Int

    /// Faster than level 1 by a fourth of a sort's time, and as small for numbers; hex digits take twice as much.
    private static let level: Int32 = -1

    init() throws(IndexSortError) {
        guard let compressor = unsafe ZSTD_createCCtx() else { throw IndexSortError(.noMemory) }
        guard let decompressor = unsafe ZSTD_createDCtx() else {
            _ = unsafe ZSTD_freeCCtx(compressor)
            throw IndexSortError(.noMemory)
        }
        unsafe self.compressor = compressor
        unsafe self.decompressor = decompressor
        frameCapacity = 4_096
        unsafe frame = .allocate(byteCount: frameCapacity, alignment: 16)
        for (parameter, value) in [(ZSTD_c_compressionLevel, Self.level), (ZSTD_c_checksumFlag, 1)] {
            let result = unsafe ZSTD_CCtx_setParameter(compressor, parameter, value)
            if ZSTD_isError(result) != 0 { throw IndexSortError(.noMemory) }
        }
    }

    deinit {
        _ = unsafe ZSTD_freeCCtx(compressor)
        _ = unsafe ZSTD_freeDCtx(decompressor)
        unsafe frame.deallocate()
    }

    /// Most bytes that a block's frame has.
    static func largestFrame(_ plain: Int) -> Int { ZSTD_compressBound(plain) }

    /// Room for a frame. Valid until the next call.
    @unsafe func room(_ length: Int) -> UnsafeMutableRawPointer {
        if length > frameCapacity {
            unsafe frame.deallocate()
            frameCapacity = length
            unsafe frame = .allocate(byteCount: length, alignment: 16)
        }
        return unsafe frame
    }

    /// Gives back memory over `limit` bytes: that of one huge block must not stay.
    func shrink(to limit: Int) {
        guard frameCapacity > limit else { return }
        unsafe frame.deallocate()
        frameCapacity = max(limit, 4_096)
        unsafe frame = .allocate(byteCount: frameCapacity, alignment: 16)
    }

    /// The frame of a block, behind `prefix` bytes that the caller fills. Valid until the next call.
    @unsafe func compress(
        _ block: UnsafeRawBufferPointer, prefix: Int
    ) throws(IndexSortError) -> UnsafeMutableRawBufferPointer {
        let bound = Self.largestFrame(block.count)
        let target = unsafe room(prefix + bound)
        let length = unsafe ZSTD_compress2(compressor, target + prefix, bound, block.baseAddress, block.count)
        guard ZSTD_isError(length) == 0 else { throw IndexSortError(.noMemory) }
        return unsafe UnsafeMutableRawBufferPointer(start: target, count: prefix + length)
    }

    /// - Throws: `.scratchDamaged` where the frame doesn't hold exactly as many bytes.
    @unsafe func decompress(
        _ frame: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer
    ) throws(IndexSortError) {
        let length = unsafe ZSTD_decompressDCtx(
            decompressor, target.baseAddress, target.count, frame.baseAddress, frame.count)
        guard ZSTD_isError(length) == 0, length == target.count else { throw IndexSortError(.scratchDamaged) }
    }
}
