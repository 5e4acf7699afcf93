import ArgumentParser
import Causeway
import CausewayGenerator
import Foundation

/// Generates stores, lets the kinds of work take turns, and prints a report.
struct Measure: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Generates stores, measures, and prints JSON on standard output. (default)",
        discussion: """
            Give a folder on the disk that matters. It needs room for three stores; a row takes about 1 kB.
            Numbers count only from a release build: swift run -c release MigrationBenchmark.
            """)

    @Option(
        help: ArgumentHelp("Rows of a store; several, separated by commas, give several stores.", valueName: "rows"))
    var rows = "200000"

    @Option(help: ArgumentHelp("How often each kind of work runs.", valueName: "number"))
    var rounds = 5

    @Option(help: ArgumentHelp("Where the stores go while it runs.", valueName: "folder"), completion: .directory)
    var folder = NSTemporaryDirectory()

    @Option(help: ArgumentHelp("Worker threads of the migration. (default: one per core)", valueName: "threads"))
    var jobs: Int?

    @Flag(help: "Compare the two results row by row first, which takes as long as a round.")
    var compare = false

    func validate() throws {
        guard rounds >= 1 else { throw ValidationError("--rounds must be 1 or more.") }
        guard !sizes.isEmpty, sizes.allSatisfy({ $0 >= 1 }) else {
            throw ValidationError("--rows must be numbers of 1 or more, separated by commas.")
        }
    }

    func run() async throws {
        let scratch = URL(fileURLWithPath: folder).appendingPathComponent("causeway-benchmark-\(getpid())")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        var cases: [Report.Case] = []
        for rows in sizes { cases.append(try measure(rows, in: scratch)) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        print(String(decoding: try encoder.encode(Report(cases: cases)), as: UTF8.self))
    }

    /// Empty where one of them is no number.
    private var sizes: [Int] {
        let parts = rows.split(separator: ",", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { Int($0) }
        return numbers.count == parts.count ? numbers : []
    }

    private func measure(_ rows: Int, in scratch: URL) throws -> Report.Case {
        let files = Files(scratch)
        try files.clear()
        say("generating \(rows) rows")
        var generation = StoreGeneration(model: Newsroom.models, output: files.source, rows: rows, seed: 1)
        generation.version = Newsroom.source
        let counts = try generation.run()
        try Newsroom.script(for: files.source).write(toFile: files.script, atomically: true, encoding: .utf8)
        let work: [Work] = [.copy, .transfer, .migrate]
        var results: [Work: [Outcome]] = [:]
        if compare { try compareResults(files) }
        for round in 1...rounds {
            for kind in work {
                let outcome = try ChildProcess.run(kind.arguments(files, jobs: jobs))
                say("round \(round) of \(rounds): \(kind.rawValue) \(outcome.seconds.rounded3) s")
                results[kind, default: []].append(outcome)
                try files.clearResults()
            }
        }
        let bytes = try files.sourceBytes()
        try files.clear()
        return Report.Case(
            rows: counts.values.reduce(0, +), links: results[.migrate]?.first.flatMap(\.rows).map { $0 - rows } ?? 0,
            storeBytes: bytes, copy: Report.Series(results[.copy] ?? []),
            transfer: Report.Series(results[.transfer] ?? []),
            migrate: Report.Series(results[.migrate] ?? []))
    }

    private func compareResults(_ files: Files) throws {
        say("comparing the results")
        for kind in [Work.transfer, .migrate] { _ = try ChildProcess.run(kind.arguments(files, jobs: jobs)) }
        let differences = try Newsroom.differences(files.result(.transfer), files.result(.migrate))
        guard differences.isEmpty else {
            throw BenchmarkError("the results differ: \(differences.joined(separator: ", "))")
        }
        try files.clearResults()
    }

    private func say(_ text: String) {
        FileHandle.standardError.write(Data("\(text)\n".utf8))
    }
}

/// The files of one measurement.
struct Files {
    let source: String
    let script: String
    private let folder: URL

    init(_ folder: URL) {
        self.folder = folder
        source = folder.appendingPathComponent("source.sqlite").path
        script = folder.appendingPathComponent("transfer.sql").path
    }

    func result(_ work: Work) -> String { folder.appendingPathComponent("\(work.rawValue).sqlite").path }

    func sourceBytes() throws -> Int {
        (try FileManager.default.attributesOfItem(atPath: source)[.size] as? NSNumber)?.intValue ?? 0
    }

    /// Removes everything but the source and the script.
    func clearResults() throws {
        try remove { !$0.hasPrefix("source.sqlite") && $0 != "transfer.sql" }
    }

    /// Removes everything.
    func clear() throws {
        try remove { _ in true }
    }

    private func remove(_ isOurs: (String) -> Bool) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where isOurs(name) {
            try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
        }
    }
}
