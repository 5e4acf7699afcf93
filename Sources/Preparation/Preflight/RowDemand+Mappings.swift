import CausewayEvaluation
import CausewayExpressions
import CausewayMapping
import CausewayModel
import CausewayObjects
import CausewayPlanning
import CausewayStoreFormat

/// What mapping models demand of rows: values for what is mandatory, values that fit, objects of entities that can have
/// some. Rows of which code decides aren't judged.
extension RowDemand {
    /// How a mapping leaves a mandatory attribute without a value.
    enum Lack {
        /// It isn't mapped and has no default.
        case unmapped
        case setToNull
        case copied(from: String)

        /// A clause about the attribute.
        var reason: String {
            switch self {
            case .unmapped: "is mandatory, has no default, and isn't mapped"
            case .setToNull: "is mandatory, and the mapping sets it to NULL"
            case .copied(let name): "is mandatory, and the mapping gives it the value of \(name)"
            }
        }
    }

    /// Mandatory attributes that a step's mapping models certainly leave without a value.
    static func validated(_ step: StepPlan, at index: Int, _ traces: [RowTrace]) -> [RowDemand] {
        traces.filter { $0.decider == nil }.flatMap { trace -> [RowDemand] in
            step.layout.model.storedAttributes(of: trace.destination).compactMap { path, attribute -> RowDemand? in
                // Elements of a composite are mandatory only if there is a composite.
                guard !attribute.isOptional, attribute.derivation == nil, !path.contains(".") else { return nil }
                let hasDefault = attribute.defaultValue.map { $0 != .null } ?? false
                var (breach, lack) = (Breach.existing, hasDefault ? Lack.setToNull : .unmapped)
                switch trace.origin(of: path) {
                case .filled, .unknown: return nil
                case .null:
                    if step.maps(path, in: trace) { lack = .setToNull }
                case .carried(let from):
                    guard step.sourceModel.attribute(from, of: trace.source)?.attribute.isOptional != false else {
                        return nil
                    }
                    (breach, lack) = (.null(attribute: from), .copied(from: from))
                }
                return RowDemand(
                    entity: trace.source, breach: breach, step: index, place: step.place(trace.destination, path),
                    cause: .mapped(lack, hasDefault: hasDefault))
            }
        }
    }

    /// Rows of which a step's mapping models can't make objects: their entity is abstract, or an attribute can't hold
    /// what its expression gives.
    static func unmakeable(_ step: StepPlan, at index: Int) -> [RowDemand] {
        guard let objects = step.objects, !objects.hasOwnManager else { return [] }
        return objects.mappings.flatMap { plan -> [RowDemand] in
            let mapping = plan.description
            guard plan.sourceEntity != nil, mapping.policyClassName == nil, mapping.kind != .remove,
                let destination = mapping.destinationEntity
            else { return [] }
            let deciders = plan.filter == nil ? [] : ["the filter of the mapping “\(mapping.name)”"]
            var result: [RowDemand] = []
            for source in step.entities(readBy: plan) {
                func add(_ breach: Breach, _ property: String?, _ cause: Cause) {
                    result.append(
                        RowDemand(
                            entity: source, breach: breach, step: index, place: step.place(destination, property),
                            cause: cause, deciders: deciders))
                }
                if step.layout.model.entities[destination]?.isAbstract == true {
                    add(.existing, nil, .abstractTarget(mapping: mapping.name))
                    continue
                }
                for fill in plan.attributes {
                    guard let misfit = Misfit(fill, of: plan, objects.source) else { continue }
                    add(misfit.breach, fill.name, .misfit(misfit, mapping: mapping.name))
                }
            }
            return result
        }
    }

    /// An expression whose values an attribute can't hold.
    struct Misfit {
        let attribute: Attribute
        /// What the expression gives, with its article.
        let value: String
        /// The rows where it isn't NULL.
        let breach: Breach

        /// nil where some value may fit.
        init?(_ fill: EntityMappingPlan.AttributeFill, of plan: EntityMappingPlan, _ source: StorageMap) {
            guard case .compute(let expression) = fill.origin else { return nil }
            attribute = fill.attribute
            switch expression.shape {
            case .constant(let constant):
                guard let value = Value(constant), !AttributeFit.holds(value, in: fill.attribute) else { return nil }
                (self.value, breach) = (expression.type.summary, .existing)
                return
            case .path(let root, let path) where path.count == 1 && (root == .evaluated || root == .variable("source")):
                let name = source.schema.names[path[0].index]
                switch source.place(of: path[0], entity: plan.sourceEntity ?? 0) {
                case .attribute(_, let origin):
                    guard !AttributeFit.mayHold(valuesOf: origin.type, in: fill.attribute) else { return nil }
                    (value, breach) = ("the \(origin.type.modelName) \(name)", .value(attribute: name))
                    return
                // A to-many is a collection, if an empty one.
                case .toMany, .join:
                    (value, breach) = (expression.type.summary, .existing)
                    return
                case .toOne: break
                case .composite, .none?, nil: return nil
                }
            case .path, .general: break
            }
            guard !AttributeFit.mayHold(expression.type, in: fill.attribute) else { return nil }
            (value, breach) = (expression.type.summary, .unknown)
        }

        /// A clause about the attribute.
        func reason(_ mapping: String) -> String {
            "is \(attribute.type.modelName), which can't hold what the mapping “\(mapping)” gives it (\(value))"
        }
    }
}

extension StepPlan {
    /// `V2: Post.title`
    fileprivate func place(_ entity: String, _ property: String?) -> String {
        "\(versions.last ?? ""): \(entity)\(property.map { ".\($0)" } ?? "")"
    }

    /// Whether the mapping of a trace has an expression for an attribute.
    fileprivate func maps(_ attribute: String, in trace: RowTrace) -> Bool {
        let mapping = objects?.mappings.first { $0.description.name == trace.mapping }?.description
        return mapping?.attributeMappings.contains { $0.name == attribute && $0.expression != nil } ?? false
    }
}
