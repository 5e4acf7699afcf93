import CausewayFuzzTargets
import Foundation
import Testing

@Suite("Fuzz corpora")
struct CorpusTests {
    /// Bytes of one committed input, and of all of a target's.
    private static let limits = (file: 8 * 1024, target: 200 * 1024, files: 50)
    /// Mutations of each target; libFuzzer tries as many in some milliseconds.
    private static let mutations = 120

    @Test("every committed input keeps the readers' promises", arguments: FuzzTarget.allCases)
    func replays(target: FuzzTarget) throws {
        for file in try Corpus(target).files() {
            do {
                try target.run(Array(Data(contentsOf: file)))
            } catch {
                Issue.record("\(file.lastPathComponent): \(error)")
            }
        }
    }

    @Test("mutations of committed inputs keep the readers' promises", arguments: FuzzTarget.allCases)
    func mutations(target: FuzzTarget) throws {
        let inputs = try Corpus(target).files().map { Array(try Data(contentsOf: $0)) }
        var random = SeededRandom(UInt64(target.rawValue.utf8.reduce(0) { $0 &* 31 &+ Int($1) }))
        for round in 0..<Self.mutations {
            let first = try #require(inputs.randomElement(using: &random))
            let second = try #require(inputs.randomElement(using: &random))
            let bytes = Mutation.apply(to: first, from: second, &random)
            do {
                try target.run(bytes)
            } catch {
                Issue.record("round \(round): \(error); the input in base64: \(Data(bytes).base64EncodedString())")
            }
        }
    }

    @Test("corpora are small", arguments: FuzzTarget.allCases)
    func sizes(target: FuzzTarget) throws {
        let sizes = try Corpus(target).files().map { try Data(contentsOf: $0).count }
        #expect(!sizes.isEmpty)
        #expect(sizes.count <= Self.limits.files)
        #expect(sizes.allSatisfy { $0 <= Self.limits.file })
        #expect(sizes.reduce(0, +) <= Self.limits.target)
    }

    @Test("seeds can be made from the fixtures; CAUSEWAY_WRITE_CORPORA=1 writes them", arguments: FuzzTarget.allCases)
    func seeds(target: FuzzTarget) throws {
        let corpus = Corpus(target)
        let seeds = try SeedCorpus(fixtures: Corpus.package.appendingPathComponent("Fixtures").path).seeds(of: target)
        #expect(!seeds.isEmpty)
        #expect(Set(seeds.map(\.name)).count == seeds.count)
        guard ProcessInfo.processInfo.environment["CAUSEWAY_WRITE_CORPORA"] != nil else { return }
        try FileManager.default.createDirectory(at: corpus.folder, withIntermediateDirectories: true)
        for seed in seeds { try Data(seed.bytes).write(to: corpus.folder.appendingPathComponent(seed.name)) }
    }
}
