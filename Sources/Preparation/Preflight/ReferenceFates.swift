import CausewayMapping
import CausewayModel
import CausewayObjects
package import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat

/// What happens to references to external files (InsideStoreFormat §4.3) over all steps of a chain.
package struct ReferenceFates {
    /// Ordered: if a value has several, the largest counts.
    package enum Fate: Comparable {
        /// No later step has the attribute.
        case dropped
        /// The new store holds the reference.
        case carried
        /// A step puts the file's content in its place.
        case inlined
        /// An expression of a mapping model reads the file.
        case read
    }

    /// An attribute of an entity whose values may be references.
    package struct Watched {
        var entity: String
        package var number: Int
        package var attribute: String
        package var column: String
        package var fate: Fate
    }

    package let steps: [StepPlan]

    package init(steps: [StepPlan]) {
        self.steps = steps
    }

    /// The attributes of all entities of a table of the first step's source.
    package func watched(_ table: String) -> [Watched] {
        let layout = steps[0].source
        var result: [Watched] = []
        for entity in layout.entities where layout.table(of: entity)?.name == table {
            guard let number = layout.entityNumbers[entity] else { continue }
            for stored in layout.model.storedAttributes(of: entity)
            where stored.attribute.allowsExternalBinaryDataStorage {
                guard let column = layout.column(of: stored.path, in: entity)?.name else { continue }
                result.append(
                    Watched(
                        entity: entity, number: number, attribute: stored.path, column: column,
                        fate: fate(of: column, in: table, number: number, path: stored.path, from: 0)))
            }
        }
        return result
    }

    private func fate(of column: String, in table: String, number: Int, path: String, from index: Int) -> Fate {
        guard steps.indices.contains(index) else { return .carried }
        let step = steps[index]
        if let objects = step.objects { return fate(of: column, number: number, path: path, objects, step) }
        var result = Fate.dropped
        for pass in step.passes where pass.kind == .entity && pass.sourceTable == table {
            guard let projection = pass.projections[number],
                let next = step.layout.entityNumbers[projection.entity]
            else { continue }
            for (place, recipe) in projection.cells.enumerated() {
                guard let use = recipe.use(of: column, in: pass.shape) else { continue }
                if use == .inlined {
                    result = max(result, .inlined)
                    continue
                }
                let name = pass.destinationColumns[place]
                let target = step.layout.model.storedAttributes(of: projection.entity).first {
                    step.layout.column(of: $0.path, in: projection.entity)?.name == name
                }
                result = max(
                    result,
                    fate(
                        of: name, in: pass.destinationTable, number: next, path: target?.path ?? "", from: index + 1))
            }
        }
        return result
    }

    /// A step with mapping models: a reference is carried where an attribute is mapped as it is, and its file is read
    /// if an expression uses the attribute in another way. What a policy reads isn't known.
    private func fate(of column: String, number: Int, path: String, _ objects: ObjectStep, _ step: StepPlan) -> Fate {
        func name(_ number: Int) -> String? { step.sourceNumbers.first { $0.value == number }?.key }
        guard let entity = name(number) else { return .dropped }
        var result = Fate.dropped
        for mapping in objects.mappings {
            guard let source = mapping.sourceEntity.flatMap({ name(Int($0)) }),
                step.sourceModel.isKind(entity, of: source)
            else { continue }
            let carries = mapping.attributes.contains { fill in
                guard case .carry(let cell) = fill.origin, case .column(let name) = mapping.shape.cells[cell]
                else { return false }
                return name.name == column
            }
            var keys: Set<String> = []
            for property in mapping.description.attributeMappings + mapping.description.relationshipMappings {
                property.expression?.collectKeys(into: &keys)
            }
            if carries { result = max(result, .carried) } else if keys.contains(path) { result = max(result, .read) }
        }
        return result
    }
}

extension CellRecipe {
    /// What a recipe makes of a column's value; nil where it doesn't use it.
    fileprivate func use(of column: String, in shape: RowShape) -> ReferenceFates.Fate? {
        func isIt(_ cell: Int) -> Bool {
            if case .column(let name) = shape.cells[cell] { name.name == column } else { false }
        }
        switch self {
        case .carry(let cell), .carryOr(let cell, _): return isIt(cell) ? .carried : nil
        case .inlined(let cell): return isIt(cell) ? .inlined : nil
        case .first(let recipe, _): return recipe.use(of: column, in: shape)
        default: return nil
        }
    }
}
