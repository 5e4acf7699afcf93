import CausewayCheckpoint
import Testing

@Suite(.timeLimit(.minutes(60))) struct ContainerVersionTests {
    private func frame() throws -> [UInt8] {
        Array(try Containers.incompressible(100, seed: 5)[184...])
    }

    @Test("another major version is refused, and the message names it", arguments: [0, 2, 513, 65_535])
    func major(version: UInt64) throws {
        let bytes = Containers.around(frame: try frame(), plainLength: 100, major: version, minor: 3)
        guard case .failure(let error) = outcome(bytes) else {
            Issue.record("accepted")
            return
        }
        #expect(error.code == .foreignFormat)
        #expect(error.message.contains("format \(version).3"))
    }

    @Test("a later minor version with more header fields is read", arguments: [0, 1, 8, 200, 3_912])
    func minor(added: Int) throws {
        let bytes = Containers.around(
            frame: try frame(), plainLength: 100, minor: 1, added: [UInt8](repeating: 0xEE, count: added))
        let content = try CheckpointContainer.decode(bytes, expecting: Containers.identity)
        #expect(content.payload == Containers.noise(100, seed: 5))
    }

    @Test("a later minor version's container is refused at every truncation")
    func truncatedMinor() throws {
        let bytes = Containers.around(
            frame: try frame(), plainLength: 100, minor: 1, added: [UInt8](repeating: 0xEE, count: 40))
        for count in bytes.indices {
            #expect(refusal(Array(bytes[..<count])) == .truncated)
        }
    }

    @Test("a header longer than any version's, or longer than version 1.0's, is refused")
    func headerLength() throws {
        let long = Containers.around(
            frame: try frame(), plainLength: 100, minor: 9, added: [UInt8](repeating: 0, count: 3_913))
        #expect(refusal(long) == .malformed)
        let added = Containers.around(frame: try frame(), plainLength: 100, minor: 0, added: [0])
        #expect(refusal(added) == .malformed)
    }

    @Test("a header that says it is shorter than it is is refused", arguments: [0, 1, 152, 183])
    func shortHeader(length: UInt64) throws {
        var bytes = Containers.around(frame: try frame(), plainLength: 100, minor: 1)
        bytes.replaceSubrange(12..<16, with: Containers.littleEndian(length, 4))
        Containers.sealHeader(&bytes)
        #expect(refusal(bytes) == .malformed)
    }
}
