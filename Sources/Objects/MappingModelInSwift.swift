package import CausewayMapping

/// A mapping model written in Swift: what `NSMappingModel` holds, for the step between two versions.
///
/// ```swift
/// let mapping = SwiftMappingModel(from: "v1", to: "v2") {
///     TransformEntity("Person", to: "Contact", policy: ContactPolicy.self) {
///         Copy("name")
///         Rename("mail", to: "email")
///         Compute("percentage", "$source.percentage / 100")
///         Link("reports", from: "staff", through: "PersonToContact")
///         Filter("name != nil")
///     }
///     AddEntity("Section")
///     RemoveEntity("Draft")
///     CopyEntity("Tag")
/// }
/// code.add(mapping)
/// ```
///
/// Entity mappings run in the order in which they are written. An entity without a mapping isn't migrated, as in
/// Xcode's editor; a property without a statement is filled from the source's property of the same name or renaming
/// identifier. Everything is checked against both models when the migration is planned, all mistakes at once.
public struct SwiftMappingModel: Sendable {
    /// The version before, by its model's name.
    public let from: String
    /// The version after, by its model's name.
    public let to: String
    /// For people: in plans, warnings and errors.
    public let name: String

    package let entityMappings: [EntityMappingStatement]

    /// Describes a mapping model.
    ///
    /// - Parameters:
    ///   - from: the name of the version before.
    ///   - to: the name of the version after.
    ///   - name: the mapping model's name in plans and messages; nil is made of both versions.
    ///   - content: the entity mappings in processing order.
    public init(
        from: String, to: String, name: String? = nil,
        @EntityMappingsBuilder content: () -> [EntityMappingStatement]
    ) {
        self.from = from
        self.to = to
        self.name = name ?? "\(from) to \(to)"
        entityMappings = content()
    }

    /// The mapping model in the form of all others.
    package var description: MappingModelDescription {
        MappingModelDescription(name: name, entityMappings: entityMappings.map(\.description))
    }
}

extension MigrationCode {
    /// Adds a mapping model for the step between its two versions, and registers the policies that it names by their
    /// class.
    ///
    /// - Parameter mapping: the mapping model; it overrides one that is found beside the models.
    public mutating func add(_ mapping: SwiftMappingModel) {
        var description = mapping.description
        for (index, statement) in mapping.entityMappings.enumerated() {
            guard let policy = statement.policy else { continue }
            var name = String(describing: policy)
            if let other = self.policy(named: name), other != policy {
                // Two classes of one name, nested or of two modules.
                name = String(reflecting: policy)
                description.entityMappings[index].policyClassName = name
            }
            register(policy, as: name)
        }
        mappings.append(SwiftMapping(from: mapping.from, to: mapping.to, model: description))
    }
}

/// One entity mapping of a `SwiftMappingModel`, as its builder collects it.
public struct EntityMappingStatement: Sendable {
    package let description: EntityMappingDescription
    package let policy: EntityMigrationPolicy.Type?

    package init(_ description: EntityMappingDescription, policy: EntityMigrationPolicy.Type? = nil) {
        self.description = description
        self.policy = policy
    }
}

/// The content of a `SwiftMappingModel`: one or more entity mappings.
public protocol EntityMappings: Sendable {
    /// The entity mappings in processing order.
    var statements: [EntityMappingStatement] { get }
}

/// Collects the entity mappings of a `SwiftMappingModel`.
@resultBuilder
public enum EntityMappingsBuilder {
    /// One line.
    public static func buildExpression(_ mappings: some EntityMappings) -> [EntityMappingStatement] {
        mappings.statements
    }

    /// All lines.
    public static func buildBlock(_ parts: [EntityMappingStatement]...) -> [EntityMappingStatement] {
        parts.flatMap(\.self)
    }

    /// `if` without `else`.
    public static func buildOptional(_ part: [EntityMappingStatement]?) -> [EntityMappingStatement] { part ?? [] }

    /// `if` of `if … else`.
    public static func buildEither(first part: [EntityMappingStatement]) -> [EntityMappingStatement] { part }

    /// `else` of `if … else`.
    public static func buildEither(second part: [EntityMappingStatement]) -> [EntityMappingStatement] { part }

    /// `for`.
    public static func buildArray(_ parts: [[EntityMappingStatement]]) -> [EntityMappingStatement] {
        parts.flatMap(\.self)
    }
}
