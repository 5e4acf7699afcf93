import CausewayFuzzTargets
import Foundation
import Testing

@Suite("Fuzz corpora", .timeLimit(.minutes(60)))
struct CorpusTests {
    /// Limits in bytes, of one committed input and of all inputs of a target.
    private static let limits = (file: 8 * 1024, target: 200 * 1024, files: 50)
    /// Mutations of each target; libFuzzer tries as many in some milliseconds. Where libFuzzer isn't available,
    /// CAUSEWAY_MUTATIONS sets another number and CAUSEWAY_MUTATION_SEED other seeds.
    private static let mutations = number("CAUSEWAY_MUTATIONS") ?? 120

    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

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
        let seed = target.rawValue.utf8.reduce(Self.number("CAUSEWAY_MUTATION_SEED") ?? 0) { $0 &* 31 &+ Int($1) }
        var random = SeededRandom(UInt64(truncatingIfNeeded: seed))
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

    @Test("fuzzing of records starts from one of each kind that this release reads")
    func records() throws {
        let kinds = try Corpus(.records).files().compactMap { WorkRecord(reading: Array(try Data(contentsOf: $0))) }
        #expect(Set(kinds) == Set(WorkRecord.allCases))
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
