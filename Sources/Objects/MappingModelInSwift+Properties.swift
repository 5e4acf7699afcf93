public import CausewayEvaluation
import CausewayExpressions
package import CausewayMapping

// The content of an entity mapping written in Swift. Each is a type of its own: two lines that begin with a dot would
// be one expression.

/// One statement about an entity mapping, as its builder collects it.
public struct EntityMappingPart: Sendable {
    package let part: MappingPart

    package init(_ part: MappingPart) {
        self.part = part
    }
}

/// The content of an entity mapping: property mappings, a filter, user info.
public protocol EntityMappingParts: Sendable {
    /// The statements in their order.
    var parts: [EntityMappingPart] { get }
}

/// Collects the content of an entity mapping.
@resultBuilder
public enum EntityMappingPartsBuilder {
    /// One line.
    public static func buildExpression(_ parts: some EntityMappingParts) -> [EntityMappingPart] { parts.parts }

    /// All lines.
    public static func buildBlock(_ parts: [EntityMappingPart]...) -> [EntityMappingPart] { parts.flatMap(\.self) }

    /// `if` without `else`.
    public static func buildOptional(_ part: [EntityMappingPart]?) -> [EntityMappingPart] { part ?? [] }

    /// `if` of `if … else`.
    public static func buildEither(first part: [EntityMappingPart]) -> [EntityMappingPart] { part }

    /// `else` of `if … else`.
    public static func buildEither(second part: [EntityMappingPart]) -> [EntityMappingPart] { part }

    /// `for`.
    public static func buildArray(_ parts: [[EntityMappingPart]]) -> [EntityMappingPart] { parts.flatMap(\.self) }
}

/// Properties that keep their names: attributes, or relationships whose objects the mapping model carries over.
public struct Copy: EntityMappingParts {
    /// One statement for each property.
    public let parts: [EntityMappingPart]

    /// Describes the property mappings.
    ///
    /// - Parameter names: properties that both entities have.
    public init(_ names: String...) {
        parts = names.map { EntityMappingPart(.copy($0)) }
    }
}

/// A property with another name: an attribute, or a relationship whose objects the mapping model carries over.
public struct Rename: EntityMappingParts {
    /// The one statement.
    public let parts: [EntityMappingPart]

    /// Describes the property mapping.
    ///
    /// - Parameters:
    ///   - source: the property's name before.
    ///   - destination: its name after.
    public init(_ source: String, to destination: String) {
        parts = [EntityMappingPart(.rename(source, to: destination))]
    }
}

/// A property whose value is a value expression's.
public struct Compute: EntityMappingParts {
    /// The one statement.
    public let parts: [EntityMappingPart]

    /// Describes the property mapping.
    ///
    /// - Parameters:
    ///   - name: the destination property; a composite's leaf is `composite.leaf`.
    ///   - expression: in the language of `NSExpression(format:)`, with Core Data's variables: `$source.salary * 1.04`.
    public init(_ name: String, _ expression: String) {
        parts = [EntityMappingPart(.expression(name, expression))]
    }
}

/// An attribute that gets the same value in every object.
public struct Assign: EntityMappingParts {
    /// The one statement.
    public let parts: [EntityMappingPart]

    /// Describes the property mapping.
    ///
    /// - Parameters:
    ///   - name: the destination attribute.
    ///   - value: any value except an object, which a mapping model can't hold.
    public init(_ name: String, _ value: Value) {
        parts = [EntityMappingPart(.value(name, .literal(value)))]
    }
}

/// A relationship to the results of source objects.
public struct Link: EntityMappingParts {
    /// The one statement.
    public let parts: [EntityMappingPart]

    /// Describes the relationship mapping by the source objects.
    ///
    /// - Parameters:
    ///   - name: the destination relationship.
    ///   - keyPath: leads from the source object to the objects: `city.country`; nil is the relationship of this name.
    ///   - mapping: the entity mapping that carried the objects over; nil finds it by the relationship's destination.
    public init(_ name: String, from keyPath: String? = nil, through mapping: String? = nil) {
        parts = [EntityMappingPart(.relationship(name, from: keyPath, through: mapping))]
    }

    /// Describes the relationship mapping by a value expression.
    ///
    /// - Parameters:
    ///   - name: the destination relationship.
    ///   - expression: evaluates to objects of the destination; usually a call of the manager's
    ///     `destinationInstancesForEntityMappingNamed:sourceInstances:`.
    public init(_ name: String, _ expression: String) {
        parts = [EntityMappingPart(.expression(name, expression))]
    }
}

/// Properties that get the model's default, or that the policy sets.
public struct Leave: EntityMappingParts {
    /// One statement for each property.
    public let parts: [EntityMappingPart]

    /// Describes the property mappings.
    ///
    /// - Parameter names: destination properties.
    public init(_ names: String...) {
        parts = names.map { EntityMappingPart(.untouched($0)) }
    }
}

/// Only source objects that fulfil a predicate; where there are several filters, all of them.
public struct Filter: EntityMappingParts {
    /// The one statement.
    public let parts: [EntityMappingPart]

    /// Describes the filter.
    ///
    /// - Parameter predicate: in the language of `NSPredicate(format:)`.
    public init(_ predicate: String) {
        parts = [EntityMappingPart(.filter(predicate))]
    }
}

/// An entry for the policy, which finds it in `EntityMapping.userInfo`.
public struct UserInfo: EntityMappingParts {
    /// The one statement.
    public let parts: [EntityMappingPart]

    /// Describes the entry.
    ///
    /// - Parameters:
    ///   - key: a later entry of the same key replaces an earlier one.
    ///   - value: any value except an object, which a mapping model can't hold.
    public init(_ key: String, _ value: Value) {
        parts = [EntityMappingPart(.userInfo([key: .literal(value)]))]
    }
}

extension Constant {
    /// A value as a literal. An object is a programmer's error: none exists before the migration runs.
    fileprivate static func literal(_ value: Value) -> Constant {
        guard let constant = Constant(value) else {
            preconditionFailure("an object can't stand in a mapping model: none exists before it runs")
        }
        return constant
    }
}
