/// What the user asks for.
package struct MigrationRequest: Hashable, Sendable {
    package var store: String
    package var models: String
    /// nil: in the store's place.
    package var output: String?
    package var target: String?
    package var edges: [String: String]
    package var frameworkVersion: Int?
    package var schemaTemplate: String?
    package var fusesSteps: Bool
    package var options: EngineOptions

    package init(
        store: String, models: String, output: String? = nil, target: String? = nil, edges: [String: String] = [:],
        frameworkVersion: Int? = nil, schemaTemplate: String? = nil, fusesSteps: Bool = true, options: EngineOptions
    ) {
        self.store = store
        self.models = models
        self.output = output
        self.target = target
        self.edges = edges
        self.frameworkVersion = frameworkVersion
        self.schemaTemplate = schemaTemplate
        self.fusesSteps = fusesSteps
        self.options = options
    }
}
