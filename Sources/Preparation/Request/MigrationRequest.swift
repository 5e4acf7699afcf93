package import CausewayObjects

/// What the user asks for.
package struct MigrationRequest: Sendable {
    package var store: String
    /// Several make one history (`SeveralModels`).
    package var models: [String]
    /// nil: in the store's place.
    package var output: String?
    package var target: String?
    package var edges: [String: String] = [:]
    package var frameworkVersion: Int?
    package var schemaTemplate: String?
    /// Names of join tables that a store of the target version was seen to have.
    package var joinTables: [String] = []
    /// Entries of the app's own for the new store's metadata.
    package var metadata: [String: MetadataValue] = [:]
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
    /// What elements of a version continue, where the models leave it open, by `Entity` or `Entity.property`: the name
    /// in the version before, or an empty one for nothing.
    package var origins: [String: String] = [:]
    /// Drops the rows of entities that no given model has, where the rest of the store is a given version's.
    package var dropsOtherModels = false
    /// Ends links whose relationship leads to another entity; otherwise they are refused.
    package var endsLinks = false
    /// What to do with a store that CloudKit mirrors.
    package var cloudKit = CloudKitPolicy.refuse
    /// Lets the new store have another owner than the old one.
    package var ignoresOwnership = false
    /// Too little room on the disk is a warning.
    package var ignoresSpace = false
    /// Migrates a store even if it has several names.
    package var allowsHardLinks = false
    /// Seconds to wait for readers to end before the swap.
    package var swapTimeout = 60.0

    package init(
        store: String, models: String, output: String? = nil, target: String? = nil, options: EngineOptions
    ) {
        self.init(store: store, models: [models], output: output, target: target, options: options)
    }

    package init(
        store: String, models: [String], output: String? = nil, target: String? = nil, options: EngineOptions
    ) {
        self.store = store
        self.models = models
        self.output = output
        self.target = target
        self.options = options
    }
}
