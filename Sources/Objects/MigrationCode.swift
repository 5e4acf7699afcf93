package import CausewayMapping

/// The Swift side of a migration: policies, a manager, mapping models written in Swift, stages.
///
/// ```swift
/// var code = MigrationCode()
/// code.register(PostToSectionsPolicy.self)
/// ```
public struct MigrationCode: Sendable {
    /// Policies by the class names that mapping models give them.
    private var policies: [String: EntityMigrationPolicy.Type] = [:]
    /// The manager's class; a subclass is told about associations and gives expressions functions.
    public var managerType: MigrationManager.Type = MigrationManager.self
    /// A staged migration; nil follows the versions' order, or the edges that were given.
    public var stages: StagedMigration?
    /// Mapping models written in Swift, each for the step between the two versions.
    package var mappings: [SwiftMapping] = []

    /// A mapping model written in Swift.
    package struct SwiftMapping: Sendable {
        package var from: String
        package var to: String
        package var model: MappingModelDescription
    }

    /// No code.
    public init() {}

    /// Makes a policy available to mapping models.
    ///
    /// - Parameters:
    ///   - policy: the class.
    ///   - name: the name that mapping models give it, with or without a module; nil is the class's own.
    public mutating func register(_ policy: EntityMigrationPolicy.Type, as name: String? = nil) {
        policies[name ?? String(describing: policy)] = policy
    }

    /// The policy for a mapping model's class name: by the full name, else without its module (`App.PostPolicy`),
    /// because code moves between modules while compiled mapping models keep the old name.
    package func policy(named name: String) -> EntityMigrationPolicy.Type? {
        if let exact = policies[name] { return exact }
        let last = name.split(separator: ".").last.map(String.init) ?? name
        if let short = policies[last] { return short }
        let matching = policies.filter { $0.key.split(separator: ".").last.map(String.init) == last }
        return matching.count == 1 ? matching.first?.value : nil
    }

    /// Names of the registered policies, sorted.
    package var policyNames: [String] { policies.keys.sorted() }

    /// Whether a subclass of the manager is told about associations.
    package var hasOwnManager: Bool { managerType != MigrationManager.self }
}
