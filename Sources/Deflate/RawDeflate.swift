import CausewayCZlib

/// DEFLATE without a header, as `Z_MODELCACHE.Z_CONTENT` has it (InsideStoreFormat §8).
package enum RawDeflate {
    /// Window of 32 KiB; negative means that there is no zlib header and no checksum.
    private static let windowBits: Int32 = -15

    /// Bytes by which the output grows at a time.
    private static let chunkSize = 64 * 1024

    /// The content of a stream that fills all of `bytes`.
    ///
    /// Memory stays below `limit` plus one chunk, however far the stream would expand. Throws `corrupt`, `truncated`,
    /// `trailingBytes`, or `limitExceeded` when the content has more than `limit` bytes.
    package static func inflate(_ bytes: [UInt8], limit: Int) throws(DeflateError) -> [UInt8] {
        let inputCount = try inputCount(of: bytes)
        var input = bytes
        var output: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: chunkSize)
        var stream = unsafe z_stream()
        let started = unsafe inflateInit2_(&stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard started == Z_OK else { throw notStarted(started) }
        defer { _ = unsafe inflateEnd(&stream) }

        // The stream keeps pointers into both buffers, so they are lent for the whole loop.
        let outcome: Result<UInt32, DeflateError> = unsafe input.withUnsafeMutableBufferPointer { source in
            unsafe chunk.withUnsafeMutableBufferPointer { target in
                unsafe stream.next_in = source.baseAddress
                unsafe stream.avail_in = inputCount
                while true {
                    unsafe stream.next_out = target.baseAddress
                    unsafe stream.avail_out = UInt32(target.count)
                    let status = unsafe CausewayCZlib.inflate(&stream, Z_NO_FLUSH)
                    let produced = unsafe target.count - Int(stream.avail_out)
                    let isInputLeft = unsafe stream.avail_in > 0
                    guard produced <= limit - output.count else {
                        let message = "The compressed value expands to more than the \(limit) bytes allowed."
                        return .failure(DeflateError(code: .limitExceeded, message: message))
                    }
                    unsafe output.append(contentsOf: target[0..<produced])
                    switch status {
                    case Z_STREAM_END: return unsafe .success(stream.avail_in)
                    case Z_OK where produced > 0 || isInputLeft: continue
                    case Z_OK, Z_BUF_ERROR:
                        let message = "The compressed stream ends after \(bytes.count) bytes; the value is damaged."
                        return .failure(DeflateError(code: .truncated, message: message))
                    default: return .failure(failure(status))
                    }
                }
            }
        }
        let rest = try outcome.get()
        guard rest == 0 else {
            throw DeflateError(
                code: .trailingBytes,
                message: "\(rest) bytes follow the end of the compressed stream; the value is damaged.")
        }
        return output
    }

    /// A stream that `inflate` turns back into `bytes`.
    ///
    /// Equal input gives equal output as long as the version of zlib is the same.
    package static func deflate(_ bytes: [UInt8]) throws(DeflateError) -> [UInt8] {
        let inputCount = try inputCount(of: bytes)
        var input = bytes
        var stream = unsafe z_stream()
        let started = unsafe deflateInit2_(
            &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard started == Z_OK else { throw notStarted(started) }
        defer { _ = unsafe deflateEnd(&stream) }

        // Enough for one call, whatever the input is.
        let bound = Int(unsafe deflateBound(&stream, UInt(inputCount)))
        guard bound <= Int(UInt32.max) else { throw inputTooLarge(bytes.count) }
        var output = [UInt8](repeating: 0, count: bound)
        let status = unsafe input.withUnsafeMutableBufferPointer { source in
            unsafe output.withUnsafeMutableBufferPointer { target in
                unsafe stream.next_in = source.baseAddress
                unsafe stream.avail_in = inputCount
                unsafe stream.next_out = target.baseAddress
                unsafe stream.avail_out = UInt32(target.count)
                return unsafe CausewayCZlib.deflate(&stream, Z_FINISH)
            }
        }
        guard status == Z_STREAM_END else { throw failure(status) }
        output.removeLast(unsafe Int(stream.avail_out))
        return output
    }

    private static func inputCount(of bytes: [UInt8]) throws(DeflateError) -> UInt32 {
        guard let count = UInt32(exactly: bytes.count) else { throw inputTooLarge(bytes.count) }
        return count
    }

    private static func inputTooLarge(_ count: Int) -> DeflateError {
        DeflateError(code: .limitExceeded, message: "\(count) bytes are more than zlib can take at once (4 GiB).")
    }

    private static func notStarted(_ status: Int32) -> DeflateError {
        DeflateError(
            code: .zlib, message: "zlib could not start (status \(status)); it has no memory or another version.")
    }

    private static func failure(_ status: Int32) -> DeflateError {
        status == Z_MEM_ERROR
            ? DeflateError(code: .zlib, message: "zlib has no memory; free some and try again.")
            : DeflateError(
                code: .corrupt,
                message: "The bytes aren't a raw DEFLATE stream (zlib status \(status)); they are damaged.")
    }
}
