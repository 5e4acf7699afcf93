import ArgumentParser
import Causeway
import CausewayGenerator
import Foundation

/// Whether the time of planning grows with the model alone.
struct Planning: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measures how the time of planning grows with the model.",
        discussion: """
            Plans a path of three versions with a number of entities and with twice as many, fused and step by step, over
            stores of few rows. The first step drops an entity for each two that stay, and the second makes as many
            to-ones mandatory that are found through their inverses alone. Linear time doubles; quadratic time is four
            times as long.
            """)

    @Option(help: ArgumentHelp("Pairs of entities in the smaller model; at most 333.", valueName: "number"))
    var pairs = 320

    @Option(help: ArgumentHelp("How often each path is planned; the fastest counts.", valueName: "number"))
    var rounds = 3

    @Option(help: ArgumentHelp("Where the stores go while it runs.", valueName: "folder"), completion: .directory)
    var folder = NSTemporaryDirectory()

    func validate() throws {
        guard (1...333).contains(pairs), rounds >= 1 else {
            throw ValidationError("--pairs must be 1 to 333, --rounds 1 or more.")
        }
    }

    func run() async throws {
        try Machine.checkBuild()
        let scratch = try Scratch(in: folder)
        defer { scratch.remove() }
        var seconds: [[Double]] = []
        for count in [pairs, 2 * pairs] {
            let (store, models) = try Self.make(count, in: scratch.folder)
            seconds.append(try [true, false].map { try fastest(store, models, fuses: $0) })
        }
        for (place, name) in ["fused", "step by step"].enumerated() {
            let (first, second) = (seconds[0][place], seconds[1][place])
            let figures = String(
                format: "%.3f s with %d pairs, %.3f s with %d: %.2f times", first, pairs, second, 2 * pairs,
                second / first)
            print("\(name): \(figures)")
        }
    }

    private func fastest(_ store: String, _ models: String, fuses: Bool) throws -> Double {
        var best = Double.infinity
        for _ in 0..<rounds {
            var options = MigrationOptions()
            options.fusesSteps = fuses
            let start = ContinuousClock.now
            _ = try Migrator(store: store, models: models, options: options).plan()
            best = min(best, (ContinuousClock.now - start).inSeconds)
        }
        return best
    }

    private static func make(_ pairs: Int, in folder: URL) throws -> (store: String, models: String) {
        let models = folder.appendingPathComponent("M\(pairs).xcdatamodeld")
        for version in 1...3 {
            let model = models.appendingPathComponent("V\(version).xcdatamodel")
            try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
            try Data(text(pairs, version).utf8).write(to: model.appendingPathComponent("contents"))
        }
        let store = folder.appendingPathComponent("S\(pairs).sqlite").path
        var generation = StoreGeneration(model: models.path, output: store, rows: 10, seed: 1)
        generation.version = "V1"
        _ = try generation.run()
        return (store, models.path)
    }

    private static func text(_ pairs: Int, _ version: Int) -> String {
        let (owner, isOptional) = version == 3 ? ("writer", "NO") : ("author", "YES")
        let entities = (0..<pairs).map { number in
            """
            <entity name="A\(number)"><relationship name="books" optional="YES" toMany="YES" \
            destinationEntity="B\(number)" inverseName="\(owner)" inverseEntity="B\(number)"/></entity>
            <entity name="B\(number)"><relationship name="\(owner)" optional="\(isOptional)" maxCount="1" \
            destinationEntity="A\(number)" inverseName="books" inverseEntity="A\(number)"/></entity>
            """ + (version == 1 ? "<entity name=\"D\(number)\"/>" : "")
        }
        return """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">\(entities.joined())</model>
            """
    }
}
