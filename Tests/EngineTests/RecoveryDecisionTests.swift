import CausewayEngine
import CausewayPreparation
import Testing

/// The recovery table of InsideCrashSafety §4.5, decided from facts alone.
@Suite("Recovery: decisions from the files that are found", .timeLimit(.minutes(60)))
struct RecoveryStateTests {
    typealias Facts = RecoveryDecision.Facts

    struct Row: Sendable, CustomTestStringConvertible {
        let found: String
        let facts: Facts
        let state: RecoveryDecision
        var testDescription: String { found }
    }

    private static func facts(
        plan: Facts.File = .readable, intent: Facts.File = .readable, store: Facts.Store = .source,
        staging: Bool = true, backup: Bool = false
    ) -> Facts {
        Facts(plan: plan, intent: intent, store: store, hasStaging: staging, hasBackup: backup)
    }

    static let rows = [
        Row(
            found: "no plan", facts: facts(plan: .absent, intent: .absent, store: .other, staging: false),
            state: .fresh),
        Row(
            found: "a plan that can't be read", facts: facts(plan: .unreadable, intent: .absent, store: .other),
            state: .fresh),
        Row(found: "a plan and no intent", facts: facts(intent: .absent, store: .other), state: .unfinished),
        Row(
            found: "an intent that can't be read", facts: facts(intent: .unreadable, store: .other), state: .unfinished),
        Row(found: "an intent, the store is the source", facts: facts(), state: .readyToSwap),
        Row(found: "the same, the backup has its name", facts: facts(backup: true), state: .readyToSwap),
        Row(
            found: "the same, the new store is lost, or was started over since",
            facts: facts(staging: false, backup: true), state: .unfinished),
        Row(
            found: "the same, the plan is lost, too", facts: facts(plan: .absent, staging: false, backup: true),
            state: .stagingLost),
        Row(found: "the same, the plan is lost", facts: facts(plan: .absent), state: .fresh),
        Row(
            found: "the store is the new one", facts: facts(store: .destination, staging: false, backup: true),
            state: .swapped),
        Row(
            found: "the same, the plan is gone", facts: facts(plan: .absent, store: .destination, staging: false),
            state: .swapped),
        Row(
            found: "nothing at the store's path, the backup is the source", facts: facts(store: .absent, backup: true),
            state: .storeMissing),
        Row(found: "nothing at the store's path, and no backup", facts: facts(store: .absent), state: .unknown),
        Row(found: "a store that is neither", facts: facts(store: .other, backup: true), state: .unknown),
    ]

    @Test("each row of the table", arguments: rows)
    func row(_ row: Row) {
        #expect(RecoveryDecision(row.facts) == row.state)
    }

    @Test("in every case only the new store itself counts as swapped, and a foreign store is never touched")
    func everything() {
        for plan in [Facts.File.absent, .unreadable, .readable] {
            for intent in [Facts.File.absent, .unreadable, .readable] {
                for store in [Facts.Store.source, .destination, .other, .absent] {
                    for (staging, backup) in [(false, false), (false, true), (true, false), (true, true)] {
                        let facts = Facts(
                            plan: plan, intent: intent, store: store, hasStaging: staging, hasBackup: backup)
                        let state = RecoveryDecision(facts)
                        let isKnown = intent == .readable
                        #expect((state == .swapped) == (isKnown && store == .destination), "\(facts)")
                        #expect((state == .unknown) == (isKnown && (store == .other || store == .absent && !backup)))
                        if state == .readyToSwap { #expect(staging && plan == .readable && store == .source) }
                        if state == .unfinished {
                            #expect(plan == .readable && (!isKnown || store == .source && !staging))
                        }
                    }
                }
            }
        }
    }

    struct Steps: Sendable, CustomTestStringConvertible {
        let found: String
        let facts: [StepRecovery.Facts]
        let done: Int
        var belowLevel: Int?
        var testDescription: String { found }
    }

    private static func step(store: Bool, _ verification: VerificationLevel = .quick) -> StepRecovery.Facts {
        StepRecovery.Facts(verification: verification, hasStore: store)
    }

    static let steps = [
        Steps(found: "no records", facts: [], done: 0),
        Steps(found: "a record and its store", facts: [step(store: true)], done: 1),
        Steps(found: "a record without a store", facts: [step(store: false)], done: 0),
        Steps(
            found: "the first store is gone, as it should be", facts: [step(store: false), step(store: true, .full)],
            done: 2),
        Steps(
            found: "the second store is lost", facts: [step(store: true), step(store: false)], done: 1),
        Steps(
            found: "the second was verified too little", facts: [step(store: true), step(store: true, .none)], done: 1,
            belowLevel: 1),
        Steps(
            found: "the second was verified too little, and the first store is gone",
            facts: [step(store: false), step(store: true, .none), step(store: true)], done: 0, belowLevel: 1),
    ]

    @Test("steps that needn't be done again, for a quick verification", arguments: steps)
    func next(_ steps: Steps) {
        let recovery = StepRecovery(steps.facts, asked: .quick)
        #expect(recovery.done == steps.done)
        #expect(recovery.belowLevel == steps.belowLevel)
    }
}
