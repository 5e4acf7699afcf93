import ArgumentParser
import Foundation

/// The page engine beside the statement engine, SQL by hand, copies and another tool.
struct Pages: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measures both engines beside SQL by hand, VACUUM INTO, cp and sqlite-utils. (default)",
        discussion: """
            Works, all of them on generated stores:
            \(Job.allCases.map { "  \($0.rawValue)  \($0.title)" }.joined(separator: "\n"))

            Contenders: \(Contender.names.keys.sorted().joined(separator: ", ")).

            All results of the first round are compared row by row; everybody's result is on the disk when the clock stops.
            Results: a table on standard output, JSON and plots where you say. The folder needs room for five stores of
            the largest size. Work e needs root and mkfs.xfs, and room for another five. What isn't installed is skipped \
            and named. Numbers count only from a release build on a machine that does nothing else.
            """)

    @Option(help: ArgumentHelp("Sizes of the stores in GB, separated by commas.", valueName: "GB"))
    var sizes = GigabyteList(gigabytes: [0.2, 2, 8])

    @Option(help: ArgumentHelp("How often each contender works.", valueName: "number"))
    var rounds = 5

    @Option(help: ArgumentHelp("Which works, separated by commas.", valueName: "works"))
    var works = JobList(jobs: Job.allCases)

    @Option(help: ArgumentHelp("Who works in the first round only, separated by commas.", valueName: "names"))
    var once = ContenderList(contenders: [])

    @Option(help: ArgumentHelp("Who doesn't work, separated by commas.", valueName: "names"))
    var without = ContenderList(contenders: [])

    @Option(help: ArgumentHelp("Where the stores go while it runs.", valueName: "folder"), completion: .directory)
    var folder = NSTemporaryDirectory()

    @Option(help: ArgumentHelp("A file for the figures as JSON.", valueName: "file"), completion: .file())
    var json: String?

    @Option(help: ArgumentHelp("A folder for plots as SVG.", valueName: "folder"), completion: .directory)
    var plots: String?

    @Flag(help: "Don't compare results; for profiling only.")
    var unchecked = false

    func validate() throws {
        guard rounds >= 1 else { throw ValidationError("--rounds must be 1 or more.") }
    }

    func run() async throws {
        try Machine.checkBuild()
        let scratch = try Scratch(in: folder)
        defer { scratch.remove() }
        let largest = Int((sizes.gigabytes.max() ?? 0) * 1e9)
        let isShared = works.jobs.contains(.e)
        try Scratch.check(
            room: Workplace.room(forStoreOf: largest) + (isShared ? Workplace.room(forStoreOf: largest) : 0),
            in: scratch.folder)
        var report = PagesReport(machine: Machine(scratch.folder), rounds: rounds)
        for gigabytes in sizes.gigabytes.sorted() {
            try measure(bytes: Int(gigabytes * 1e9), in: scratch, into: &report)
        }
        print(report.targetTable)
        if report.hasFailures { throw ExitCode.failure }
    }

    /// All works on stores of one size. Works on the same store share it.
    private func measure(bytes: Int, in scratch: Scratch, into report: inout PagesReport) throws {
        let jobs = works.jobs
        for shape in [Archive.Shape.spread, .single] {
            let here = jobs.filter { $0.shape == shape && $0 != .e }
            guard !here.isEmpty else { continue }
            let place = Workplace(shape, in: scratch.folder)
            let rows = try place.generate(bytes: bytes)
            for job in here { try measure(job, bytes, rows, at: place, into: &report) }
            try place.clear()
        }
        guard jobs.contains(.e) else { return }
        guard let disk = try SharingDisk.make(bytes: Workplace.room(forStoreOf: bytes), in: scratch) else {
            return report.skipped.append("\(Job.e.rawValue), \(bytes.megabytes) MB: \(SharingDisk.need)")
        }
        defer { disk.remove() }
        let place = Workplace(Job.e.shape, in: scratch.folder.appendingPathComponent("beside"), on: disk.folder)
        try FileManager.default.createDirectory(at: place.folder, withIntermediateDirectories: true)
        let rows = try place.generate(bytes: bytes)
        try measure(.e, bytes, rows, at: place, into: &report)
        try place.clear()
    }

    private func measure(
        _ job: Job, _ bytes: Int, _ rows: Int, at place: Workplace, into report: inout PagesReport
    ) throws {
        say("work \(job.rawValue), \(bytes.megabytes) MB: \(job.title)")
        let entrants = job.entrants.filter { !without.contenders.contains($0.contender) }
        let results = try Rounds(
            place: place, entrants: entrants, count: rounds, once: once.contenders, checks: !unchecked
        ).run()
        let store = PagesReport.Store(
            nominalBytes: bytes, bytes: try Workplace.size(place.source), rows: rows,
            changedTableBytes: try place.bytes(ofTable: "Z\(Archive.smallTable.uppercased())"),
            fileSystem: Disk.fileSystem(place.disk))
        let group = PagesReport.Group(job: job, store: store, results: results)
        report.groups.append(group)
        // At once: a run that is ended early has shown what it found.
        print(group.table)
        fflush(nil)
        if let json { try FigureFile.json(report).write(to: URL(fileURLWithPath: json)) }
        if let plots { try report.plot(in: URL(fileURLWithPath: plots)) }
    }
}

/// `0.2,2,8`.
struct GigabyteList: ExpressibleByArgument {
    let gigabytes: [Double]

    init(gigabytes: [Double]) {
        self.gigabytes = gigabytes
    }

    init?(argument: String) {
        let parts = argument.split(separator: ",", omittingEmptySubsequences: false)
        gigabytes = parts.compactMap { Double($0) }
        guard gigabytes.count == parts.count, gigabytes.allSatisfy({ (0.01...1_000).contains($0) }) else { return nil }
    }

    var defaultValueDescription: String { gigabytes.map { String(format: "%g", $0) }.joined(separator: ",") }
}

/// `statements,sqlite-utils`.
struct ContenderList: ExpressibleByArgument {
    let contenders: Set<Contender>

    init(contenders: Set<Contender>) {
        self.contenders = contenders
    }

    init?(argument: String) {
        let parts = argument.split(separator: ",", omittingEmptySubsequences: false)
        contenders = Set(parts.compactMap { Contender.names[String($0)] })
        guard contenders.count == parts.count else { return nil }
    }

    var defaultValueDescription: String { "nobody" }
}

/// `a,b,c`.
struct JobList: ExpressibleByArgument {
    let jobs: [Job]

    init(jobs: [Job]) {
        self.jobs = jobs
    }

    init?(argument: String) {
        let parts = argument.split(separator: ",", omittingEmptySubsequences: false)
        jobs = parts.compactMap { Job(rawValue: String($0)) }
        guard jobs.count == parts.count else { return nil }
    }

    var defaultValueDescription: String { jobs.map(\.rawValue).joined(separator: ",") }
}

extension Workplace {
    /// Pages of a table and of its indexes, by SQLite's own count; nil where it is built without one
    /// (https://www.sqlite.org/dbstat.html).
    func bytes(ofTable table: String) throws -> Int? {
        let database = try Database("file:\(source)?immutable=1")
        return try? database.integer(
            """
            SELECT sum(pgsize) FROM dbstat WHERE aggregate = TRUE AND name IN
            (SELECT name FROM sqlite_schema WHERE tbl_name = '\(table)')
            """)
    }
}
