package import CausewayObjects

/// What the user asks for.
package struct MigrationRequest: Sendable {
    package var store: String
    package var models: String
    /// nil: in the store's place.
    package var output: String?
    package var target: String?
    package var edges: [String: String]
    package var frameworkVersion: Int?
    package var schemaTemplate: String?
    /// Names of join tables that a store of the target version was seen to have.
    package var joinTables: [String]
    package var fusesSteps: Bool
    package var options: EngineOptions
    /// Mapping model files that the user names; those beside the models are found anyway.
    package var mappings: [String]
    /// Policies, manager, mapping models in Swift, stages.
    package var code: MigrationCode
    /// What to do with rows that break the destination model's rules, in steps with mapping models.
    package var violations: ViolationPolicy
    /// The rejects file, one JSON object per line.
    package var rejects: String?
    /// A step is inferred although a mapping model that is meant for it doesn't match.
    package var infersDespiteMismatch: Bool
    /// Where old and new URIs are written, where keys change.
    package var keyMap: String?
    /// What to do with unfinished work of an earlier run.
    package var resume: ResumePolicy
    package var verification: VerificationLevel
    /// What to do with bad rows.
    package var badRows: BadRowPolicy
    /// Ends links whose relationship leads to another entity; otherwise they are refused.
    package var endsLinks: Bool
    /// Lets the new store have another owner than the old one.
    package var ignoresOwnership: Bool
    /// Migrates a store even if it has several names.
    package var allowsHardLinks: Bool
    /// Seconds to wait for readers to end before the swap.
    package var swapTimeout: Double

    package init(
        store: String, models: String, output: String? = nil, target: String? = nil, edges: [String: String] = [:],
        frameworkVersion: Int? = nil, schemaTemplate: String? = nil, joinTables: [String] = [], fusesSteps: Bool = true,
        options: EngineOptions,
        mappings: [String] = [], code: MigrationCode = MigrationCode(), violations: ViolationPolicy = .stop,
        rejects: String? = nil, keyMap: String? = nil, infersDespiteMismatch: Bool = false,
        resume: ResumePolicy = .automatic, verification: VerificationLevel = .quick, badRows: BadRowPolicy = .fail,
        endsLinks: Bool = false,
        ignoresOwnership: Bool = false, allowsHardLinks: Bool = false, swapTimeout: Double = 60
    ) {
        self.store = store
        self.models = models
        self.output = output
        self.target = target
        self.edges = edges
        self.frameworkVersion = frameworkVersion
        self.schemaTemplate = schemaTemplate
        self.joinTables = joinTables
        self.fusesSteps = fusesSteps
        self.options = options
        self.mappings = mappings
        self.code = code
        self.violations = violations
        self.rejects = rejects
        self.keyMap = keyMap
        self.infersDespiteMismatch = infersDespiteMismatch
        self.resume = resume
        self.verification = verification
        self.badRows = badRows
        self.endsLinks = endsLinks
        self.ignoresOwnership = ignoresOwnership
        self.allowsHardLinks = allowsHardLinks
        self.swapTimeout = swapTimeout
    }
}

/// What a run does about the unfinished work of an earlier one.
package enum ResumePolicy: String, Hashable, Sendable, CaseIterable {
    /// It resumes it.
    case automatic
    /// It refuses.
    case never
    /// It discards it.
    case restart
}

/// What happens to a bad source row.
package enum BadRowPolicy: String, Hashable, Sendable, CaseIterable {
    /// The run stops.
    case fail
    /// The row is left out and written to the rejects file.
    case quarantine

    /// Rows that one step may leave out. The keys of all are kept in memory, 8 bytes each, until the links to them have
    /// ended; more of them stop the run: then the problem isn't a few bad rows.
    package static let maximumRows = 1_000_000
    /// The advice for more rows.
    package static let remedy =
        "find out why: the models may not be the store's, or files may be missing"
}
