package import CausewayPlanning
package import CausewayStores

/// What the source's rows must fulfil before a migration may run: every violation at once, before a byte is written.
///
/// Asked when a migration is planned, before its first byte, and again of each later step's own source when that step
/// begins. It only reads. Cost: linear in the rows; each check says how often it reads a table.
///
/// A kind of check is a file `Preflight+Topic.swift` with a function that returns `Findings`, and a line in `check`.
package struct Preflight {
    /// Rows that a violation names.
    package static let namedRows = 20

    /// The steps to come: the first reads `source`, each later one what the step before makes.
    package let steps: [StepPlan]
    package let source: SourceStore
    /// Whether rows are made as objects: by mapping models, or by a stage's handlers.
    package let makesObjects: Bool
    /// Of each step what may change its finished rows before the next step reads them.
    package var deciders: [[String]]
    /// Rows that passes leave out are counted instead of refused.
    package var badRows = BadRowPolicy.fail
    /// Whether a step with mapping models ends at a row without a mandatory value (`--on-violation stop`).
    package var stopsAtViolations = true
    /// What was told before of the rows that a later step reads; nil where nothing was.
    package var told: ToldNotices?
    /// Whether links that lead nowhere are counted: they were where the same store was checked before.
    package var countsLinks = true
    /// Where the store's external files are; nil for what a step has made, whose references are the store's own.
    package var external: ExternalValues?
    /// What becomes of references to them; nil where `steps` tells.
    package var fates: ReferenceFates?
    /// Links whose relationship leads elsewhere now may end.
    package var endsLinks = false
    /// Whether the way through the versions may be another (`--next`).
    package var mayDetour = false

    package init(steps: [StepPlan], source: SourceStore, makesObjects: Bool, deciders: [[String]]) {
        self.steps = steps
        self.source = source
        self.makesObjects = makesObjects
        self.deciders = deciders
    }

    /// What a check has found.
    package struct Findings {
        /// What ends the run: a sentence that names version, entity, property and rows.
        var violations: [String] = []
        /// What to do about the violations, a clause each.
        var remedies: [String] = []
        /// What is carried all the same and worth knowing: counts, never content. Warnings of plan, run and summary.
        var notices: [String] = []
        var leftOut = LeftOutCounts()

        mutating func refuse(_ violation: String, remedy: String) {
            violations.append(violation)
            if !remedies.contains(remedy) { remedies.append(remedy) }
        }

        static func += (all: inout Findings, more: Findings) {
            all.violations += more.violations
            all.remedies += more.remedies.filter { !all.remedies.contains($0) }
            all.notices += more.notices
            all.leftOut += more.leftOut
        }
    }

    /// Asks everything.
    ///
    /// - Returns: notices, for the warnings.
    /// - Throws: `.sourceData` with all violations, or what made the store unreadable.
    package func check() throws(EngineError) -> [String] {
        var findings = Findings()
        try EngineError.at("\(source.location.path): the check of the rows") {
            let breaches = try breaches()
            findings += try rows(breaches)
            findings += try numbers()
            findings += try uniqueness(breaches)
            if countsLinks, told?.danglingLinks != true { findings += try links() }
            findings += try externalValues()
            findings += try endedLinks()
            findings += excess(findings.leftOut)
        }
        guard findings.violations.isEmpty else {
            throw EngineError(
                .sourceData, "\(source.location.path): rows don't fit the new version", details: findings.violations,
                remedy: findings.remedies.joined(separator: "; "))
        }
        return findings.notices
    }

    /// The step that reads the store.
    package var step: StepPlan { steps[0] }

    /// Whether a step leaves bad rows out; mapping models have `--on-violation`.
    package func quarantines(_ step: StepPlan) -> Bool { badRows == .quarantine && step.objects == nil }
}
