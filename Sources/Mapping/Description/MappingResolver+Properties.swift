import CausewayExpressions
import CausewayModel

// Property mappings: which properties they name, and default expressions.

extension MappingResolver {
    mutating func resolveProperties(_ mapping: inout EntityMappingDescription) {
        let written = (mapping.attributeMappings, mapping.relationshipMappings)
        mapping.attributeMappings = []
        mapping.relationshipMappings = []
        guard let target = mapping.destinationEntity else {
            if !written.0.isEmpty || !written.1.isEmpty {
                report(.contradiction, "It maps properties but has no destination entity.")
            }
            return
        }
        guard destination.model.entities[target] != nil else { return }
        var mentioned: Set<String> = []
        for property in written.0 + written.1 where !mentioned.insert(property.name).inserted {
            report(.contradiction, "It is mapped twice; keep one of them.", property: property.name)
        }
        for property in written.0 { resolve(property, isAttribute: true, in: &mapping, target) }
        for property in written.1 { resolve(property, isAttribute: false, in: &mapping, target) }
        if mapping.fillsUnmentioned {
            fillUnmentioned(&mapping, target, mentioned)
            mapping.fillsUnmentioned = false
        }
        // The order of a set means nothing; Xcode's compiler sorts it by name.
        if description.form == .editor {
            mapping.attributeMappings.sort { ManagedObjectModel.compareOrder($0.name, $1.name) }
            mapping.relationshipMappings.sort { ManagedObjectModel.compareOrder($0.name, $1.name) }
        }
    }

    private mutating func resolve(
        _ property: PropertyMappingDescription, isAttribute: Bool, in mapping: inout EntityMappingDescription,
        _ target: String
    ) {
        let model = destination.model
        var resolved = property
        if model.attribute(path: property.name, of: target) != nil {
            guard isAttribute else {
                report(
                    .unknownProperty, "It is mapped as a relationship, but is an attribute of “\(target)”.",
                    property: property.name)
                return
            }
            resolved.expression = attributeExpression(property, mapping.sourceEntity)
            resolved.origin = nil
            mapping.attributeMappings.append(resolved)
        } else if let relationship = model.relationship(property.name, of: target)?.relationship {
            guard !isAttribute || description.form == .code else {
                report(
                    .unknownProperty, "It is mapped as an attribute, but is a relationship of “\(target)”.",
                    property: property.name)
                return
            }
            resolved.expression = relationshipExpression(property, relationship, mapping.sourceEntity)
            resolved.origin = nil
            mapping.relationshipMappings.append(resolved)
        } else {
            report(
                .unknownProperty, "The destination entity “\(target)” has no such attribute or relationship.",
                property: property.name)
        }
    }

    // MARK: - Values

    private mutating func attributeExpression(
        _ property: PropertyMappingDescription, _ entity: String?
    ) -> Expression? {
        if let expression = property.expression { return expression }
        switch property.origin {
        case nil: return nil
        case .automatic:
            guard let entity, source.model.attribute(path: property.name, of: entity) != nil else { return nil }
            return .source(property.name)
        case .property(let name):
            guard let entity = sourceEntity(entity, property.name) else { return nil }
            if source.model.attribute(path: name, of: entity) == nil {
                report(
                    .unknownProperty, "The source entity “\(entity)” has no attribute “\(name)”.",
                    property: property.name)
            }
            return .source(name)
        case .keyPath(let path, mapping: let carrier):
            if carrier != nil {
                report(
                    .contradiction, "It is an attribute, so no entity mapping can carry its value over.",
                    property: property.name)
            }
            return keyPath(path ?? property.name, property.name)
        case .text(let text): return parsed(text, property.name)
        }
    }

    private mutating func relationshipExpression(
        _ property: PropertyMappingDescription, _ relationship: Relationship, _ entity: String?
    ) -> Expression? {
        if let expression = property.expression { return expression }
        switch property.origin {
        case nil: return nil
        case .automatic:
            guard let entity, let origin = source.model.relationship(property.name, of: entity)?.relationship else {
                return nil
            }
            return carriedOver(origin, to: relationship)
        case .property(let name):
            guard let entity = sourceEntity(entity, property.name) else { return nil }
            guard let origin = source.model.relationship(name, of: entity)?.relationship else {
                report(
                    .unknownProperty, "The source entity “\(entity)” has no relationship “\(name)”.",
                    property: property.name)
                return nil
            }
            return carriedOver(origin, to: relationship)
        case .keyPath(let path, mapping: let carrier):
            guard let objects = keyPath(path ?? property.name, property.name) else { return nil }
            if let carrier { return .instances(through: carrier, of: objects) }
            let fitting = carriers.filter { destination.model.isKind($0.destination, of: relationship.destination) }
            return instances(through: fitting, orOf: property.name, of: objects)
        case .text(let text): return parsed(text, property.name)
        }
    }

