import CausewayPlatform
import Testing

@Suite("Ranges of files", .timeLimit(.minutes(60))) struct RangeTests {
    private static let content = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 % 251) }

    private static func file(_ folder: TemporaryFolder, _ name: String, _ bytes: [UInt8]) throws -> OpenFile {
        let file = try OpenFile(folder.path + "/" + name, mode: .createNew)
        try file.write(bytes)
        return file
    }

    @Test("a range is copied to the same place, by the system and through memory")
    func copies() throws {
        let folder = try TemporaryFolder()
        let source = try Self.file(folder, "source", Self.content)
        for (name, isThroughMemory) in [("system", false), ("memory", true)] {
            let target = try Self.file(folder, name, [])
            try target.truncate(to: 300_000)
            let range: Range<Int64> = 5_000..<200_001
            let count =
                try isThroughMemory ? source.copyThroughMemory(range, to: target) : source.copy(range, to: target)
            #expect(count == 195_001)
            var expected = [UInt8](repeating: 0, count: 300_000)
            expected[5_000..<200_001] = Self.content[5_000..<200_001]
            let isSame = try target.prefix(400_000) == expected
            #expect(isSame)
        }
    }

    @Test("a range that goes over the end is copied to the end")
    func shortSource() throws {
        let folder = try TemporaryFolder()
        let source = try Self.file(folder, "source", Self.content)
        let target = try Self.file(folder, "target", [])
        #expect(try source.copy(299_990..<400_000, to: target) == 10)
        #expect(try source.copy(300_000..<400_000, to: target) == 0)
        #expect(try source.copyThroughMemory(299_990..<400_000, to: target) == 10)
        #expect(try target.status().size == 300_000)
    }

    @Test("a cleared range holds zeros, and the file keeps its length")
    func clears() throws {
        let folder = try TemporaryFolder()
        let file = try Self.file(folder, "file", Self.content)
        try file.clear(4_096..<200_000)
        try file.clear(7..<7)
        var expected = Self.content
        for index in 4_096..<200_000 { expected[index] = 0 }
        let isSame = try file.prefix(400_000) == expected
        #expect(isSame)
        #expect(throws: FileError.self) { try OpenFile(file.path, mode: .read).clear(0..<10) }
    }

    @Test("a clone has the same content, or there is no new file")
    func clones() throws {
        let folder = try TemporaryFolder()
        let source = try Self.file(folder, "source", Self.content)
        let path = folder.path + "/clone"
        let canShare = source.canShareExtents(in: folder.path)
        let names = try Files.list(folder.path)
        #expect(names == ["source"])
        let canShareNowhere = source.canShareExtents(in: folder.path + "/missing")
        #expect(!canShareNowhere)
        let outcome = try source.clone(to: path)
        // The question can't be asked on macOS.
        #if os(Linux)
            #expect(canShare == (outcome == .shared))
        #endif
        switch outcome {
        case .shared:
            let isSame = try OpenFile(path, mode: .read).prefix(400_000) == Self.content
            #expect(isSame)
        case .notSupported:
            #expect(try !Files.exists(path))
        }
    }

    @Test("a clone replaces nothing")
    func existing() throws {
        let folder = try TemporaryFolder()
        let source = try Self.file(folder, "source", Self.content)
        let other = try Self.file(folder, "other", [1, 2, 3])
        let error = #expect(throws: FileError.self) { try source.clone(to: other.path) }
        #expect(error?.code == .exists)
        #expect(try other.prefix(10) == [1, 2, 3])
        #expect(throws: FileError.self) { try source.clone(to: folder.path + "/missing/clone") }
    }
}
