import CausewayModel

extension MappingInference {
    /// The attribute mappings of a destination entity that has a source.
    mutating func attributes(of entity: String, from origin: String) -> [AttributeMapping] {
        let before = source.allAttributes(of: origin)
        let after = destination.allAttributes(of: entity)
        let match = RenamingMatch(
            source: before.values.map { .init($0) }, destination: after.values.map { .init($0) },
            origin: { settledOrigin(of: $0, in: entity) })
        for name in match.settled { noteSettled(name, in: entity) }
        for conflict in match.conflicts {
            for name in conflict.destinations {
                refuse(.ambiguousRenaming(source: conflict.source, claimants: conflict.destinations), entity, name)
            }
        }
        var result: [AttributeMapping] = []
        for name in after.keys.sorted(by: ManagedObjectModel.compareOrder) {
            guard let attribute = after[name], !attribute.isTransient, attribute.type != .undefined else { continue }
            if let old = match.sources[name].flatMap({ before[$0] }) {
                result += mapped(attribute, from: old, entity: entity, paths: (to: "", from: ""))
            } else {
                if source.relationship(attribute.renamingIdentifier ?? name, of: origin) != nil,
                    !startsEmpty(name, in: entity)
                {
                    refuse(.relationshipBecameAttribute, entity, name)
                }
                result += added(attribute, entity: entity, prefix: "")
            }
        }
        return result
    }

    /// An attribute that both versions have; a composite's leaves are matched inside it.
    private mutating func mapped(
        _ attribute: Attribute, from old: Attribute, entity: String, paths: (to: String, from: String)
    ) -> [AttributeMapping] {
        let to = paths.to + attribute.name
        let from = paths.from + old.name
        // A transient attribute has no column: becoming persistent is like being added.
        guard !old.isTransient, old.type != .undefined else {
            return added(attribute, entity: entity, prefix: paths.to)
        }
        let conversion = Self.conversion(from: old.type, to: attribute.type)
        guard old.type == attribute.type || conversion != nil else {
            refuse(
                .attributeTypeChanged(
                    from: old.type.modelName, to: attribute.type.modelName,
                    expression: ConvertingExpression.text(from, from: old.type, to: attribute.type)), entity, to,
                from: from)
            // Only `closest` returns these: the types say that no value can be carried. A composite has no column.
            guard old.type != .composite, attribute.type != .composite else {
                return added(attribute, entity: entity, prefix: paths.to)
            }
            return [AttributeMapping(destination: to, value: .carried(from: from, nilReplacement: nil))]
        }
        if attribute.type == .composite {
            let match = RenamingMatch(
                source: old.elements.map { .init($0) }, destination: attribute.elements.map { .init($0) })
            return attribute.elements.filter { !$0.isTransient }.flatMap { element -> [AttributeMapping] in
                guard let origin = old.elements.first(where: { $0.name == match.sources[element.name] }) else {
                    return added(element, entity: entity, prefix: to + ".")
                }
                return mapped(element, from: origin, entity: entity, paths: (to + ".", from + "."))
            }
        }
        if let derivation = attribute.derivation, !isSame(old.derivation, derivation, entity) {
            return [AttributeMapping(destination: to, value: .derived)]
        }
        // A nil composite is stored as NULL in all its elements.
        let tightened = paths.to.isEmpty && old.isOptional && !attribute.isOptional
        if tightened, attribute.defaultValue == nil {
            obligations.append(
                Obligation(
                    step: step, entity: entity, property: to, .tightenedAttribute, demand: .noNulls(attribute: from)))
        }
        if let conversion {
            conversions.append(
                AttributeConversion(
                    step: step, entity: entity, attribute: to, source: from, conversion: conversion))
        }
        return [
            AttributeMapping(
                destination: to,
                value: .carried(
                    from: from, nilReplacement: tightened ? attribute.defaultValue : nil, conversion: conversion))
        ]
    }

    /// nil where the types are equal, or not both numeric.
    private static func conversion(from old: AttributeType, to new: AttributeType) -> NumericConversion? {
        guard old != new, let from = NumericType(old), let to = NumericType(new) else { return nil }
        return NumericConversion(from: from, to: to)
    }

    /// Marks the conversions of inherited attributes, which the parent has too.
    func markInherited(_ mappings: inout [EntityMapping]) {
        let all = Set(mappings.flatMap { $0.conversions.map { "\($0)" } })
        for index in mappings.indices where !mappings[index].conversions.isEmpty {
            guard let parent = destination.entities[mappings[index].destination ?? ""]?.parent else { continue }
            for place in mappings[index].conversions.indices {
                var raised = mappings[index].conversions[place]
                raised.entity = parent
                mappings[index].conversions[place].isInherited = all.contains("\(raised)")
            }
        }
    }

    /// An attribute without source: its default in every row, even where it is optional (InsideCoreDataMigration §4).
    private mutating func added(_ attribute: Attribute, entity: String, prefix: String) -> [AttributeMapping] {
        let path = prefix + attribute.name
        if attribute.type == .composite {
            return attribute.elements.filter { !$0.isTransient }.flatMap {
                added($0, entity: entity, prefix: path + ".")
            }
        }
        if attribute.derivation != nil { return [AttributeMapping(destination: path, value: .derived)] }
        // Elements of a composite may all be NULL: that is how a nil composite is stored (InsideStoreFormat §4.2).
        if !attribute.isOptional, attribute.defaultValue == nil, prefix.isEmpty {
            obligations.append(
                Obligation(step: step, entity: entity, property: path, .newAttribute, demand: .noRows))
        }
        return [AttributeMapping(destination: path, value: .constant(attribute.defaultValue))]
    }
}
