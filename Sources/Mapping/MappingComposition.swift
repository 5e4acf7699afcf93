import CausewayExpressions

extension MappingModel {
    /// This mapping followed by `next`, as one: what a fused run of steps does to a row.
    ///
    /// - Returns: nil where the pair can't run as one: the links of one relationship change their cardinality or order
    ///   in both (the second must not see what the first drops), they do so in one and the other removes entities or
    ///   ends links (the first of several links depends on the remaining rows), the second carries a derived attribute
    ///   that the first computes from complete rows, or it converts a default of the first that its type can't hold
    ///   (only the rows tell whether it occurs), or it takes links from an inverse that the first moves up to a parent
    ///   (whose links are still the subentities'), or from several relationships of which it names one.
    package func composed(with next: MappingModel) -> MappingModel? {
        if (changesForms && next.losesLinks) || (losesLinks && next.changesForms) { return nil }
        if next.entityMappings.contains(where: { $0.relationships.contains { hasMovedUp($0) || isPartial($0) } }) {
            return nil
        }
        let middle = MiddleVersion(of: self)
        let isBarred = next.entityMappings.contains { second in
            second.firsts(in: middle).contains { first in
                second.carriesDerived(from: first) || second.changesFormAgain(after: first, all: middle)
                    || !second.conversions.allSatisfy { $0.convertsDefault(of: first) }
            }
        }
        return isBarred ? nil : followed(by: next)
    }

    /// What both do to the source's rows, one after the other, even if they must run separately: the origin of each
    /// property, and the demands on the rows. A derived value that is computed in between stays derived.
    package func followed(by next: MappingModel) -> MappingModel {
        let middle = MiddleVersion(of: self)
        var result: [EntityMapping] = []
        var survivors = Set<String>()
        for second in next.entityMappings {
            guard let destination = second.destination else { continue }
            let firsts = second.firsts(in: middle)
            guard !firsts.isEmpty else {
                // Added in between: there are no rows, whatever happens later.
                result.append(second.startingEmpty(destination))
                continue
            }
            for first in firsts {
                let composed = second.composed(after: first, all: middle)
                survivors.formUnion([composed.source].compactMap { $0 })
                result.append(composed)
            }
        }
        for mapping in entityMappings {
            guard let source = mapping.source, !survivors.contains(source) else { continue }
            var removal = EntityMapping(
                name: "IEM_Remove_\(source)", kind: .remove, source: source, destination: nil)
            removal.obligations = mapping.obligations
            removal.conversions = mapping.conversions
            removal.endings = mapping.endings
            result.append(removal)
        }
        var model = MappingModel(entityMappings: result)
        model.sourceRoots = sourceRoots
        model.leavesLinks = leavesLinks || next.leavesLinks
        return model
    }
}

extension MappingModel {
    /// Whether links come from an inverse that only other entities had before this mapping.
    fileprivate func hasMovedUp(_ relationship: RelationshipMapping) -> Bool {
        guard let links = relationship.links, links.isInverted,
            mapping(to: links.entity)?.relationship(links.relationship)?.links == nil
        else { return false }
        return entityMappings.contains { $0.relationship(links.relationship)?.links != nil }
    }

    /// Whether this mapping names one of several relationships whose links the relationship has.
    fileprivate func isPartial(_ relationship: RelationshipMapping) -> Bool {
        relationship.links.flatMap { mapping(to: $0.entity)?.relationship($0.relationship)?.links }?.isPartial ?? false
    }

    /// Whether a row's fate depends on its links: it must have one, or the first of several is kept. If an earlier step
    /// leaves rows out, links to them have ended by then.
    package var judgesLinks: Bool {
        changesForms
            || entityMappings.contains { entity in
                entity.obligations.contains {
                    switch $0.demand {
                    case .noMissing, .noEnding: true
                    case .noRows, .noNulls: false
                    }
                }
            }
    }

    /// Whether it has demands that rows may not fulfil.
    package var mayLeaveRowsOut: Bool {
        entityMappings.contains { entity in
            !entity.obligations.isEmpty || entity.conversions.contains { !$0.conversion.holdsAll }
        }
    }

    fileprivate var losesLinks: Bool {
        leavesLinks
            || entityMappings.contains { entity in
                entity.kind == .remove || !entity.endings.isEmpty
                    || entity.relationships.contains { $0.links?.ended.isEmpty == false }
                    || entity.obligations.contains {
                        switch $0.demand {
                        case .noMissing(let links), .noEnding(let links): !links.ended.isEmpty
                        case .noRows, .noNulls: false
                        }
                    }
            }
    }

    fileprivate var changesForms: Bool {
        entityMappings.contains { $0.relationships.contains { $0.links?.changesForm == true } }
    }
}

/// The version between two mappings: what the first has made of the source's entities.
private struct MiddleVersion {
    private let byDestination: [String: [EntityMapping]]
    /// Source entities whose rows go, by the root of their tree.
    private let dropped: [String: Set<String>]
    private let roots: [String: String]

    init(of first: MappingModel) {
        let roots = first.sourceRoots
        self.roots = roots
        byDestination = Dictionary(grouping: first.entityMappings.filter { $0.destination != nil }) {
            $0.destination ?? ""
        }
        let gone = first.entityMappings.filter { $0.destination == nil }.compactMap(\.source)
        dropped = Dictionary(grouping: gone) { roots[$0] ?? "" }.mapValues(Set.init)
    }

