import ArgumentParser
import Causeway
import Foundation

/// Mapping models and policies, side by side with the same work as SQL.
struct Explicit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measures mapping models and policies against the same work as SQL; prints a table.",
        discussion: """
            Works: \(ExplicitWork.all.map { "\($0.name): \($0.title)" }.joined(separator: "; ")).
            A row takes 100 to 300 bytes; the folder needs room for four stores. The results are compared in the first round.
            Numbers count only from a release build: swift run -c release MigrationBenchmark explicit.
            """)

    @Option(help: ArgumentHelp("Which works, separated by commas. (default: all)", valueName: "names"))
    var works: String?

    @Option(help: ArgumentHelp("Rows of the store.", valueName: "rows"))
    var rows = 5_000_000

    @Option(help: ArgumentHelp("How often each contender works.", valueName: "number"))
    var rounds = 3

    @Option(help: ArgumentHelp("Where the stores go while it runs.", valueName: "folder"), completion: .directory)
    var folder = NSTemporaryDirectory()

    @Option(help: ArgumentHelp("Worker threads of the migration. (default: one per core)", valueName: "threads"))
    var jobs: Int?

    @Option(help: ArgumentHelp("A file for the figures as JSON.", valueName: "file"), completion: .file())
    var json: String?

    func validate() throws {
        guard rounds >= 1, rows >= 100 else { throw ValidationError("--rounds must be 1 or more, --rows 100 or more.") }
        _ = try chosen()
    }

    private func chosen() throws -> [ExplicitWork] {
        guard let works else { return ExplicitWork.all }
        return try works.split(separator: ",").map { name in
            guard let work = ExplicitWork.named(String(name)) else {
                throw ValidationError("--works: there is no work \(name).")
            }
            return work
        }
    }

    func run() async throws {
        try Machine.checkBuild()
        var reports: [ExplicitReport.Work] = []
        let scratch = try Scratch(in: folder)
        defer { scratch.remove() }
        for work in try chosen() { reports.append(try measure(work, scratch)) }
        let report = ExplicitReport(machine: Machine(scratch.folder), rows: rows, works: reports)
        print(report.table)
        if let json { try FigureFile.json(report).write(to: URL(fileURLWithPath: json)) }
    }

    private func measure(_ work: ExplicitWork, _ scratch: Scratch) throws -> ExplicitReport.Work {
        let folder = scratch.folder.appendingPathComponent(work.name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = folder.appendingPathComponent("source.sqlite").path
        try work.prepare(source, rows: rows, in: folder)
        let place = ExplicitPlace(folder: folder, source: source)
        var outcomes = [[Outcome]](repeating: [], count: work.contenders.count)
        for round in 1...rounds {
            for (index, contender) in work.contenders.enumerated() {
                try place.settle()
                let outcome = try place.measure(work, contender, jobs: jobs)
                outcomes[index].append(outcome)
                say("\(work.name), round \(round) of \(rounds): \(contender.name): \(outcome.seconds) s")
                guard contender.isMigration else { continue }
                if round == 1, contender.target == work.target { try place.compare(work) }
                try place.remove(place.migrated)
            }
            try place.remove(place.byHand)
        }
        let series = outcomes.map { Series($0) }
        return ExplicitReport.Work(
            name: work.name, title: work.title, storeBytes: try Workplace.size(source),
            contenders: zip(work.contenders, series).map { contender, figures in
                let base = series[work.contenders.firstIndex { $0.name == contender.base } ?? 0]
                return ExplicitReport.Contender(
                    name: contender.name, base: contender.base, promised: contender.promised,
                    timesAsFast: Ratio(base.ratios(to: figures)), figures: figures)
            })
    }
}

/// The files of one work.
struct ExplicitPlace {
    let folder: URL
    let source: String

    var byHand: String { folder.appendingPathComponent("by-hand.sqlite").path }
    var migrated: String { folder.appendingPathComponent("migrated.sqlite").path }

    /// The same state of the page cache for everybody.
    func settle() throws {
        sync()
        try Ballast(in: folder).fill()
        try Workplace.warm(source)
    }

    func remove(_ store: String) throws {
        if FileManager.default.fileExists(atPath: store) { try FileManager.default.removeItem(atPath: store) }
    }

    func measure(_ work: ExplicitWork, _ contender: ExplicitWork.Contender, jobs: Int?) throws -> Outcome {
        let measuring = Measuring(folder: folder)
        guard contender.isMigration else {
            let script = folder.appendingPathComponent("transfer.sql").path
            try work.script(for: source, in: folder).write(toFile: script, atomically: true, encoding: .utf8)
            return try measuring.outcome { programs in
                try programs.runShell(script, on: byHand)
                try Programs.sync(byHand)
                try Programs.sync(folder.path)
                return nil
            }
        }
        let arguments =
            [
                "explicit-once", source, migrated, "--work", work.name, "--folder", folder.path, "--contender",
                contender.name,
            ] + (jobs.map { ["--jobs", String($0)] } ?? [])
        return try measuring.outcome { programs in try programs.runSelf(arguments) }
    }

    /// - Throws: where a table that the SQL fills has other rows than the migration's.
    func compare(_ work: ExplicitWork) throws {
        let database = try Database(byHand)
        try database.execute("ATTACH '\(migrated)' AS other")
        for table in work.tables {
            for (here, there) in [("main", "other"), ("other", "main")] {
                let only = try database.integer(
                    "SELECT count(*) FROM (SELECT * FROM \(here).\(table) EXCEPT SELECT * FROM \(there).\(table))")
                guard only == 0 else {
                    throw BenchmarkError(
                        "\(work.name): \(only) rows of \(table) are only in \(here) of the two results")
                }
            }
        }
    }
}

/// One migration of an explicit work, with everything that belongs to it.
struct ExplicitOnce: AsyncParsableCommand {
    static let configuration = CommandConfiguration(shouldDisplay: false)

    @Argument var source: String
    @Argument var result: String
    @Option var work: String
    @Option var folder: String
    @Option var contender: String
    @Option var jobs: Int?

    func run() async throws {
        guard let work = ExplicitWork.named(work),
            let contender = work.contenders.first(where: { $0.name == contender })
        else { throw BenchmarkError("there is no such work") }
        let migrator = work.migrator(
            store: source, output: result, in: URL(fileURLWithPath: folder), contender, jobs: jobs)
        try await MigrationAccount(running: migrator).printed()
    }
}

/// What is printed.
struct ExplicitReport: Encodable {
    struct Contender: Encodable {
        let name: String
        /// The contender whose time counts as 1.
        let base: String
        let promised: Double?
        let timesAsFast: Ratio?
        let figures: Series
    }

    struct Work: Encodable {
        let name: String
        let title: String
        let storeBytes: Int
        let contenders: [Contender]
    }

    let machine: Machine
    let rows: Int
    let works: [Work]

    var table: String {
        var table = TextColumns(["work", "contender", "s", "times as fast", "as", "promised", "cpu s", "RSS MB"])
        for work in works {
            for contender in work.contenders {
                table.add([
                    work.name, contender.name, String(format: "%.2f", contender.figures.seconds),
                    contender.timesAsFast.map { String(format: "%.2f", $0.median) } ?? "–", contender.base,
                    contender.promised.map { "≥ \($0)" } ?? "–",
                    String(format: "%.2f", contender.figures.median(\.processorSeconds)),
                    contender.figures.peakMemoryBytes?.megabytes ?? "–",
                ])
            }
        }
        return table.text
    }
}
