#if canImport(CryptoKit)
    internal import CryptoKit
#else
    internal import CausewayCCrypto
#endif

/// A running SHA-2 digest (FIPS 180-4), by the library that the system has: CryptoKit on Apple's, OpenSSL's libcrypto
/// elsewhere. swift-crypto brings its own: 461 objects, which take 101 s of processor time in a newcomer's first build,
/// beside 185 s for all the rest of the command.
package struct MessageDigest: ~Copyable {
    /// The digest's function.
    package enum Function: Hashable, Sendable {
        /// 32 bytes.
        case sha256
        /// 64 bytes.
        case sha512
    }

    #if canImport(CryptoKit)
        private var hash: any HashFunction

        /// Begins a digest of no bytes.
        package init(_ function: Function) {
            hash =
                switch function {
                case .sha256: SHA256()
                case .sha512: SHA512()
                }
        }

        /// Adds bytes.
        package mutating func update(_ bytes: UnsafeRawBufferPointer) {
            unsafe hash.update(bufferPointer: bytes)
        }

        /// The digest of all bytes so far.
        package consuming func finish() -> [UInt8] {
            Self.bytes(of: hash)
        }

        private static func bytes(of hash: some HashFunction) -> [UInt8] { Array(hash.finalize()) }
    #else
        /// In the value itself: nothing is allocated, and none of these calls can fail (sha.h; each gives 1).
        private enum State {
            case sha256(SHA256_CTX)
            case sha512(SHA512_CTX)
        }

        private var state: State

        /// Begins a digest of no bytes.
        package init(_ function: Function) {
            switch function {
            case .sha256:
                var context = SHA256_CTX()
                _ = unsafe SHA256_Init(&context)
                state = .sha256(context)
            case .sha512:
                var context = SHA512_CTX()
                _ = unsafe SHA512_Init(&context)
                state = .sha512(context)
            }
        }

        /// Adds bytes.
        package mutating func update(_ bytes: UnsafeRawBufferPointer) {
            switch state {
            case .sha256(var context):
                _ = unsafe SHA256_Update(&context, bytes.baseAddress, bytes.count)
                state = .sha256(context)
            case .sha512(var context):
                _ = unsafe SHA512_Update(&context, bytes.baseAddress, bytes.count)
                state = .sha512(context)
            }
        }

        /// The digest of all bytes so far.
        package consuming func finish() -> [UInt8] {
            switch state {
            case .sha256(var context):
                return unsafe [UInt8](unsafeUninitializedCapacity: Int(SHA256_DIGEST_LENGTH)) { buffer, count in
                    _ = unsafe SHA256_Final(buffer.baseAddress, &context)
                    count = Int(SHA256_DIGEST_LENGTH)
                }
            case .sha512(var context):
                return unsafe [UInt8](unsafeUninitializedCapacity: Int(SHA512_DIGEST_LENGTH)) { buffer, count in
                    _ = unsafe SHA512_Final(buffer.baseAddress, &context)
                    count = Int(SHA512_DIGEST_LENGTH)
                }
            }
        }
    #endif

    /// Adds bytes.
    package mutating func update(_ bytes: some Collection<UInt8>) {
        let done: Void? = bytes.withContiguousStorageIfAvailable { unsafe update(UnsafeRawBufferPointer($0)) }
        if done == nil { update(Array(bytes)) }
    }

    /// The digest of bytes that are all there.
    package static func of(_ bytes: some Collection<UInt8>, _ function: Function = .sha256) -> [UInt8] {
        var digest = MessageDigest(function)
        digest.update(bytes)
        return digest.finish()
    }
}
