import CausewayCZstd

/// The one zstd frame of a container (RFC 8878): with content size, with content checksum, without a dictionary.
enum ZstdFrame {
    /// Bytes of history that a frame may ask the reader to keep: 8 MiB, the most that levels 1 to 19 use. Frames of
    /// `zstd --long` ask for up to 2 GiB and are refused.
    static let maximumWindow: UInt64 = 1 << maximumWindowLog
    private static let maximumWindowLog: Int32 = 23

    private static let magic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]

    // MARK: - Writing

    static func compress(_ payload: [UInt8], level: Int32) throws(CheckpointError) -> [UInt8] {
        guard let context = unsafe ZSTD_createCCtx() else { throw noMemory() }
        defer { _ = unsafe ZSTD_freeCCtx(context) }
        try require(unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level))
        try require(unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 1))
        try require(unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1))

        // Enough for one call, whatever the payload is.
        var frame = [UInt8](repeating: 0, count: ZSTD_compressBound(payload.count))
        let written = unsafe payload.withUnsafeBytes { source in
            unsafe frame.withUnsafeMutableBytes { target in
                unsafe ZSTD_compress2(context, target.baseAddress, target.count, source.baseAddress, source.count)
            }
        }
        try require(written)
        frame.removeLast(frame.count - written)
        return frame
    }

    private static func require(_ result: Int) throws(CheckpointError) {
        guard ZSTD_isError(result) == 0 else {
            throw CheckpointError(
                .malformed,
                "zstd could not compress a checkpoint: \(name(of: result)). Free some memory and run again; if it "
                    + "happens again, please report it.")
        }
    }

    // MARK: - Reading

    /// Checks a frame's header before zstd sees its content, and that it fills `frame`.
    ///
    /// Returns the length of the payload: the declared one, which the frame has to confirm.
    static func check(_ frame: ArraySlice<UInt8>, plainLength: UInt64) throws(CheckpointError) -> Int {
        guard let declared = Declaration(frame) else {
            throw damaged("its content isn't a zstd frame with size and checksum")
        }
        guard declared.contentSize == plainLength, let length = Int(exactly: plainLength) else {
            throw damaged("header and frame differ in the length of the content")
        }
        guard declared.window <= maximumWindow else {
            throw CheckpointError(
                .tooLarge,
                "The checkpoint asks for a window of \(declared.window) bytes; \(maximumWindow) are allowed, and "
                    + "Causeway writes none that needs more. Discard it.")
        }
        let size = unsafe frame.withUnsafeBytes { bytes in
            unsafe ZSTD_findFrameCompressedSize(bytes.baseAddress, bytes.count)
        }
        guard ZSTD_isError(size) == 0 else { throw damaged("its frame is cut off or has an impossible block") }
        guard size == frame.count else { throw damaged("something follows its frame") }
        return length
    }

    /// The payload of a frame that `check` has passed.
    static func decompress(_ frame: ArraySlice<UInt8>, plainLength: Int) throws(CheckpointError) -> [UInt8] {
        guard let context = unsafe ZSTD_createDCtx() else { throw noMemory() }
        defer { _ = unsafe ZSTD_freeDCtx(context) }
        // `check` limits the window: zstd applies this limit only if it keeps a window of its own.
        let limited = unsafe ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, maximumWindowLog)
        guard ZSTD_isError(limited) == 0 else { throw damaged("zstd refused its limits: \(name(of: limited))") }

        var payload = [UInt8](repeating: 0, count: plainLength)
        let written = unsafe frame.withUnsafeBytes { source in
            unsafe payload.withUnsafeMutableBytes { target in
                unsafe ZSTD_decompressDCtx(
                    context, target.baseAddress, target.count, source.baseAddress, source.count)
            }
        }
        guard ZSTD_isError(written) == 0 else { throw damaged("zstd can't read it: \(name(of: written))") }
        guard written == plainLength else { throw damaged("its content is shorter than announced") }
        return payload
    }

    // MARK: - The frame's own header

    /// The frame header's fields that bound what reading will take.
    private struct Declaration {
        let window: UInt64
        let contentSize: UInt64

        /// Nothing if the bytes don't begin with a frame of our kind: size and checksum there, no dictionary.
        init?(_ frame: ArraySlice<UInt8>) {
            guard frame.starts(with: ZstdFrame.magic) else { return nil }
            var rest = frame.dropFirst(ZstdFrame.magic.count)
            guard let descriptor = rest.popFirst() else { return nil }
            // Bit 2: checksum; bit 3: reserved; bits 0 and 1: dictionary.
            guard descriptor & 0b0000_1111 == 0b0000_0100 else { return nil }
            let isSingleSegment = descriptor & 0b0010_0000 != 0

            var window: UInt64?
            if !isSingleSegment {
                guard let byte = rest.popFirst() else { return nil }
                let base: UInt64 = 1 << (10 + UInt64(byte >> 3))
                window = base + base / 8 * UInt64(byte & 7)
            }
            // Two bits choose 0 (1 in a single segment), 2, 4 or 8 bytes; without any there is no size.
            let flag = descriptor >> 6
            let count = flag == 0 ? (isSingleSegment ? 1 : 0) : 1 << Int(flag)
            guard count > 0, rest.count >= count else { return nil }
            var size = UInt64(littleEndian: rest.prefix(count))
            if count == 2 { size += 256 }
            contentSize = size
            self.window = window ?? size
        }
    }

    // MARK: - Messages

    private static func damaged(_ reason: String) -> CheckpointError {
        CheckpointError(.damaged, "The checkpoint is damaged: \(reason). Discard it.")
    }

    private static func noMemory() -> CheckpointError {
        CheckpointError(.tooLarge, "zstd has no memory for a checkpoint; free some and run again.")
    }

    /// zstd's own name for a result, which doesn't contain content.
    private static func name(of result: Int) -> String {
        guard let name = unsafe ZSTD_getErrorName(result) else { return "unknown error" }
        return unsafe String(cString: name)
    }
}
