package import CausewayPlanning
package import CausewayStores

/// The demands on the source's rows before a migration may run. It reports every violation at once, before a byte is
/// written.
///
/// It runs when a migration is planned, before the first byte is written, and on each later step's own source when that
/// step begins. It only reads. Cost: linear in the rows; each check says how often it reads a table.
///
/// A kind of check is a file `Preflight+Topic.swift` with a function that returns `Findings`, and a line in `check`.
package struct Preflight {
    /// Rows that a violation names.
    package static let namedRows = 20

    /// The steps to come: the first reads `source`, each later one what the step before makes.
    package let steps: [StepPlan]
    package let source: SourceStore
    /// Whether mapping models or a stage's handlers make rows.
    package let makesObjects: Bool
    /// For each step, what may change its finished rows before the next step reads them.
    package var deciders: [[String]]
    /// Rows that passes leave out are counted instead of refused.
    package var badRows = BadRowPolicy.fail
    /// Whether a step with mapping models stops at a row without a mandatory value (`--on-violation stop`).
    package var stopsAtViolations = true
    /// Notices about the rows of a later step that were given before; nil for none.
    package var told: ToldNotices?
    /// Whether to count dangling links. A run doesn't where it carries them all as they are: its plan has counted them,
    /// and a full verification does.
    package var countsLinks = true
    /// Tables of the store whose rows' Z_ENT is checked where their pages are read: a second look at every row costs
    /// as much as moving it.
    package var numberedByPages: Set<String> = []
    /// Where the store's external files are; nil for a staging store, whose references are the original's.
    package var external: ExternalValues?
    /// Whether the new store gets copies of these files (`--output`).
    package var copiesFiles = false
    /// What happens to references to them; nil if `steps` says it.
    package var fates: ReferenceFates?
    /// Links whose relationship leads elsewhere now may end.
    package var endsLinks = false
    /// Whether another path through the versions is possible (`--next`).
    package var mayDetour = false

    package init(steps: [StepPlan], source: SourceStore, makesObjects: Bool, deciders: [[String]]) {
        self.steps = steps
        self.source = source
        self.makesObjects = makesObjects
        self.deciders = deciders
    }

    /// What a check has found.
    package struct Findings {
        /// What stops the run: a sentence that names version, entity, property and rows.
        var violations: [String] = []
        /// What to do about the violations, a clause each.
        var remedies: [String] = []
        /// Warnings of plan, run and summary about what is carried anyway: counts, never content.
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

    /// Runs all checks.
    ///
    /// - Returns: notices, for the warnings.
    /// - Throws: `.sourceData` with all violations, or the reason why the store can't be read.
    package func check() throws(EngineError) -> [String] {
        var findings = Findings()
        try EngineError.at("\(source.location.path): the check of the rows") {
            let breaches = try breaches()
            findings += try rows(breaches)
            findings += try numbers()
            findings += try uniqueness(breaches)
            findings += try repeatedLinks()
            if countsLinks, told?.danglingLinks != true { findings += try links() }
            findings += try externalValues()
            findings += try endedLinks()
            findings += try sharedObjects()
            findings += try severalForOne()
            findings += excess(findings.leftOut)
        }
        guard findings.violations.isEmpty else {
            if !numberedByPages.isEmpty {
                // An error names everything.
                var all = self
                all.numberedByPages = []
                return try all.check()
            }
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
