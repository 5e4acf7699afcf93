import CausewayEngine
import CausewayPreparation
import CausewayStores
import Testing

/// How far a run is and how long the rest takes, by a clock of the test's own.
@Suite("The estimate of a run's work", .timeLimit(.minutes(60)))
struct WorkEstimateTests {
    /// Two steps: 1,000 rows each, phases whose proportions are as planned below.
    private static let plan = WorkPlan(
        [
            WorkPlan.Phase(.check, seconds: 1),
            WorkPlan.Phase(.rows, step: 0, seconds: 4, rows: 1_000), WorkPlan.Phase(.indexes, step: 0, seconds: 2),
            WorkPlan.Phase(.verification, step: 0, seconds: 2),
            WorkPlan.Phase(.rows, step: 1, seconds: 4, rows: 1_000), WorkPlan.Phase(.indexes, step: 1, seconds: 2),
            WorkPlan.Phase(.verification, step: 1, seconds: 2), WorkPlan.Phase(.swap, seconds: 1),
        ], rowsOfStep: 1_000)

    /// A run whose clock the test moves; every progress is recorded.
    private struct Run {
        var meter = WorkMeter(verification: .quick, now: 0)
        var now = 0.0
        var shown: [MigrationProgress] = []

        init(_ plan: WorkPlan = WorkEstimateTests.plan) {
            meter.begin(plan, now: 0)
        }

        mutating func tell(_ event: EngineEvent) {
            meter.receive(event, now: now)
        }

        @discardableResult
        mutating func wait(_ seconds: Double) -> MigrationProgress {
            now += seconds
            let progress = meter.progress(now: now) ?? MigrationProgress()
            shown.append(progress)
            return progress
        }

        /// Moves rows one after another, at a rate.
        mutating func move(_ rows: ClosedRange<Int>, perSecond rate: Double) {
            for row in stride(from: rows.lowerBound, through: rows.upperBound, by: 100) {
                tell(.progress(rows: row, bytes: row * 10, totalRows: 2_000))
                wait(100 / rate)
            }
        }

        /// A whole run that is slower than planned by a factor, and its check by another.
        mutating func runWhole(slower factor: Double, check: Double? = nil) {
            func split(_ seconds: Double, _ factor: Double) -> [Double] {
                Array(repeating: seconds * factor / 8, count: 8)
            }
            tell(.phaseBegan("check"))
            for part in split(1, check ?? factor) { wait(part) }
            for step in 0...1 {
                tell(.stepBegan(versions: ["a", "b"], index: step, count: 2, rows: 0))
                tell(.passBegan(title: "Post"))
                move(step * 1_000 + 100...step * 1_000 + 1_000, perSecond: 250 / factor)
                for phase in ["indexes", "verification"] {
                    tell(.phaseBegan(phase))
                    for part in split(2, factor) { wait(part) }
                }
            }
            tell(.phaseBegan("swap"))
            for part in split(1, factor) { wait(part) }
        }
    }

    @Test("nothing is said before there is a plan")
    func unplanned() {
        var meter = WorkMeter(verification: .quick, now: 0)
        meter.receive(.phaseBegan("check"), now: 1)
        #expect(meter.progress(now: 2) == nil)
    }

    @Test("the fraction never falls and never reaches 1, whatever the machine's speed", arguments: [0.1, 1, 30])
    func monotone(factor: Double) {
        var run = Run()
        run.runWhole(slower: factor)
        let fractions = run.shown.map(\.fraction)
        #expect(fractions == fractions.sorted())
        #expect(fractions.allSatisfy { $0 >= 0 && $0 < 1 })
        #expect((fractions.last ?? 0) > 0.97)
        #expect(run.shown.map(\.elapsedSeconds) == run.shown.map(\.elapsedSeconds).sorted())
    }

    @Test("once rows are measured, the remaining time is right to a quarter", arguments: [1.0, 5, 30])
    func remaining(factor: Double) {
        var run = Run()
        run.runWhole(slower: factor)
        let end = run.now
        var told = 0
        for progress in run.shown {
            guard progress.rows > 0, let remaining = progress.remainingSeconds else { continue }
            told += 1
            let truth = end - progress.elapsedSeconds
            #expect(abs(remaining - truth) <= 0.25 * end, "at \(progress.elapsedSeconds) of \(end): \(remaining)")
        }
        #expect(told > 20)
    }

