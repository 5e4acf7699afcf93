package import CausewayPlatform
internal import CausewayPreparation
internal import Foundation

/// Harness 6 tests the harnesses. Every deliberate break of the protocol must make a harness fail. Each trial is a
/// process of its own, in which the command and the harness's in-process runs have the break.
package struct MutantHarness: Sendable {
    package static let name = "mutants"

    private let settings: HarnessSettings
    private let mutants: [Mutant]

    /// - Parameters:
    ///   - settings: seed, threads, folders.
    ///   - mutants: nil is all of them, or in the quick subset some that take little time.
    package init(_ settings: HarnessSettings, mutants: [Mutant]? = nil) {
        self.settings = settings
        self.mutants = mutants ?? settings.mutants ?? (settings.isQuick ? Self.quick : Mutant.allCases)
    }

    /// Caught within seconds: enough to see that the switch and the harnesses still work.
    private static let quick: [Mutant] = [.progressAfter, .noSourceCheck, .twoRenames, .wholeTooEarly]
    /// Seconds for one trial.
    private static let trialLimit = 900.0

    /// How a trial ended.
    private enum Finding {
        case caught(String)
        case missed
        /// The harness itself couldn't work: that isn't a catch.
        case unusable(String)
    }

    /// Runs every mutant until it is caught.
    ///
    /// - Throws: if the harness itself can't work.
    package func run() throws -> Tally {
        let tally = Tally(Self.name)
        let folder = try settings.makeFolder(Self.name)
        var controls = Controls()
        for mutant in mutants {
            for engine in MutantTrial.engines(of: mutant) where settings.engines.contains(engine) {
                try run(mutant, engine, folder, tally, &controls)
            }
        }
        settings.dispose(folder, failed: !tally.result.isClean)
        return tally
    }

    /// Trials without a mutant, by harness and seed: why they failed, or nil. A harness that fails without a mutant has
    /// caught nothing.
    private struct Controls {
        struct Key: Hashable {
            let trial: MutantTrial
            let seed: UInt64
        }

        var faults: [Key: String?] = [:]
    }

    private func run(
        _ mutant: Mutant, _ engine: EngineChoice, _ folder: String, _ tally: Tally, _ controls: inout Controls
    ) throws {
        var reasons: [String] = []
        for trial in MutantTrial.trials(of: mutant, on: engine) {
            for number in 0..<trial.seeds {
                let seed = settings.seed &+ UInt64(number)
                switch try run(mutant, trial, seed: seed, folder) {
                case .caught(let why):
                    if let fault = try control(trial, seed, folder, &controls) {
                        reasons.append("\(trial.harness) with seed \(seed) fails without it, too: \(fault)")
                        continue
                    }
                    settings.say(
                        "    \(mutant.rawValue) on \(engine): caught by \(trial.harness), seed \(seed): \(why.prefix(160))"
                    )
                    tally.survived("caught by \(trial.harness)")
                    return
                case .missed: reasons.append("\(trial.harness) with seed \(seed) sees nothing")
                case .unusable(let why): reasons.append("\(trial.harness) with seed \(seed): \(why)")
                }
            }
        }
        settings.say("    \(mutant.rawValue) on \(engine): not caught")
        tally.failed("\(mutant.rawValue) on \(engine) isn't caught: \(reasons.joined(separator: "; "))")
    }

    /// Why a trial fails without a mutant; nil if it doesn't.
    private func control(
        _ trial: MutantTrial, _ seed: UInt64, _ folder: String, _ controls: inout Controls
    ) throws -> String? {
        let key = Controls.Key(trial: trial, seed: seed)
        if let known = controls.faults[key] { return known }
        let fault: String? =
            switch try run(nil, trial, seed: seed, folder) {
            case .missed: nil
            case .caught(let why), .unusable(let why): String(why.prefix(300))
            }
        controls.faults[key] = .some(fault)
        return fault
    }

    private func run(
        _ mutant: Mutant?, _ trial: MutantTrial, seed: UInt64, _ folder: String
    ) throws -> Finding {
        let report = folder + "/report.json"
        let scratch = folder + "/scratch"
        try FolderTree.remove(scratch)
        try Files.makeDirectory(scratch)
        try Files.unlink(report)
        let command = ChildRun.Command(
            settings.reliability,
            [
                "run", "--quick", "--only", trial.harness, "--engine", trial.engine.rawValue, "--seed", "\(seed)",
                "--scale", "\(trial.scale)",
                "--jobs", "\(settings.threads)", "--json", report, "--scratch", scratch, "--stop-at-failure",
            ],
            environment: mutant.map { ["CAUSEWAY_MUTANT": $0.rawValue] } ?? [:], output: folder + "/trial.txt")
        let ending = try ChildRun(command).wait(limit: Self.trialLimit)
        guard let bytes = try? Files.readFile(report, limit: 16 << 20) else {
            return .unusable("\(ending): \(ChildRun.tail(of: command.output, bytes: 400))")
        }
        let harnesses = try JSONDecoder().decode(RunReport.self, from: Data(bytes)).harnesses
        guard let report = harnesses.first else { return .unusable("\(ending), an empty report") }
        if let breakdown = report.breakdown { return .unusable(breakdown) }
        let result = report.result
        if !result.isClean { return .caught(result.failures.first ?? "\(result.rowsLost) rows lost") }
        // A harness that was skipped as a whole proves nothing.
        return result.tried == 0 ? .unusable("nothing was tried") : .missed
    }
}
