import CausewayDeflate
import CausewayModel
import CausewayPlist
import Testing

/// Repeatable noise (Knuth's MMIX constants).
private struct Noise: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ state >> 33
    }
}

@Suite("Damaged models", .timeLimit(.minutes(60)), .enabled(if: SharedStores.exist, "shared/stores is missing"))
struct HostileModelTests {
    private func mutated(_ bytes: [UInt8], _ noise: inout Noise) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &noise) {
            let position = Int.random(in: 0..<bytes.count, using: &noise)
            switch Int.random(in: 0..<4, using: &noise) {
            case 0: bytes[position] = UInt8.random(in: 0...255, using: &noise)
            case 1: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &noise)
            case 2: bytes.removeSubrange(position..<min(bytes.count, position + 3))
            default: bytes.insert(contentsOf: bytes[position..<min(bytes.count, position + 9)], at: position)
            }
            if bytes.isEmpty { bytes = [0] }
        }
        return bytes
    }

    @Test("a mutated compiled model is read or refused", arguments: SharedStores.compiled)
    func compiled(path: String) throws {
        let original = try SharedStores.bytes(path)
        var noise = Noise(state: 17)
        for _ in 0..<500 {
            let bytes = mutated(original, &noise)
            guard let model = try? ModelReader.model(compiled: bytes) else { continue }
            _ = VersionHashes(model)
            _ = try? ModelCacheWriter.cache(of: model)
        }
    }

    @Test("a mutated source of before Xcode 4 is read or refused")
    func editor() throws {
        let original = try EditorArchive.bytes(EditorModelTests.entities, identifier: "1")
        var noise = Noise(state: 23)
        for _ in 0..<3_000 {
            guard let model = try? ModelReader.model(compiled: mutated(original, &noise)) else { continue }
            _ = VersionHashes(model)
        }
    }

    @Test("an archive with one reference or value exchanged is read or refused")
    func exchangedReferences() throws {
        let bytes = try RawDeflate.inflate(
            #require(SharedStores.identity("coredataplus/SampleModel2_V2.sqlite").cache), limit: 1 << 24)
        guard case .dictionary(var top) = try PropertyList(parsing: bytes), case .array(let objects)? = top["$objects"]
        else {
            Issue.record("The cache is no archive.")
            return
        }
        var noise = Noise(state: 4)
        for _ in 0..<1_500 {
            var changed = objects
            let position = Int.random(in: 1..<objects.count, using: &noise)
            guard case .dictionary(var fields) = changed[position],
                let key = fields.keys.sorted().randomElement(using: &noise)
            else { continue }
            let replacements: [PropertyList] = [
                .uid(UInt64.random(in: 0..<UInt64(objects.count), using: &noise)), .integer(.max), .integer(.min),
                .boolean(true), .real(.nan), .string("x"), .array([.uid(UInt64(position))]),
            ]
            fields[key] = replacements.randomElement(using: &noise)
            changed[position] = .dictionary(fields)
            top["$objects"] = .array(changed)
            let archive = try BinaryPropertyListWriter.bytes(of: .dictionary(top))
            guard let model = try? ModelReader.model(compiled: archive) else { continue }
            _ = VersionHashes(model)
            _ = try? ModelCacheWriter.cache(of: model)
        }
    }

    @Test("mutated source is read or refused")
    func source() throws {
        let original = try SharedStores.bytes("wire/ZMEventModel.xcdatamodeld/ZMEventModel3.0.xcdatamodel/contents")
        var noise = Noise(state: 99)
        for _ in 0..<1_000 {
            guard let model = try? ModelReader.model(source: mutated(original, &noise)) else { continue }
            _ = VersionHashes(model)
        }
    }

    @Test("a cache that is missing, cut short or followed by bytes is refused")
    func caches() throws {
        let cache = try #require(SharedStores.identity("students/OldStudentsStore.sqlite").cache)
        func code(_ bytes: [UInt8]?) throws -> ModelError.Code {
            try #require(throws: ModelError.self) { try ModelReader.model(cache: bytes) }.code
        }
        #expect(try code(nil) == .emptyCache)
        #expect(try code([]) == .emptyCache)
        #expect(try code(Array(cache.dropLast(9))) == .damaged)
        #expect(try code(Array(cache.prefix(20))) == .damaged)
        #expect(try code(cache + [0, 1, 2]) == .damaged)
        #expect(try code([0xFF, 0xFF, 0xFF]) == .damaged)
    }

    @Test("a cache that would inflate beyond the limit is refused")
    func bomb() throws {
        let bomb = try RawDeflate.deflate([UInt8](repeating: 0, count: ModelLimits.fileSize + 1))
        let error = try #require(throws: ModelError.self) { try ModelReader.model(cache: bomb) }
        #expect(error.code == .limitExceeded)
    }

    @Test("an archive of something else is refused by name")
    func otherArchives() throws {
        let error = try #require(throws: ModelError.self) {
            try ModelReader.model(compiled: SharedStores.bytes("coredataplus/V2toV3.cdm"))
        }
        #expect(error.code == .notAModel)
        #expect(error.message.contains("mapping model"))
    }

    @Test("composite types that multiply are refused, not expanded")
    func compositeBomb() throws {
        var content = "<entity name='E'><attribute name='a' attributeType='Composite' composite='C0'/></entity>"
        for level in 0..<14 {
            let elements = (0..<8).map {
                "<attribute name='e\($0)' attributeType='Composite' composite='C\(level + 1)'/>"
            }
            content += "<composite name='C\(level)'>\(elements.joined())</composite>"
        }
        content += "<composite name='C14'><attribute name='x' attributeType='String'/></composite>"
        let error = try #require(throws: ModelError.self) {
            try ModelReader.model(source: CausewayModelTests.source(content))
        }
        #expect(error.code == .inconsistent)
    }
}