    @Test("a check that waits for a cold disk doesn't make the rest seem slow", arguments: [10.0, 30])
    func coldDisk(check: Double) {
        var run = Run()
        run.runWhole(slower: 1, check: check)
        var told = 0
        for progress in run.shown where progress.elapsedSeconds > check {
            guard let remaining = progress.remainingSeconds else { continue }
            told += 1
            let truth = run.now - progress.elapsedSeconds
            // Until rows are measured, the rest may be as slow as the check.
            let most = progress.rows > 0 ? truth * 1.5 + 2 : truth * check.squareRoot() + 1
            #expect(remaining <= most, "at \(progress.elapsedSeconds) of \(run.now): \(remaining)")
            #expect(remaining >= truth / 2 - 2, "at \(progress.elapsedSeconds) of \(run.now): \(remaining)")
        }
        #expect(told > 20)
    }

    @Test("it says that it is estimating until something is measured")
    func estimating() {
        var run = Run()
        run.tell(.phaseBegan("check"))
        #expect(run.wait(30).remainingSeconds == nil)
        run.tell(.stepBegan(versions: ["a", "b"], index: 0, count: 2, rows: 0))
        run.tell(.passBegan(title: "Post"))
        run.tell(.progress(rows: 500, bytes: 9, totalRows: 2_000))
        #expect(run.wait(10).remainingSeconds != nil)
    }

    @Test("a phase that is one statement counts by time, and never as done before it ends")
    func statement() {
        var run = Run()
        run.tell(.phaseBegan("check"))
        let early = run.wait(0.5)
        let late = run.wait(1_000)
        #expect(early.fraction > 0)
        #expect(late.fraction > early.fraction)
        #expect(late.fraction < 1)
        #expect(late.phase == "check")
    }

    @Test("a first phase that is slower than planned isn't taken for half of the work", arguments: [2.0, 30, 5_000])
    func slowBegin(seconds: Double) {
        var run = Run()
        run.tell(.phaseBegan("check"))
        #expect(run.wait(seconds).fraction < 0.06)
        run.tell(.stepBegan(versions: ["a", "b"], index: 0, count: 2, rows: 0))
        #expect(run.wait(0.001).fraction < 0.06)
    }

    @Test("a part that a phase tells counts instead of the time")
    func told() {
        var run = Run()
        run.tell(.stepBegan(versions: ["a", "b"], index: 0, count: 2, rows: 0))
        run.tell(.progress(rows: 1_000, bytes: 9, totalRows: 2_000))
        run.wait(4)
        run.tell(.phaseBegan("indexes"))
        let begin = run.wait(0.001).fraction
        run.tell(.advanced(share: 0.5))
        let half = run.wait(1).fraction
        let waited = run.wait(1).fraction
        #expect(half > begin)
        // The rates change with the time that it takes, the part doesn't.
        #expect(waited - half < half - begin)
    }

    @Test("names phase, step and pass")
    func names() {
        var run = Run()
        run.tell(.phaseBegan("check"))
        #expect(run.wait(1).step == nil)
        run.tell(.stepBegan(versions: ["a", "b"], index: 0, count: 2, rows: 0))
        run.tell(.passBegan(title: "Post"))
        var progress = run.wait(1)
        #expect(progress.step == 1)
        #expect(progress.stepCount == 2)
        #expect(progress.phase == "rows")
        #expect(progress.pass == "Post")
        run.tell(.phaseBegan("verification"))
        progress = run.wait(1)
        #expect(progress.phase == "verification")
        #expect(progress.pass == nil)
        run.tell(.phaseBegan("swap"))
        #expect(run.wait(1).step == nil)
    }

    @Test("what an earlier run has done counts as done, and not for the rate")
    func resumed() {
        var run = Run()
        run.tell(.stepBegan(versions: ["b", "c"], index: 1, count: 2, rows: 0))
        run.tell(.resumed(step: 1, rows: 1_500))
        run.tell(.passBegan(title: "Post"))
        let first = run.wait(0.01)
        #expect(first.fraction > 0.5)
        #expect(first.remainingSeconds == nil)
        run.move(1_600...1_700, perSecond: 25)
        let next = run.wait(0.01)
        // 300 rows at 25 a second, and then 5 planned seconds at the same slowness, 10.
        let remaining = next.remainingSeconds ?? 0
        #expect(remaining > 30 && remaining < 90, "\(remaining)")
    }

