import CausewayDigests
import Testing

/// The examples of FIPS 180-4 (csrc.nist.gov, "Examples with Intermediate Values").
@Suite("Message digests", .timeLimit(.minutes(60)))
struct MessageDigestTests {
    private static let twoBlocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    @Test(
        "SHA-256 gives the standard's values",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (twoBlocks, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
        ])
    func sha256(text: String, digest: String) {
        #expect(hex(MessageDigest.of(Array(text.utf8))) == digest)
        #expect(hex(MessageDigest.of(text.utf8)) == digest)
    }

    @Test("SHA-512 gives the standard's value")
    func sha512() {
        let digest =
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
            + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        #expect(hex(MessageDigest.of(Array("abc".utf8), .sha512)) == digest)
    }

    @Test("bytes may come in any pieces", arguments: [1, 3, 63, 64, 65, 1000])
    func pieces(size: Int) {
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        var digest = MessageDigest(.sha256)
        var start = 0
        while start < bytes.count {
            let end = min(start + size, bytes.count)
            digest.update(bytes[start..<end])
            start = end
        }
        #expect(digest.finish() == MessageDigest.of(bytes))
    }
}
