import CausewayExpressions
package import CausewayMapping
import CausewayModel
import CausewayStoreFormat

/// The certain result of a step for each row of an entity, as far as it is known without running it: for checking an
/// earlier version's rows against a later version's demands.
package struct RowTrace: Sendable {
    /// Where a destination attribute's value comes from.
    package enum Origin: Hashable, Sendable {
        case carried(from: String)
        /// Never NULL.
        case filled
        case null
        case unknown
    }

    /// Where a destination relationship's links come from.
    package enum LinkOrigin: Hashable, Sendable {
        case carried(LinkSource)
        case none
        case unknown
    }

    package var source: String
    package var destination: String
    /// The entity mapping whose filter, policy or expression decides which rows there are; nil if each source row makes
    /// one.
    package var decider: String?
    /// The entity mapping of a mapping model; nil in an inferred step.
    package var mapping: String?
    /// Whether a policy, or a manager of the app's own, makes what it wants of a row.
    package var isMadeByCode = false
    package var obligations: [Obligation]
    /// For each relationship, the entities at the other end about whose rows a mapping decides, by the mapping's name:
    /// links to rows that it leaves out end.
    package var decidedLinks: [String: [String: Set<String>]] = [:]
    /// For each relationship, the names of the mappings to whose objects it can lead.
    package var linkMakers: [String: Set<String>] = [:]
    private var attributes: [String: Origin]
    private var links: [String: LinkOrigin]
    private var otherAttributes: Origin
    private var otherLinks: LinkOrigin

    package func origin(of attribute: String) -> Origin { attributes[attribute] ?? otherAttributes }

    package func links(of relationship: String) -> LinkOrigin { links[relationship] ?? otherLinks }
}

extension RowTrace {
    /// What an inferred mapping does: everything is known.
    fileprivate init?(_ mapping: EntityMapping) {
        guard let source = mapping.source else { return nil }
        self.source = source
        destination = mapping.destination ?? ""
        obligations = mapping.obligations
        attributes = [:]
        for attribute in mapping.attributes {
            attributes[attribute.destination] =
                switch attribute.value {
                case .carried(let from, nil, _): .carried(from: from)
                case .carried: .filled
                case .constant(nil), .constant(.null?): .null
                case .constant: .filled
                case .derived: .unknown
                }
        }
        links = [:]
        for relationship in mapping.relationships {
            links[relationship.destination] = relationship.links.map { .carried($0) } ?? LinkOrigin.none
        }
        (otherAttributes, otherLinks) = (.unknown, .unknown)
    }

    /// What an entity mapping of a mapping model does to the rows of one entity that it reads.
    fileprivate init?(
        _ plan: EntityMappingPlan, source: String, _ readers: [String: [EntityMappingPlan]], in step: StepPlan
    ) {
        let mapping = plan.description
        guard plan.sourceEntity != nil, mapping.kind != .remove, let destination = mapping.destinationEntity else {
            return nil
        }
        self.source = source
        self.destination = destination
        self.mapping = mapping.name
        isMadeByCode = mapping.policyClassName != nil || step.objects?.hasOwnManager == true
        decider = isMadeByCode || plan.filter != nil ? mapping.name : nil
        obligations = []
        (attributes, links) = ([:], [:])
        (otherAttributes, otherLinks) = (.unknown, .unknown)
        guard !isMadeByCode else { return }
        let model = step.layout.model
        for (path, attribute) in model.storedAttributes(of: destination) {
            attributes[path] =
                attribute.derivation != nil
                ? .unknown : attribute.defaultValue.map { $0 == .null ? .null : .filled } ?? .null
        }
        for property in mapping.attributeMappings {
            guard let expression = property.expression else { continue }
            attributes[property.name] = Self.origin(expression, of: source, in: step)
        }
        for property in mapping.relationshipMappings where property.expression != nil {
            guard let fates = LinkFates(property, of: plan, source: source, readers, in: step) else { continue }
            links[property.name] = .carried(
                LinkSource(
                    entity: source, relationship: fates.relationship, isInverted: false, changesForm: false,
                    ended: fates.ended))
            decidedLinks[property.name] = fates.decided
            linkMakers[property.name] = fates.makers
        }
    }

    /// An entity whose rows no mapping model reads.
    fileprivate init(dropped source: String) {
        (self.source, destination) = (source, "")
        (obligations, attributes, links) = ([], [:], [:])
        (otherAttributes, otherLinks) = (.unknown, .unknown)
    }

    private static func origin(_ expression: Expression, of entity: String, in step: StepPlan) -> Origin {
        switch expression {
        case .keyPath(operand: .variable("source"), let path):
            step.sourceModel.storedAttributes(of: entity).contains { $0.path == path } ? .carried(from: path) : .unknown
        case .constant(let constant): constant == .null ? .null : .filled
        default: .unknown
        }
    }
}

extension StepPlan {
    /// The step's result for the rows of each entity; several if rows of several entities become one destination
    /// entity's.
    package var traces: [RowTrace] {
        guard let objects else { return mapping.entityMappings.compactMap(RowTrace.init) }
        let read = objects.mappings.flatMap { plan in entities(readBy: plan).map { (source: $0, plan: plan) } }
        let readers = Dictionary(grouping: read, by: \.source).mapValues { $0.map(\.plan) }
        let made = read.compactMap { RowTrace($0.plan, source: $0.source, readers, in: self) }
        // A policy can make anything from a row, and so can a manager of the app's own.
        guard objects.policies.isEmpty, !objects.hasOwnManager else { return made }
        return made + Set(source.entities).subtracting(made.map(\.source)).sorted().map(RowTrace.init(dropped:))
    }

    /// The source's entities whose rows an entity mapping reads.
    package func entities(readBy plan: EntityMappingPlan) -> [String] {
        var numbers: [Int] = []
        for case .oneOf(_, let found) in plan.shape.conditions { numbers += found }
        if numbers.isEmpty, let number = plan.sourceEntity { numbers = [Int(number)] }
        return numbers.compactMap { source.entities.indices.contains($0 - 1) ? source.entities[$0 - 1] : nil }
    }
}
