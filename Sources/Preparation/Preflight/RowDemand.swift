import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewayStoreFormat

/// A step's demand on rows, expressed in terms of the store that the migration reads.
struct RowDemand {
    /// What makes a row of `entity` break the demand.
    enum Breach {
        case existing
        case null(attribute: String)
        /// A value where only NULL could be stored.
        case value(attribute: String)
        /// No link, or one to an entity where such links end.
        case missing(LinkSource)
        /// A link to an entity where such links end.
        case ending(LinkSource)
        /// An expression of an earlier step makes the value.
        case unknown
    }

    /// Of the store's model.
    var entity: String
    var breach: Breach
    /// Index of the demanding step among the executed steps.
    let step: Int
    /// `V2: Post.title`
    let place: String
    let cause: Cause
    /// What decides whether the rows get that far: mappings with filters or policies, handlers.
    var deciders: [String] = []

    /// The reason for the demand.
    enum Cause {
        case obligation(Obligation)
        /// A mapping model gives no value.
        case mapped(Lack, hasDefault: Bool)
        /// A mapping model gives a value of another type.
        case misfit(Misfit, mapping: String)
        /// A mapping model makes objects of an abstract entity.
        case abstractTarget(mapping: String)
        /// These versions have a default that a later version's type can't hold.
        case unfitDefault(AttributeConversion, NumericType.Misfit, writtenBy: [String])
    }

    /// The reason for the demand, as a clause about `place`.
    var reason: String {
        switch cause {
        case .obligation(let obligation): obligation.change.rawValue
        case .mapped(let lack, _): lack.reason
        case .misfit(let misfit, let mapping): misfit.reason(mapping)
        case .abstractTarget(let mapping): "is abstract, and the mapping “\(mapping)” makes objects of it"
        case .unfitDefault(let change, let misfit, let versions):
            """
            is \(change.conversion.destination.attributeType.modelName) now, which can't hold the default that \
            \(versions.joined(separator: " → ")) writes (\(misfit.words))
            """
        }
    }

    /// `V3: Note.title is mandatory now`
    var subject: String { "\(place) \(reason)" }

    /// Whether a row that breaks it certainly stops the run.
    var isCertain: Bool {
        if case .unknown = breach { false } else { deciders.isEmpty }
    }

    /// Whether it depends on the links that rows have.
    var judgesLinks: Bool {
        switch breach {
        case .missing, .ending: true
        case .existing, .null, .value, .unknown: false
        }
    }

    /// Whether a row that has lost its link breaks it.
    var asksForLink: Bool {
        if case .missing = breach { true } else { false }
    }

    /// All demands of the steps, traced back to the rows that the first step reads.
    ///
    /// - Parameters:
    ///   - steps: in their order.
    ///   - deciders: for each step, what may change its finished rows before the next reads them.
    ///   - stopsAtViolations: a step with mapping models stops at a row without a mandatory value.
    /// - Returns: the demands, in the steps' order.
    static func all(_ steps: [StepPlan], deciders: [[String]], stopsAtViolations: Bool) -> [RowDemand] {
        let traces = steps.map(StepTraces.init)
        let unfit = steps.indices.map { unfitDefaults(steps, convertedBy: $0) }
        var result: [RowDemand] = []
        for index in steps.indices {
            var demands = own(steps[index], at: index)
            demands += unmakeable(steps[index], at: index)
            if stopsAtViolations, steps[index].objects != nil {
                demands += validated(steps[index], at: index, traces[index].all)
            }
            for earlier in (0..<index).reversed() {
                demands = demands.flatMap { $0.traced(through: traces[earlier], deciders[earlier]) }
                    .compactMap { $0.judged(in: steps[earlier].sourceModel) }
                demands += (unfit[index][earlier] ?? []).map {
                    var demand = $0
                    demand.deciders += deciders[earlier]
                    return demand
                }
            }
            result += demands
        }
        return result
    }

    /// A step's demands on the rows that it reads itself.
    private static func own(_ step: StepPlan, at index: Int) -> [RowDemand] {
        step.mapping.entityMappings.flatMap { mapping -> [RowDemand] in
            guard let entity = mapping.source else { return [] }
            return mapping.obligations.compactMap {
                RowDemand(
                    entity: entity, breach: Breach($0.demand), step: index, place: step.place(of: $0),
                    cause: .obligation($0)
                ).judged(in: step.sourceModel)
            }
        }
    }

    /// The same where rows of the entity can have such links; others surely have none.
    private func judged(in model: ManagedObjectModel) -> RowDemand? {
        switch breach {
        case .missing(let links) where !links.canBe(of: entity, in: model):
            var result = self
            result.breach = .existing
            return result
        case .ending(let links) where !links.canBe(of: entity, in: model): return nil
        default: return self
        }
    }

    /// Defaults that earlier steps write and a step's conversions can't hold, as demands on the rows that the writing
    /// step reads, by that step's index. If both run as one, there are none (`MappingModel.composed`).
    private static func unfitDefaults(_ steps: [StepPlan], convertedBy index: Int) -> [Int: [RowDemand]] {
        let step = steps[index]
        var found: [Int: [RowDemand]] = [:]
        var changes = step.mapping.entityMappings.flatMap { mapping in
            mapping.conversions.map { (entity: mapping.source ?? "", change: $0) }
        }
        for earlier in (0..<index).reversed() where !changes.isEmpty {
            guard steps[earlier].objects == nil else { break }
            let mappings = Dictionary(grouping: steps[earlier].mapping.entityMappings) { $0.destination ?? "" }
            var before: [(entity: String, change: AttributeConversion)] = []
            for (entity, change) in changes {
                for mapping in mappings[entity] ?? [] {
                    guard let source = mapping.source else { continue }
                    if let traced = change.traced(through: mapping) { before.append((source, traced)) }
                    guard let unfit = change.unfitDefault(of: mapping) else { continue }
                    let place = "\(step.version(ofStep: change.step)): \(change.entity).\(change.attribute)"
                    found[earlier, default: []].append(
                        RowDemand(
                            entity: source, breach: unfit.replaced.map { .null(attribute: $0) } ?? .existing,
                            step: index, place: place,
                            cause: .unfitDefault(change, unfit.misfit, writtenBy: steps[earlier].versions)))
                }
            }
            changes = before
        }
        return found
    }