    /// The default of a relationship: through the one entity mapping that can be on the far side; if there are several
    /// (or none), any result of the source objects [O: V2toV3.cdm].
    private func carriedOver(_ origin: Relationship, to relationship: Relationship) -> Expression {
        let fitting = carriers.filter {
            source.model.isKind($0.source, of: origin.destination)
                && destination.model.isKind($0.destination, of: relationship.destination)
        }
        return instances(through: fitting, orOf: origin.name, of: .source(origin.name))
    }

    private func instances(
        through fitting: [Carrier], orOf relationship: String, of objects: Expression
    ) -> Expression {
        fitting.count == 1 && fitting[0].isNamed
            ? .instances(through: fitting[0].name, of: objects)
            : .instances(ofRelationship: relationship, of: objects)
    }

    private mutating func sourceEntity(_ entity: String?, _ property: String) -> String? {
        if entity == nil {
            report(
                .contradiction, "It takes a source property, but the mapping has no source entity.", property: property)
        }
        return entity.flatMap { source.model.entities[$0] == nil ? nil : $0 }
    }

    /// A key path of Xcode's editor: `$source.a.b`; without a variable it starts at the source object.
    private mutating func keyPath(_ path: String, _ property: String) -> Expression? {
        parsed(path.hasPrefix("$") ? path : "$source.\(path)", property)
    }

    private mutating func parsed(_ text: String, _ property: String) -> Expression? {
        do {
            return try Expression(parsing: text)
        } catch {
            report(.malformed, "“\(text)” isn't an expression: \(error)", property: property)
            return nil
        }
    }

    // MARK: - Properties that aren't mentioned

    private mutating func fillUnmentioned(
        _ mapping: inout EntityMappingDescription, _ target: String, _ mentioned: Set<String>
    ) {
        guard let entity = mapping.sourceEntity, source.model.entities[entity] != nil else { return }
        let attributes = destination.model.migratableAttributes(of: target)
        let attributeSources = RenamingMatch(
            source: source.model.migratableAttributes(of: entity).map { .init($0) },
            destination: attributes.map { .init($0) })
        for attribute in attributes where !mentioned.contains(attribute.name) {
            guard let origin = attributeSources.sources[attribute.name] else { continue }
            for leaf in attribute.leafPaths where !mentioned.contains(attribute.name + leaf) {
                guard source.model.attribute(path: origin + leaf, of: entity)?.type != .composite,
                    source.model.attribute(path: origin + leaf, of: entity) != nil
                else { continue }
                mapping.attributeMappings.append(
                    PropertyMappingDescription(name: attribute.name + leaf, expression: .source(origin + leaf)))
            }
        }
        let relationships = destination.model.storedRelationships(of: target)
        let origins = source.model.storedRelationships(of: entity)
        let relationshipSources = RenamingMatch(
            source: origins.map { .init($0) }, destination: relationships.map { .init($0) })
        for relationship in relationships where !mentioned.contains(relationship.name) {
            guard let name = relationshipSources.sources[relationship.name],
                let origin = origins.first(where: { $0.name == name })
            else { continue }
            mapping.relationshipMappings.append(
                PropertyMappingDescription(
                    name: relationship.name, expression: carriedOver(origin, to: relationship)))
        }
    }

    // MARK: - Calls

    /// Entity mappings and entities that expressions name by constants.
    mutating func checkCalls(of mapping: EntityMappingDescription) {
        var expressions = (mapping.attributeMappings + mapping.relationshipMappings)
            .compactMap { property in property.expression.map { (String?.some(property.name), $0) } }
        if let rows = mapping.sourceExpression { expressions.append((nil, rows)) }
        for (property, expression) in expressions {
            var calls: [(selector: String, name: String)] = []
            expression.visit { part in
                guard case .function(.variable("manager")?, let selector, let arguments) = part,
                    let name = arguments.first?.text
                else { return }
                calls.append((selector, name))
            }
            // The mapping's own source entity is reported already.
            for call in calls where call.name != mapping.sourceEntity { check(call.selector, call.name, property) }
        }
    }

    private mutating func check(_ selector: String, _ name: String, _ property: String?) {
        switch selector {
        case ManagerSelector.instancesForMapping where !mappingNames.contains(name) && !otherNames.contains(name):
            report(.unknownMapping, "It names the entity mapping “\(name)”, which isn't there.", property: property)
        case ManagerSelector.fetchRequest, ManagerSelector.fetchRequestWithSubentities:
            if source.model.entities[name] == nil {
                report(.unknownEntity, "It fetches “\(name)”, which the source model doesn't have.", property: property)
            }
        default: break
        }
    }
}

extension Expression {
    /// The destination objects that an entity mapping made of source objects.
    static func instances(through mapping: String, of objects: Expression) -> Expression {
        .function(
            operand: .manager, name: ManagerSelector.instancesForMapping,
            arguments: [.constant(.string(mapping)), objects])
    }

    /// The destination objects that any entity mapping made of source objects.
    static func instances(ofRelationship name: String, of objects: Expression) -> Expression {
        .function(
            operand: .manager, name: ManagerSelector.instancesForRelationship,
            arguments: [.constant(.string(name)), objects])
    }
}
