package import CausewayExpressions

// Mapping models written in Swift. Nothing is checked here: resolving the mapping checks it against both models and
// reports all mistakes at once. Lists instead of a result builder: two lines that begin with a dot are one expression
// in Swift.

/// One statement about an entity mapping that is written in Swift.
package struct MappingPart: Hashable, Sendable {
    fileprivate enum Content: Hashable, Sendable {
        case property(PropertyMappingDescription)
        case filter(String)
        case rows(Expression)
        case policy(String)
        case userInfo([String: Constant])
    }

    fileprivate var content: Content

    private static func property(
        _ name: String, _ expression: Expression? = nil, _ origin: PropertyOrigin? = nil
    ) -> MappingPart {
        MappingPart(
            content: .property(PropertyMappingDescription(name: name, expression: expression, origin: origin)))
    }

    /// The source's property of the same name, which must exist; attribute or relationship.
    package static func copy(_ name: String) -> MappingPart { property(name, nil, .property(name)) }

    /// The value of a source property of another name; attribute or relationship.
    package static func rename(_ source: String, to destination: String) -> MappingPart {
        property(destination, nil, .property(source))
    }

    /// A value expression as a format string: `.expression("percentage", "$source.percentage / 100")`.
    package static func expression(_ name: String, _ text: String) -> MappingPart { property(name, nil, .text(text)) }

    package static func expression(_ name: String, _ expression: Expression) -> MappingPart {
        property(name, expression)
    }

    /// The same value for every object.
    package static func value(_ name: String, _ constant: Constant) -> MappingPart {
        property(name, .constant(constant))
    }

    /// A relationship to the results of the objects at a source key path:
    /// `.relationship("country", from: "city.country", through: "CountryToCountry")`.
    ///
    /// The key path begins at the source object; nil is the property of the same name. Without an entity mapping, the
    /// one that makes the destination's objects is used.
    package static func relationship(
        _ name: String, from keyPath: String? = nil, through mapping: String? = nil
    ) -> MappingPart {
        property(name, nil, .keyPath(keyPath, mapping: mapping))
    }

    /// Leaves a property to the model's default or to the policy, even if the rest is filled.
    package static func untouched(_ name: String) -> MappingPart { property(name) }

    /// Only source objects that fulfil a predicate; several filters must all hold.
    package static func filter(_ predicate: String) -> MappingPart { MappingPart(content: .filter(predicate)) }

    /// The source objects as an expression that evaluates to a collection, instead of all of the source entity.
    package static func rows(_ expression: Expression) -> MappingPart { MappingPart(content: .rows(expression)) }

    /// The name under which the policy is registered.
    package static func policy(_ className: String) -> MappingPart { MappingPart(content: .policy(className)) }

    /// Entries for the mapping's user info, which the policy reads; later entries replace earlier ones of the same key.
    package static func userInfo(_ entries: [String: Constant]) -> MappingPart {
        MappingPart(content: .userInfo(entries))
    }
}

extension EntityMappingDescription {
    /// An unchanged entity. `autofill` maps every property that isn't mentioned and that both versions have, by name or
    /// renaming identifier.
    package static func copy(
        _ entity: String, name: String? = nil, autofill: Bool = true,
        _ parts: [MappingPart] = []
    ) -> EntityMappingDescription {
        built(.copy, entity, entity, name, autofill, parts)
    }

    /// An entity whose objects become objects of another entity, or of a changed one. A policy makes it custom.
    package static func transform(
        _ source: String, to destination: String? = nil, name: String? = nil, autofill: Bool = true,
        _ parts: [MappingPart] = []
    ) -> EntityMappingDescription {
        built(.transform, source, destination ?? source, name, autofill, parts)
    }

    /// An entity that only the destination has; its objects are made by policies.
    package static func add(
        _ entity: String, name: String? = nil, _ parts: [MappingPart] = []
    ) -> EntityMappingDescription {
        built(.add, nil, entity, name, false, parts)
    }

    /// An entity whose objects are dropped.
    package static func remove(
        _ entity: String, name: String? = nil, _ parts: [MappingPart] = []
    ) -> EntityMappingDescription {
        built(.remove, entity, nil, name, false, parts)
    }

    private static func built(
        _ kind: EntityMappingKind, _ source: String?, _ destination: String?, _ name: String?, _ autofill: Bool,
        _ parts: [MappingPart]
    ) -> EntityMappingDescription {
        var mapping = EntityMappingDescription(
            name: name ?? defaultName(source: source, destination: destination), kind: kind, sourceEntity: source,
            destinationEntity: destination)
        mapping.fillsUnmentioned = autofill
        for part in parts {
            switch part.content {
            case .property(let property): mapping.attributeMappings.append(property)
            case .filter(let text): mapping.filter = mapping.filter.map { "(\($0)) AND (\(text))" } ?? text
            case .rows(let expression): mapping.sourceExpression = expression
            case .policy(let className):
                mapping.policyClassName = className
                mapping.kind = .custom
            case .userInfo(let entries): mapping.userInfo.merge(entries) { _, new in new }
            }
        }
        return mapping
    }
}
