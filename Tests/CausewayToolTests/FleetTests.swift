import Foundation
import Testing

/// The article on fleets: 50 stores, three of them bad, by every way that it shows.
@Suite("Fleets", .timeLimit(.minutes(60)))
struct FleetTests {
    private let recipes: Recipes
    private let place: RecipeFolder

    init() throws {
        recipes = try Recipes(article: "Fleets")
        place = try RecipeFolder()
        try place.makeFleet()
        let job = try #require(try recipes.scripts("The job").first)
        try Data(job.utf8).write(to: URL(fileURLWithPath: place.folder.path("migrate-one.sh")))
        try place.run("ls Stores/*.sqlite >stores.txt; mkdir -p Logs")
    }

    /// Every good store has its result, no bad one has; the sources are as they were.
    private func expectResults(_ count: Int = 47, _ place: SourceLocation = #_sourceLocation) throws {
        let results = (try? FileManager.default.contentsOfDirectory(atPath: self.place.folder.path("Results"))) ?? []
        let names = results.filter { !$0.hasPrefix(".") }
        #expect(names.count == count, "\(names)", sourceLocation: place)
        #expect(!names.contains { name in RecipeFolder.bad.contains { name.hasPrefix($0) } }, sourceLocation: place)
        #expect(results.filter { $0.hasSuffix(".migration") } == [], sourceLocation: place)
        #expect(try self.place.version(of: "Results/s01.sqlite") == "v3", sourceLocation: place)
        #expect(try self.place.version(of: "Stores/s01.sqlite") == "v1", sourceLocation: place)
    }

    private static func has(_ program: String) -> Bool {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
        }
    }

    @Test("xargs goes on after failures, and says that there were some", .enabled(if: has("xargs"), "no xargs"))
    func xargs() throws {
        let script = try #require(try recipes.scripts("xargs").first)
        let run = try place.run(script)
        #expect(run.status == 123, "\(run.output)")
        try expectResults()
        for name in RecipeFolder.bad {
            let log = try String(contentsOfFile: place.folder.path("Logs/\(name).sqlite.log"), encoding: .utf8)
            #expect(log.hasPrefix("error: ") && log.contains(name))
        }
        // A second run has nothing to do but what failed.
        #expect(try place.run(script).status == 123)
        try expectResults()
    }

    @Test(
        "GNU parallel gives the number of failures, and runs only these again",
        .enabled(if: has("parallel"), "GNU parallel isn't installed"))
    func parallel() throws {
        let scripts = try recipes.scripts("GNU parallel")
        // It asks for a citation once.
        let home = ["HOME": place.folder.url.path, "PARALLEL_HOME": place.folder.url.path]
        try place.run("touch will-cite")
        let run = try place.run(scripts[0], environment: home)
        #expect(run.status == 3, "\(run.output)")
        try expectResults()
        func jobs() throws -> Int {
            try String(contentsOfFile: place.folder.path("jobs.tsv"), encoding: .utf8).split(separator: "\n").count - 1
        }
        #expect(try jobs() == 50)
        #expect(try place.run(scripts[1], environment: home).status == 3)
        #expect(try jobs() == 53)
    }

    @Test("Slurm's script takes its store by the number of its task, and gives the job's status")
    func slurm() throws {
        let script = try #require(try recipes.scripts("Slurm").first)
        let bad = Set([11, 23, 42])
        for task in 1...50 where task < 4 || bad.contains(task) || task == 50 {
            let run = try place.run(script, environment: ["SLURM_ARRAY_TASK_ID": "\(task)", "SLURM_ARRAY_JOB_ID": "7"])
            #expect(run.status == (bad.contains(task) ? 65 : 0), "\(task): \(run.output)")
        }
        try expectResults(4)
    }

    @Test("Kubernetes' container takes its store by the index of its pod, from 0")
    func kubernetes() throws {
        let manifest = try #require(try recipes.scripts("Kubernetes").first)
        let lines = manifest.split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex { $0.hasSuffix("- |") })
        let script = lines[(start + 1)...].prefix { $0.hasPrefix(String(repeating: " ", count: 14)) }
            .map { $0.dropFirst(14) }.joined(separator: "\n")
        #expect(script.contains("JOB_COMPLETION_INDEX"))
        for index in [0, 1, 2, 10, 49] {
            let run = try place.run(script, environment: ["JOB_COMPLETION_INDEX": "\(index)"])
            #expect(run.status == (index == 10 ? 65 : 0), "\(index): \(run.output)")
        }
        try expectResults(4)
        // Statuses that pass are those of the article on failures.
        #expect(manifest.contains("[74, 75, 130, 143]"))
    }
}
