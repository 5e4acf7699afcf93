package import CausewayObjects

/// What the user asks for.
package struct MigrationRequest: Sendable {
    package var store: String
    package var models: String
    /// nil: in the store's place.
    package var output: String?
    package var target: String?
    package var edges: [String: String] = [:]
    package var frameworkVersion: Int?
    package var schemaTemplate: String?
    /// Names of join tables that a store of the target version was seen to have.
    package var joinTables: [String] = []
    package var fusesSteps = true
    package var options: EngineOptions
    /// Mapping model files that the user names; those beside the models are found anyway.
    package var mappings: [String] = []
    /// Policies, manager, mapping models in Swift, stages.
    package var code = MigrationCode()
    /// What to do with rows that break the destination model's rules, in steps with mapping models.
    package var violations = OnViolation.stop
    /// The rejects file, one JSON object per line.
    package var rejects: String?
    /// A step is inferred although a mapping model that is meant for it doesn't match.
    package var infersDespiteMismatch = false
    /// Where old and new URIs are written, where keys change.
    package var keyMap: String?
    /// What to do with unfinished work of an earlier run.
    package var resume = UnfinishedWorkPolicy.resume
    package var verification = VerificationLevel.quick
    /// What to do with bad rows.
    package var badRows = BadRowPolicy.fail
    /// Ends links whose relationship leads to another entity; otherwise they are refused.
    package var endsLinks = false
    /// Lets the new store have another owner than the old one.
    package var ignoresOwnership = false
    /// Migrates a store even if it has several names.
    package var allowsHardLinks = false
    /// Seconds to wait for readers to end before the swap.
    package var swapTimeout = 60.0

    package init(store: String, models: String, output: String? = nil, target: String? = nil, options: EngineOptions) {
        self.store = store
        self.models = models
        self.output = output
        self.target = target
        self.options = options
    }
}
