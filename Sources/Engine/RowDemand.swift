import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewayStoreFormat

/// What a step asks of rows, told in terms of the store that the migration reads.
struct RowDemand {
    /// What makes a row of `entity` break the demand.
    enum Breach {
        case existing
        case null(attribute: String)
        case missing(LinkSource)
        /// An expression on the way makes the value.
        case unknown
    }

    /// Of the store's model.
    var entity: String
    var breach: Breach
    /// Place of the step that asks, among those that are executed.
    let step: Int
    /// `V2: Post.title`
    let place: String
    /// nil for an entity as a whole.
    let property: String?
    /// What makes it mandatory; nil for an entity that becomes abstract.
    let change: Obligation.Change?
    /// What decides on the way whether the rows come that far: mappings with filters or policies, handlers.
    var deciders: [String] = []

    /// Why rows are asked, as a clause about `place`.
    var reason: String { change?.rawValue ?? "is abstract now" }

    /// Everything that the steps ask, traced back to the rows that the first of them reads.
    ///
    /// - Parameters:
    ///   - steps: in their order.
    ///   - deciders: of each step what may change its finished rows before the next reads them.
    ///   - stopsAtViolations: a step with mapping models ends at a row without a mandatory value.
    /// - Returns: the demands, in the steps' order.
    static func all(_ steps: [StepPlan], deciders: [[String]], stopsAtViolations: Bool) -> [RowDemand] {
        let traces = steps.map(\.traces)
        var result: [RowDemand] = []
        for index in steps.indices {
            var demands = own(steps[index], at: index)
            if stopsAtViolations, steps[index].objects != nil {
                demands += validated(steps[index], at: index, traces[index])
            }
            for earlier in (0..<index).reversed() {
                demands = demands.flatMap { $0.traced(through: traces[earlier], deciders[earlier]) }
            }
            result += demands
        }
        return result
    }

    /// What a step asks of the rows that it reads itself.
    private static func own(_ step: StepPlan, at index: Int) -> [RowDemand] {
        let version = step.versions.last ?? ""
        let abstract = step.mustBeEmpty.map {
            RowDemand(
                entity: $0, breach: .existing, step: index, place: "\(version): \($0)", property: nil,
                change: nil)
        }
        let obliged = step.mapping.entityMappings.flatMap { mapping -> [RowDemand] in
            guard let entity = mapping.source else { return [] }
            return mapping.obligations.map { RowDemand($0, entity: entity, step, at: index) }
        }
        return abstract + obliged
    }

    /// Mandatory attributes that a step's mapping models surely leave without a value.
    private static func validated(_ step: StepPlan, at index: Int, _ traces: [RowTrace]) -> [RowDemand] {
        traces.filter { $0.decider == nil }.flatMap { trace -> [RowDemand] in
            step.layout.model.storedAttributes(of: trace.destination).compactMap { path, attribute -> RowDemand? in
                // Elements of a composite are asked for only where there is one.
                guard !attribute.isOptional, attribute.derivation == nil, !path.contains(".") else { return nil }
                var (breach, change) = (Breach.existing, Obligation.Change.newAttribute)
                switch trace.origin(of: path) {
                case .filled, .unknown: return nil
                case .null: break
                case .carried(let from):
                    guard step.sourceModel.attribute(from, of: trace.source)?.attribute.isOptional != false else {
                        return nil
                    }
                    (breach, change) = (.null(attribute: from), .tightenedAttribute)
                }
                return RowDemand(
                    entity: trace.source, breach: breach, step: index,
                    place: "\(step.versions.last ?? ""): \(trace.destination).\(path)", property: path, change: change)
            }
        }
    }

    private init(_ obligation: Obligation, entity: String, _ step: StepPlan, at index: Int) {
        self.init(
            entity: entity, breach: Breach(obligation.demand), step: index,
            place: "\(step.version(of: obligation)): \(obligation.entity).\(obligation.property)",
            property: obligation.property, change: obligation.change)
    }

    private init(
        entity: String, breach: Breach, step: Int, place: String, property: String?, change: Obligation.Change?
    ) {
        self.entity = entity
        self.breach = breach
        self.step = step
        self.place = place
        self.property = property
        self.change = change
    }

    /// The demand on the rows of the step before.
    private func traced(through traces: [RowTrace], _ others: [String]) -> [RowDemand] {
        traces.filter { $0.destination == entity }.compactMap { trace in
            var result = self
            result.entity = trace.source
            if let decider = trace.decider { result.deciders.append("the mapping “\(decider)”") }
            result.deciders += others
            switch breach {
            case .existing, .unknown: break
            case .null(let attribute):
                switch trace.origin(of: attribute) {
                case .carried(let from): result.breach = .null(attribute: from)
                case .filled: return nil
                case .null: result.breach = .existing
                case .unknown: result.breach = .unknown
                }
            case .missing(let links):
                // Links that come by the inverse are found through the entity at the other end.
                let carrier = links.isInverted ? traces.first { $0.destination == links.entity } : trace
                switch carrier?.links(of: links.relationship) ?? .none {
                case .carried(let earlier): result.breach = .missing(links.composed(after: earlier))
                case .none: result.breach = .existing
                case .unknown: result.breach = .unknown
                }
            }
            return result
        }
    }
}

extension RowDemand.Breach {
    init(_ demand: Obligation.Demand) {
        self =
            switch demand {
            case .noRows: .existing
            case .noNulls(let attribute): .null(attribute: attribute)
            case .noMissing(let links): .missing(links)
            }
    }
}