    func mappings(to entity: String) -> [EntityMapping] { byDestination[entity] ?? [] }

    /// Those that may have the relationships of a source entity: others have none of its links.
    func dropped(inTreeOf entity: String) -> Set<String> { dropped[roots[entity] ?? ""] ?? [] }
}

extension EntityMapping {
    /// The mappings that make the rows which this one reads.
    fileprivate func firsts(in middle: MiddleVersion) -> [EntityMapping] {
        (source.map(middle.mappings) ?? []).filter { $0.source != nil && destination != nil }
    }

    /// The links of one relationship change their form in both.
    fileprivate func changesFormAgain(after first: EntityMapping, all: MiddleVersion) -> Bool {
        relationships.contains {
            $0.links?.changesForm == true && $0.links?.earlier(after: first, all: all)?.changesForm == true
        }
    }

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

    fileprivate func composed(after first: EntityMapping, all: MiddleVersion) -> EntityMapping {
        let source = first.source ?? ""
        let isCopy = first.kind == .copy && kind == .copy
        var result = EntityMapping(
            name: isCopy ? "IEM_Copy_\(source)" : "IEM_Transform_\(source)", kind: isCopy ? .copy : .transform,
            source: source, destination: destination, attributes: attributes.map { $0.composed(after: first) },
            relationships: relationships.map {
                var result = RelationshipMapping(
                    destination: $0.destination, links: $0.links?.composed(after: first, all: all))
                result.outvoted = $0.outvoted?.composed(after: first, all: all)
                return result
            })
        result.obligations = first.obligations + obligations.compactMap { $0.traced(through: first, all: all) }
        result.conversions = first.conversions + conversions.compactMap { $0.traced(through: first) }
        result.endings = first.endings + endings.compactMap { $0.traced(through: first, all: all) }
        return result
    }
}

extension LinkEnding {
    /// The same ending for the links of `first`'s source; nil if there are none, or all end in `first`.
    fileprivate func traced(through first: EntityMapping, all: MiddleVersion) -> LinkEnding? {
        guard var earlier = links.composed(after: first, all: all) else { return nil }
        var result = self
        result.targets = LinkSource.sources(of: targets, in: all).subtracting(earlier.ended)
        (earlier.ended, earlier.changesForm) = ([], false)
        result.links = earlier
        return result.targets.isEmpty ? nil : result
    }
}

extension LinkSource {
    /// Where the mapping before takes these links from; nil if it has none, or all of this row's end in it.
    fileprivate func earlier(after first: EntityMapping, all: MiddleVersion) -> LinkSource? {
        let mapping = isInverted ? all.mappings(to: entity).first : first
        guard let earlier = mapping?.relationship(relationship)?.links else { return nil }
        // Seen from the other end, the links may end at rows of this side.
        return isInverted && first.source.map(earlier.ended.contains) == true ? nil : earlier
    }

    fileprivate func composed(after first: EntityMapping, all: MiddleVersion) -> LinkSource? {
        guard let earlier = earlier(after: first, all: all) else { return nil }
        var result = composed(after: earlier)
        result.ended = Self.sources(of: ended, in: all).union(isInverted ? [] : earlier.ended)
        return result
    }

    /// The entities from which those of the middle come.
    fileprivate static func sources(of names: Set<String>, in all: MiddleVersion) -> Set<String> {
        Set(names.flatMap { all.mappings(to: $0).compactMap(\.source) })
    }

    /// These links in terms of the version before, where they are `earlier`'s.
    package func composed(after earlier: LinkSource) -> LinkSource {
        var result = LinkSource(
            entity: earlier.entity, relationship: earlier.relationship, isInverted: isInverted != earlier.isInverted,
            changesForm: changesForm || earlier.changesForm, isPartial: isPartial || earlier.isPartial)
        result.keepsFirst = keepsFirst || earlier.keepsFirst
        result.countsFarColumn =
            earlier.countsFarColumn ?? (earlier.changesForm ? nil : countsFarColumn.map { $0 != earlier.isInverted })
        result.narrowings = earlier.narrowings + narrowings.map { earlier.isInverted ? $0.turned : $0 }
        return result
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
            return AttributeMapping(destination: destination, value: .derived)
        }
    }
}

extension Obligation {
    /// The same obligation as a demand on the rows of `first`'s source; nil if `first` already fulfils it.
    fileprivate func traced(through first: EntityMapping, all: MiddleVersion) -> Obligation? {
        var result = self
        let middle: String
        switch demand {
        case .noRows: return self
        case .noMissing(let links):
            guard var earlier = links.composed(after: first, all: all) else {
                result.demand = .noRows
                return result
            }
            // The rows at the other end may be gone although the relationship stays.
            if links.isInverted { earlier.ended.formUnion(all.dropped(inTreeOf: earlier.entity)) }
            result.demand = .noMissing(links: earlier)
            return result
        case .noEnding(let links):
            // Links that end before concern the earlier step.
            guard var earlier = links.composed(after: first, all: all) else { return nil }
            earlier.ended = LinkSource.sources(of: links.ended, in: all)
            result.demand = .noEnding(links: earlier)
            return earlier.ended.isEmpty ? nil : result
        case .noNulls(let attribute): middle = attribute
        }
        guard let earlier = first.attribute(middle) else { return self }
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