    /// The demands on the rows of the step before: what certainly breaks this one, and what may, since mappings decide
    /// about the rows that links lead to.
    private func traced(through traces: StepTraces, _ others: [String]) -> [RowDemand] {
        traces.leading(to: entity).flatMap { trace -> [RowDemand] in
            var result = self
            result.entity = trace.source
            if let decider = trace.decider { result.deciders.append(Self.mapping(decider)) }
            result.deciders += others
            switch breach {
            case .existing, .unknown: break
            case .null(let attribute):
                switch trace.origin(of: attribute) {
                case .carried(let from): result.breach = .null(attribute: from)
                case .filled: return []
                case .null: result.breach = .existing
                case .unknown: result.breach = .unknown
                }
            case .value(let attribute):
                switch trace.origin(of: attribute) {
                case .carried(let from): result.breach = .value(attribute: from)
                case .filled: result.breach = .existing
                case .null: return []
                case .unknown: result.breach = .unknown
                }
            case .missing(let links):
                switch Self.origin(of: links, trace, traces) {
                case .carried(let earlier):
                    var composed = links.composed(after: earlier)
                    let targets = LinkTargetTraces(links, trace, traces)
                    composed.ended = targets.ended.union(
                        // The rows at the other end may be gone although the relationship stays.
                        links.isInverted ? traces.dropped(endsOf: composed) : earlier.ended)
                    result.breach = .missing(composed)
                    return [result]
                        + result.ending(
                            composed,
                            Self.decided(links, trace, traces).merging(targets.undecided) { $0.union($1) })
                case .none: result.breach = .existing
                case .unknown: result.breach = .unknown
                }
            case .ending(let links):
                switch Self.origin(of: links, trace, traces) {
                case .carried(let earlier):
                    var composed = links.composed(after: earlier)
                    let targets = LinkTargetTraces(links, trace, traces)
                    composed.ended = targets.ended
                    let undecided = result.ending(composed, targets.undecided)
                    guard !composed.ended.isEmpty else { return undecided }
                    result.breach = .ending(composed)
                    return [result] + undecided
                case .none: return []
                case .unknown: result.breach = .unknown
                }
            }
            return [result]
        }
    }

    /// Where links come from in the step before.
    private static func origin(
        of links: LinkSource, _ trace: RowTrace, _ traces: StepTraces
    ) -> RowTrace.LinkOrigin {
        if let carrier = carrier(of: links, trace, traces) {
            let origin = carrier.links(of: links.relationship)
            // Of other rows' links the other end tells.
            if case .carried(let earlier) = origin, earlier.isPartial { return .unknown }
            return origin
        }
        return traces.areMadeByCode ? .unknown : .none
    }

    /// The entity that carries the links: links through the inverse are found at the other end. There several entities
    /// may have become one, or an entity may have taken over what was its subentities'; only some lead to such rows.
    private static func carrier(of links: LinkSource, _ trace: RowTrace, _ traces: StepTraces) -> RowTrace? {
        guard links.isInverted else { return trace }
        let others = traces.leading(toKind: links.entity)
        func leadsHere(_ other: RowTrace) -> Bool {
            guard case .carried(let earlier) = other.links(of: links.relationship) else { return false }
            return links.composed(after: earlier).canBe(of: trace.source, in: traces.step.sourceModel)
        }
        func isUnknown(_ other: RowTrace) -> Bool {
            if case .unknown = other.links(of: links.relationship) { true } else { false }
        }
        return others.first(where: leadsHere) ?? others.first(where: isUnknown)
            ?? others.first { $0.destination == links.entity }
    }

    /// The entities at the other end about whose rows a mapping decides, by its name.
    private static func decided(
        _ links: LinkSource, _ trace: RowTrace, _ traces: StepTraces
    ) -> [String: Set<String>] {
        guard links.isInverted else { return trace.decidedLinks[links.relationship] ?? [:] }
        var decided: [String: Set<String>] = [:]
        for other in traces.leading(to: links.entity) {
            if let decider = other.decider { decided[decider, default: []].insert(other.source) }
        }
        return decided
    }

    /// This demand for links to rows of entities about which mappings decide: once for those about which the same do.
    private func ending(_ links: LinkSource, _ decided: [String: Set<String>]) -> [RowDemand] {
        var deciders: [String: [String]] = [:]
        for (decider, entities) in decided.sorted(by: { $0.key < $1.key }) {
            for entity in entities { deciders[entity, default: []].append(decider) }
        }
        let groups = Dictionary(grouping: deciders.keys) { deciders[$0] ?? [] }
        return groups.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { deciders, entities in
            var (result, links) = (self, links)
            links.ended = Set(entities)
            result.breach = .ending(links)
            result.deciders += deciders.map(Self.mapping)
            return result
        }
    }

    private static func mapping(_ name: String) -> String { "the mapping “\(name)”" }
}

extension RowDemand.Breach {
    init(_ demand: Obligation.Demand) {
        self =
            switch demand {
            case .noRows: .existing
            case .noNulls(let attribute): .null(attribute: attribute)
            case .noMissing(let links): .missing(links)
            case .noEnding(let links): .ending(links)
            }
    }
}
