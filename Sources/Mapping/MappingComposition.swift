import CausewayExpressions

extension MappingModel {
    /// This mapping followed by `next`, as one: what a fused run of steps does to a row.
    ///
    /// - Returns: nil where the pair can't run as one: the links of one relationship change their cardinality or order in
    ///   both (what the first change drops, the second must not see), they do so in one and the other removes entities
    ///   (which of several links is the first depends on the rows that are there), the second carries a derived
    ///   attribute that the first computes from complete rows, or it converts a default of the first that its type can't
    ///   hold (whether a row has it, the rows say).
    package func composed(with next: MappingModel) -> MappingModel? {
        if (changesForms && next.removesEntities) || (removesEntities && next.changesForms) { return nil }
        var byMiddle: [String: [EntityMapping]] = [:]
        for mapping in entityMappings {
            if let destination = mapping.destination { byMiddle[destination, default: []].append(mapping) }
        }
        var result: [EntityMapping] = []
        var survivors = Set<String>()
        for second in next.entityMappings {
            guard let destination = second.destination else { continue }
            let firsts = (second.source.flatMap { byMiddle[$0] } ?? []).filter { $0.source != nil }
            guard !firsts.isEmpty else {
                // Added on the way: there are no rows, whatever happens to them later.
                result.append(second.startingEmpty(destination))
                continue
            }
            for first in firsts {
                guard let composed = second.composed(after: first, all: byMiddle) else { return nil }
                survivors.formUnion([composed.source].compactMap { $0 })
                result.append(composed)
            }
        }
        for mapping in entityMappings {
            guard let source = mapping.source, !survivors.contains(source) else { continue }
            result.append(
                EntityMapping(
                    name: "IEM_Remove_\(source)", kind: .remove, source: source, destination: nil,
                    obligations: mapping.obligations, conversions: mapping.conversions))
        }
        return MappingModel(entityMappings: result)
    }
}

extension MappingModel {
    fileprivate var removesEntities: Bool { entityMappings.contains { $0.kind == .remove } }

    fileprivate var changesForms: Bool {
        entityMappings.contains { $0.relationships.contains { $0.links?.changesForm == true } }
    }
}

extension EntityMapping {
    fileprivate func carriesDerived(from first: EntityMapping) -> Bool {
        attributes.contains {
            guard case .carried(let middle, _, _) = $0.value else { return false }
            return first.attribute(middle)?.value == .derived
        }
    }

    fileprivate func startingEmpty(_ destination: String) -> EntityMapping {
        EntityMapping(
            name: "IEM_Add_\(destination)", kind: .add, source: nil, destination: destination,
            attributes: attributes.map {
                guard case .carried = $0.value else {
                    return AttributeMapping(destination: $0.destination, value: $0.value)
                }
                return AttributeMapping(destination: $0.destination, value: .constant(nil))
            },
            relationships: relationships.map { RelationshipMapping(destination: $0.destination, links: nil) })
    }

    /// nil where the two can't run as one.
    fileprivate func composed(after first: EntityMapping, all: [String: [EntityMapping]]) -> EntityMapping? {
        guard !carriesDerived(from: first), conversions.allSatisfy({ $0.convertsDefault(of: first) }),
            let source = first.source,
            let relationships = composedRelationships(after: first, all: all)
        else { return nil }
        let isCopy = first.kind == .copy && kind == .copy
        return EntityMapping(
            name: isCopy ? "IEM_Copy_\(source)" : "IEM_Transform_\(source)", kind: isCopy ? .copy : .transform,
            source: source, destination: destination, attributes: attributes.map { $0.composed(after: first) },
            relationships: relationships,
            obligations: first.obligations + obligations.compactMap { $0.traced(through: first, all: all) },
            conversions: first.conversions + conversions.compactMap { $0.traced(through: first) })
    }

    private func composedRelationships(
        after first: EntityMapping, all: [String: [EntityMapping]]
    ) -> [RelationshipMapping]? {
        var result: [RelationshipMapping] = []
        for mapping in relationships {
            guard let links = mapping.links else {
                result.append(mapping)
                continue
            }
            let earlier = links.mapping(first, all: all)
            if links.changesForm, earlier?.changesForm == true { return nil }
            result.append(
                RelationshipMapping(
                    destination: mapping.destination, links: earlier.map { links.composed(after: $0) }))
        }
        return result
    }
}

extension LinkSource {
    /// Where the mapping before, of the entity itself and of all, takes these links from; nil where they begin with it.
    fileprivate func mapping(_ first: EntityMapping, all: [String: [EntityMapping]]) -> LinkSource? {
        (isInverted ? all[entity]?.first : first)?.relationship(relationship)?.links
    }

    /// These links in the terms of the version before, where they are `earlier`'s.
    package func composed(after earlier: LinkSource) -> LinkSource {
        LinkSource(
            entity: earlier.entity, relationship: earlier.relationship, isInverted: isInverted != earlier.isInverted,
            changesForm: changesForm || earlier.changesForm)
    }
}

extension AttributeMapping {
    /// What this mapping, applied to the result of `first`, does to a row of `first`'s source.
    fileprivate func composed(after first: EntityMapping) -> AttributeMapping {
        guard case .carried(let middle, let replacement, let conversion) = value,
            let earlier = first.attribute(middle)
        else { return self }
        switch earlier.value {
        case .carried(let source, let earlierReplacement, let earlierConversion):
            return AttributeMapping(
                destination: destination,
                value: .carried(
                    from: source, nilReplacement: earlierReplacement.converted(by: conversion) ?? replacement,
                    conversion: earlierConversion.followed(by: conversion)))
        case .constant(let constant):
            return AttributeMapping(
                destination: destination, value: .constant(constant.converted(by: conversion) ?? replacement),
                fillsTable: earlier.fillsTable)
        case .derived:
            preconditionFailure("composed(with:) refuses to carry what the first mapping derives")
        }
    }
}

extension Obligation {
    /// The same obligation as a demand on the rows of `first`'s source; nil where `first` already fulfils it.
    fileprivate func traced(through first: EntityMapping, all: [String: [EntityMapping]]) -> Obligation? {
        var result = self
        if case .noMissing(let links) = demand {
            let earlier = links.mapping(first, all: all)
            result.demand = earlier.map { .noMissing(links: links.composed(after: $0)) } ?? .noRows
            return result
        }
        guard case .noNulls(let middle) = demand, let earlier = first.attribute(middle) else { return self }
        switch earlier.value {
        case .carried(let source, nil, _): result.demand = .noNulls(attribute: source)
        case .constant(let constant) where constant.nonNull == nil: result.demand = .noRows
        case .carried, .constant, .derived: return nil
        }
        return result
    }
}

extension NumericConversion? {
    package func followed(by next: NumericConversion?) -> NumericConversion? {
        guard let self, let next else { return self ?? next }
        return self.followed(by: next)
    }
}

extension Constant? {
    /// nil for NULL.
    fileprivate func converted(by conversion: NumericConversion?) -> Constant? {
        nonNull.flatMap { constant in
            guard let conversion else { return constant }
            return conversion.applied(to: constant)
        }
    }

    fileprivate var nonNull: Constant? {
        self == .null ? nil : self
    }
}
