import CausewayPlatform
import Foundation
import Testing

@Suite("Copies and comparisons", .timeLimit(.minutes(60)))
struct CopyTests {
    @Test("a copy that is synced later holds the same bytes", arguments: [0, 1, 1 << 20, (1 << 20) + 1])
    func copy(size: Int) throws {
        let folder = try TemporaryFolder()
        let source = folder("source")
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        try Data(bytes).write(to: URL(filePath: source))
        let target = folder("target")
        #expect(try Files.copyFile(from: source, to: target, syncs: false) == Int64(size))
        #expect(try Files.haveSameContent(source, target))
        #expect(try Files.status(of: target).mode == 0o600)
    }

    @Test("a byte that differs is found, wherever it is", arguments: [0, 1 << 20, (1 << 21) - 1])
    func difference(at index: Int) throws {
        let folder = try TemporaryFolder()
        var bytes = [UInt8](repeating: 3, count: 1 << 21)
        try Data(bytes).write(to: URL(filePath: folder("one")))
        bytes[index] = 4
        try Data(bytes).write(to: URL(filePath: folder("other")))
        #expect(try !Files.haveSameContent(folder("one"), folder("other")))
        try Data(bytes.dropLast()).write(to: URL(filePath: folder("shorter")))
        #expect(try !Files.haveSameContent(folder("other"), folder("shorter")))
    }

    @Test("a symbolic link is neither copied nor compared where none is followed")
    func links() throws {
        let folder = try TemporaryFolder()
        try Data([1]).write(to: URL(filePath: folder("file")))
        try FileManager.default.createSymbolicLink(
            atPath: folder("link"), withDestinationPath: folder("file"))
        #expect { try Files.copyFile(from: folder("link"), to: folder("copy"), followsLinks: false) } throws: {
            ($0 as? FileError)?.code == .symbolicLink
        }
        #expect(try !Files.exists(folder("copy")))
        #expect { _ = try Files.haveSameContent(folder("link"), folder("file")) } throws: {
            ($0 as? FileError)?.code == .symbolicLink
        }
    }
}
