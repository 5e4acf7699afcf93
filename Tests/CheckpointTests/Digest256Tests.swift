import CausewayCheckpoint
import Testing

@Suite(.timeLimit(.minutes(60))) struct Digest256Tests {
    @Test("the digest is SHA-256 (FIPS 180-4's examples)")
    func vectors() {
        #expect(hex(Digest256.of([])) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(
            hex(Digest256.of(Array("abc".utf8))) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test("a chain is a hash over the previous value and the digest, starting at 32 zeros")
    func chain() {
        var chain = Digest256.Chain()
        #expect(chain.value == [UInt8](repeating: 0, count: 32))
        let first = Digest256.of([1])
        chain.append(first)
        #expect(chain.value == Digest256.of([UInt8](repeating: 0, count: 32) + first))
    }

    @Test("a chain resumed from its value gives the same as one that never stopped")
    func resumed() throws {
        let digests = (0..<10).map { Digest256.of([UInt8($0)]) }
        var whole = Digest256.Chain()
        for digest in digests { whole.append(digest) }
        var part = Digest256.Chain()
        for digest in digests[..<4] { part.append(digest) }
        part = try Digest256.Chain(resuming: part.value)
        for digest in digests[4...] { part.append(digest) }
        #expect(part == whole)
    }

    @Test("a chain depends on the order, and on how bytes are divided among digests")
    func order() {
        func value(_ digests: [[UInt8]]) -> [UInt8] {
            var chain = Digest256.Chain()
            for digest in digests { chain.append(digest) }
            return chain.value
        }
        #expect(value([[1], [2]]) != value([[2], [1]]))
        #expect(value([[1], [2]]) != value([[1, 2]]))
        #expect(value([[]]) != value([]))
    }

    @Test("a chain isn't resumed from a value of another length", arguments: [0, 31, 33])
    func length(count: Int) {
        let error = #expect(throws: CheckpointError.self) {
            try Digest256.Chain(resuming: [UInt8](repeating: 0, count: count))
        }
        #expect(error?.code == .malformed)
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
