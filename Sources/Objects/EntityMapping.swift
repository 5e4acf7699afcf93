public import CausewayEvaluation
import CausewayExpressions
package import CausewayMapping

/// One entity mapping of a running migration: what `NSEntityMapping` is to a policy.
///
/// It is an object, as Core Data's is: a policy may rewrite value expressions in `begin(_:with:)`, before the rows
/// come.
public final class EntityMapping {
    /// What kind of mapping it is; the raw values are Core Data's.
    public enum MappingType: Int, Hashable, Sendable {
        case undefined = 0
        case custom = 1
        case add = 2
        case remove = 3
        case copy = 4
        case transform = 5
    }

    /// The mapping's name, `PostToPost`; other mappings' expressions refer to it.
    public let name: String
    /// What kind of mapping it is.
    public let mappingType: MappingType
    /// nil where the entity is added.
    public let sourceEntityName: String?
    /// nil where the entity is removed.
    public let destinationEntityName: String?
    /// In processing order.
    public let attributeMappings: [PropertyMapping]
    /// In processing order.
    public let relationshipMappings: [PropertyMapping]
    /// nil where the default policy migrates the entity.
    public let entityMigrationPolicyClassName: String?
    /// The mapping model author's entries for the policy; dictionaries, which aren't a `Value`, are left out.
    public let userInfo: [String: Value]

    /// Place in the step's mappings.
    package let index: Int
    private let rewriting: Rewriting

    /// Whether a policy has rewritten an expression of a mapping: asked for every row.
    final class Rewriting {
        var hasHappened = false
    }

    package init(_ description: EntityMappingDescription, index: Int) {
        name = description.name
        mappingType = MappingType(rawValue: description.kind.rawValue) ?? .undefined
        sourceEntityName = description.sourceEntity
        destinationEntityName = description.destinationEntity
        let rewriting = Rewriting()
        attributeMappings = description.attributeMappings.map { PropertyMapping($0, rewriting) }
        relationshipMappings = description.relationshipMappings.map { PropertyMapping($0, rewriting) }
        self.rewriting = rewriting
        entityMigrationPolicyClassName = description.policyClassName
        userInfo = description.userInfo.compactMapValues { Value($0) }
        self.index = index
    }

    /// Whether a policy has rewritten an expression.
    package var isRewritten: Bool { rewriting.hasHappened }
}

/// How one destination property gets its value: what `NSPropertyMapping` is to a policy.
public final class PropertyMapping {
    /// The destination property; a composite's leaf is `composite.leaf`.
    public let name: String
    /// The mapping model author's entries for the policy; dictionaries, which aren't a `Value`, are left out.
    public let userInfo: [String: Value]
    /// The expression in the language of `NSExpression(format:)`; nil leaves the property alone.
    ///
    /// A policy may set it in `begin(_:with:)`. A text that can't be parsed, or names what the source model lacks, is
    /// reported when the first row needs it.
    public var valueExpression: String? {
        get { text }
        set {
            text = newValue
            rewriting.hasHappened = true
            compiled = nil
        }
    }

    private var text: String?
    private let rewriting: EntityMapping.Rewriting
    var compiled: CompiledExpression?

    init(_ description: PropertyMappingDescription, _ rewriting: EntityMapping.Rewriting) {
        self.rewriting = rewriting
        name = description.name
        text = description.expression?.formatString
        userInfo = description.userInfo.compactMapValues { Value($0) }
    }
}
