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
    /// Mapping model files given by name; those beside the models are found without.
    package var mappings: [String]
    /// Policies, manager, mapping models in Swift, stages.
    package var code: MigrationCode
    /// What is done about rows that break the destination model's rules, in steps with mapping models.
    package var violations: OnViolation
    /// Where rejected rows are written, a JSON object a line.
    package var rejects: String?
    /// A step is inferred although a mapping model that is meant for it doesn't match.
    package var infersDespiteMismatch: Bool
    /// Where old and new URIs are written, where keys change.
    package var keyMap: String?
    /// What is done about unfinished work of an earlier run.
    package var resume: UnfinishedWorkPolicy
    package var verification: VerificationLevel
    /// What is done about rows that a pass can't make anything of.
    package var badRows: BadRowPolicy
    /// Links whose relationship leads to another entity end; without it they are refused.
    package var endsLinks: Bool
    /// The new store may get another owner than the old one.
    package var ignoresOwnership: Bool
    /// A store with several names is migrated all the same.
    package var allowsHardLinks: Bool
    /// Seconds to wait for readers to end before the swap.
    package var swapTimeout: Double

    package init(
        store: String, models: String, output: String? = nil, target: String? = nil, edges: [String: String] = [:],
        frameworkVersion: Int? = nil, schemaTemplate: String? = nil, joinTables: [String] = [], fusesSteps: Bool = true,
        options: EngineOptions,
        mappings: [String] = [], code: MigrationCode = MigrationCode(), violations: OnViolation = .stop,
        rejects: String? = nil, keyMap: String? = nil, infersDespiteMismatch: Bool = false,
        resume: UnfinishedWorkPolicy = .resume, verification: VerificationLevel = .quick, badRows: BadRowPolicy = .fail,
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
