import CausewayPlatform
import CausewayReliabilityKit
import Foundation
import Testing

@Suite("Reliability report", .timeLimit(.minutes(60)))
struct ReportTests {
    @Test("the table has a line a harness, a sum, and every failure with its replay")
    func table() {
        let tally = Tally("kills")
        tally.survived("place")
        tally.failed("round 3: lost\n    replay: x", rowsLost: 2)
        tally.skip("no root")
        let lines = ReportTable([HarnessReport(tally)]).lines
        let heads = "HARNESS TRIED DIFFERENT SURVIVED FAILED ROWS LOST SECONDS"
        #expect(lines[0].split(separator: " ").joined(separator: " ") == heads)
        #expect(lines[1].split(separator: " ") == ["kills", "2", "2", "1", "1", "2", "0.0"])
        #expect(lines[2].split(separator: " ") == ["all", "2", "2", "1", "1", "2", "0.0"])
        #expect(lines.contains("kills: SKIPPED no root"))
        #expect(lines.contains("kills: FAILED round 3: lost\n    replay: x"))
        #expect(!tally.result.isClean)
    }

    @Test("the report can be read again")
    func json() throws {
        let run = try HarnessRun()
        defer { run.remove() }
        var report = RunReport(run.settings, command: ["reliability", "--quick"])
        let tally = Tally("kills")
        tally.survived()
        report.harnesses = [HarnessReport(tally)]
        let path = run.settings.scratch + "/report.json"
        try report.write(to: path)
        let read = try JSONDecoder().decode(RunReport.self, from: try Data(contentsOf: URL(filePath: path)))
        #expect(read.command == "reliability --quick")
        #expect(read.harnesses.first?.result.tried == 1)
        #expect(read.isClean)
        #expect(!read.commit.isEmpty)
    }

    @Test("the same seed gives the same cases, another seed gives others")
    func seeds() {
        func numbers(_ seed: UInt64, _ name: String, _ index: Int) -> [UInt64] {
            var random = SeededRandom(seed: seed, harness: name, case: index)
            return (0..<4).map { _ in random.next() }
        }
        #expect(numbers(1, "kills", 0) == numbers(1, "kills", 0))
        #expect(
            Set([numbers(1, "kills", 0), numbers(2, "kills", 0), numbers(1, "faults", 0), numbers(1, "kills", 1)]).count
                == 4)
    }

    @Test("every mutant has a harness that should catch it, and every such harness exists")
    func mutants() {
        for mutant in Mutant.allCases {
            let trials = MutantTrial.engines(of: mutant).flatMap { MutantTrial.trials(of: mutant, on: $0) }
            #expect(!trials.isEmpty)
            for trial in trials { #expect(Harness.named(trial.harness) != nil, "\(trial.harness)") }
        }
        #expect(Mutant.allCases.count >= 12)
    }

    @Test("a harness that can't work counts as failed, and differs from one that has found something")
    func breakdowns() {
        let broken = Harness("broken", "nothing") { _ in throw HarnessError("no disk") }
        let settings = HarnessSettings(seed: 1, binaries: "/nowhere", scratch: "/nowhere")
        let report = broken.run(settings)
        #expect(!report.result.isClean)
        #expect(report.breakdown == "no disk")
        #expect(ReportTable([report]).lines.contains("broken: FAILED the harness couldn't work: no disk"))
        #expect(HarnessReport(Tally("kills")).breakdown == nil)
    }

    @Test("a case that doesn't exist isn't counted")
    func untried() {
        let tally = Tally("faults")
        #expect(tally.judgeWhereTried("one") { false })
        #expect(tally.result.tried == 0)
        #expect(tally.judgeWhereTried("two", kind: "x") { true })
        #expect(!tally.judgeWhereTried("three") { throw HarnessError("lost") })
        #expect(tally.result.tried == 2)
        #expect(tally.result.failures == ["three: lost"])
    }

    @Test("a child may write to a pipe without a reader, and its errors to another file")
    func outputs() throws {
        let run = try HarnessRun()
        defer { run.remove() }
        let (output, errors) = (run.settings.scratch + "/out", run.settings.scratch + "/errors")
        var command = ChildRun.Command("/bin/sh", ["-c", "echo bad >&2; echo word"], output: output)
        command.errors = errors
        #expect(try ChildRun.run(command) == .exited(0))
        #expect(ChildRun.tail(of: output) == "word\n")
        #expect(ChildRun.tail(of: errors) == "bad\n")
        // The shell's own output ends it.
        command.isUnread = true
        #expect(try ChildRun.run(command) == .signalled(13))
    }

    @Test("a child's end is reported: exit code, signal, hang")
    func children() throws {
        let run = try HarnessRun()
        defer { run.remove() }
        func end(_ script: String, limit: Double = 20) throws -> ChildRun.Ending {
            try ChildRun.run(
                .init("/bin/sh", ["-c", script], environment: ["CODE": "7"], output: run.settings.scratch + "/out"),
                limit: limit)
        }
        #expect(try end("echo word; exit $CODE") == .exited(7))
        #expect(ChildRun.tail(of: run.settings.scratch + "/out") == "word\n")
        #expect(try end("kill -15 $$") == .signalled(15))
        #expect(try end("sleep 30", limit: 0.2) == .hung)
        #expect(throws: FileError.self) {
            try ChildRun(.init("/nowhere/tool", [], output: run.settings.scratch + "/out"))
        }
    }
}
