package import CausewayPlatform
package import CausewayPreparation

/// Which harness should catch a deliberate break of the protocol, and how small a part of it is enough.
package struct MutantTrial: Sendable, Hashable {
    /// The harness's name.
    package let harness: String
    /// Its share of the quick subset.
    package let scale: Double
    /// What moves the rows.
    package var engine = EngineChoice.statements
    /// Seeds that are tried one after the other: random cases may need more than one.
    package let seeds: Int

    init(_ harness: String, scale: Double = 1, seeds: Int = 1) {
        self.harness = harness
        self.scale = scale
        self.seeds = seeds
    }

    /// The engines of which each must see the break: those with code that it breaks.
    package static func engines(of mutant: Mutant) -> [EngineChoice] {
        switch mutant {
        case .noPageSync, .wholeTooEarly, .noWholeSync, .rootsKept: [.pages]
        case .progressFirst, .cursorTooEarly, .trustAfterSyncError: [.statements, .pages]
        case .progressAfter, .noStagingSync, .noPlanSync, .noDirectorySync, .twoRenames, .swapBeforeVerification,
            .noSidecarCheck, .noGuard, .noHandover, .rawClose, .noSourceCheck, .noPlanCheck, .keysForgotten:
            [.statements]
        }
    }

    /// The harnesses to ask, the most likely first (InsideCrashSafety §3.4).
    package static func trials(of mutant: Mutant, on engine: EngineChoice) -> [MutantTrial] {
        trials(of: mutant).map { trial in
            var trial = trial
            trial.engine = engine
            return trial
        }
    }

    private static func trials(of mutant: Mutant) -> [MutantTrial] {
        let kills = MutantTrial(KillPointHarness.name)
        let explorer = MutantTrial("explorer", scale: 4, seeds: 3)
        let swap = MutantTrial("swap", scale: 4)
        let faults = MutantTrial(FaultHarness.name, scale: 4, seeds: 3)
        let changes = MutantTrial(ChangeHarness.name, seeds: 2)
        let contest = MutantTrial(ConcurrencyHarness.name, scale: 2, seeds: 3)
        switch mutant {
        case .progressFirst, .progressAfter, .cursorTooEarly, .keysForgotten: return [kills, explorer]
        case .noStagingSync, .noPlanSync: return [explorer, kills]
        case .noPageSync, .noWholeSync: return [explorer]
        case .wholeTooEarly, .rootsKept: return [kills, explorer]
        case .noDirectorySync: return [swap, explorer, MutantTrial(PowerCutHarness.name, scale: 4)]
        case .twoRenames: return [swap, kills, faults]
        case .swapBeforeVerification: return [changes]
        case .noSidecarCheck: return [contest, faults, explorer]
        case .noGuard, .rawClose, .noHandover: return [contest]
        case .trustAfterSyncError: return [faults, MutantTrial("failed-syncs", scale: 4, seeds: 3)]
        case .noSourceCheck, .noPlanCheck: return [changes, explorer]
        }
    }
}