    @Test("rows that statements move after indexes of pages don't bring it back")
    func mixed() {
        var run = Run()
        run.tell(.stepBegan(versions: ["a", "b"], index: 0, count: 2, rows: 0))
        run.tell(.passBegan(title: "Post"))
        run.move(100...500, perSecond: 250)
        run.tell(.phaseBegan("indexes"))
        run.wait(1)
        run.tell(.passBegan(title: "Other"))
        run.move(600...1_000, perSecond: 250)
        run.tell(.phaseBegan("indexes"))
        run.wait(1)
        let fractions = run.shown.map(\.fraction)
        #expect(fractions == fractions.sorted())
    }

    @Test("rows that only statements move aren't taken for done when the indexes of kept tables are")
    func statementsAlone() {
        var run = Run(
            WorkPlan(
                [
                    WorkPlan.Phase(.copying, step: 0, seconds: 1, rows: 500),
                    WorkPlan.Phase(.indexes, step: 0, seconds: 0.5),
                    WorkPlan.Phase(.statementRows, step: 0, seconds: 8, rows: 500),
                    WorkPlan.Phase(.statementIndexes, step: 0, seconds: 4), WorkPlan.Phase(.swap, seconds: 1),
                ], rowsOfStep: 1_000))
        run.tell(.stepBegan(versions: ["a", "b"], index: 0, count: 1, rows: 0))
        run.tell(.phaseBegan("copying pages"))
        run.move(500...500, perSecond: 100)
        run.tell(.phaseBegan("indexes"))
        run.tell(.advanced(share: 1))
        #expect(run.wait(0.5).fraction < 0.3)
        run.tell(.passBegan(title: "Post"))
        run.move(600...700, perSecond: 62.5)
        let half = run.wait(0)
        run.move(800...1_000, perSecond: 62.5)
        #expect(half.fraction < 0.5 && run.wait(0).fraction > half.fraction + 0.2)
        // Indexes and swap are left.
        #expect((3...7).contains(half.remainingSeconds.map { $0 - 4.8 } ?? 0))
    }

    @Test("steps that were to run together and don't have work of their own")
    func apart() {
        var run = Run()
        run.tell(.stepBegan(versions: ["b", "c"], index: 1, count: 4, rows: 0))
        run.wait(1)
        run.tell(.stepBegan(versions: ["c", "d"], index: 2, count: 4, rows: 0))
        run.tell(.phaseBegan("verification"))
        let progress = run.wait(1)
        #expect(progress.step == 3)
        #expect(progress.fraction < 1)
    }

    @Test("a phase's outlook survives the lock file, and tells other processes how far it is")
    func outlook() {
        let outlook = WorkOutlook(
            fraction: 0.2, fractionAfter: 0.6, rows: 100, rowsAfter: 500, remainingSeconds: 40)
        let half = outlook.now(rows: 300, seconds: 10, checkpointSeconds: 10)
        #expect(abs(half.fraction - 0.4) < 1e-9)
        // A fifth of the whole in ten seconds: the other three take thirty.
        #expect(abs((half.remainingSeconds ?? 0) - 30) < 1e-6)
        let statement = WorkOutlook(
            fraction: 0.5, fractionAfter: 0.9, rows: 500, rowsAfter: 500, remainingSeconds: 50)
        let later = statement.now(rows: 500, seconds: 20, checkpointSeconds: nil)
        #expect(abs(later.fraction - 0.7) < 1e-9)
        #expect(later.remainingSeconds == 30)
        #expect(statement.now(rows: 500, seconds: 1_000, checkpointSeconds: nil).fraction < 0.9)
        #expect(statement.now(rows: 500, seconds: nil, checkpointSeconds: nil).remainingSeconds == nil)
    }

    @Test("a real run's progress rises over its phases")
    func realRun() throws {
        let scenario = try Scenario(
            model(entity("Thing", attribute("text"))),
            model(entity("Thing", attribute("text"), attribute("more"))),
            rows: """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
                INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZTEXT) SELECT i, 1, 1, 'x' FROM n;
                """)
        var meter = WorkMeter(verification: .quick, now: 0)
        var (now, last, phases) = (0.0, 0.0, [String]())
        _ = try Migration(scenario.request(to: "V2")) { event in
            now += 1
            meter.receive(event, now: now)
            guard let progress = meter.progress(now: now) else { return }
            #expect(progress.fraction >= last)
            last = progress.fraction
            if phases.last != progress.phase { phases.append(progress.phase) }
        }.run()
        // Check, copying and verification are done, and the swap begins: four phases of next to nothing.
        #expect(last > 0.7)
        #expect(phases.first == "check")
        #expect(phases.contains("verification"))
        #expect(phases.last == "swap")
    }
}
