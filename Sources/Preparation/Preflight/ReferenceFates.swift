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
        /// A step puts the file's content in its place; NULL may be there too.
        case inlined
        /// The same, but a version from there on has no NULL.
        case needed
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
        for entity in layout.table(named: table).map(layout.entities(in:)) ?? [] {
            guard let number = layout.entityNumbers[entity] else { continue }
            for stored in layout.model.storedAttributes(of: entity)
            where stored.attribute.allowsExternalBinaryDataStorage {
                guard let column = layout.column(of: stored.path, in: entity)?.name else { continue }
                result.append(
                    Watched(
                        entity: entity, number: number, attribute: stored.path, column: column,
                        fate: fate(of: Place(table, column, number, stored.path), from: 0)))
            }
        }
        return result
    }

    /// An attribute of one entity's rows in the source of a step.
    private struct Place {
        let table: String
        let column: String
        let number: Int
        let path: String

        init(_ table: String, _ column: String, _ number: Int, _ path: String) {
            (self.table, self.column, self.number, self.path) = (table, column, number, path)
        }

        /// nil if the entity doesn't store the attribute in a column.
        init?(_ path: String, of entity: String, in layout: StoreLayout) {
            guard let table = layout.table(of: entity)?.name, let column = layout.column(of: path, in: entity)?.name,
                let number = layout.entityNumbers[entity]
            else { return nil }
            self.init(table, column, number, path)
        }
    }

    /// - Parameters:
    ///   - place: in the source of the step.
    ///   - index: of the step.
    ///   - isInlined: an earlier step has put the content of the file there, or NULL.
    /// - Returns: what the steps from there on do with the value.
    private func fate(of place: Place, from index: Int, isInlined: Bool = false) -> Fate {
        guard steps.indices.contains(index) else { return isInlined ? .inlined : .carried }
        let step = steps[index]
        let entity = step.sourceNumbers.first { $0.value == place.number }?.key
        if let objects = step.objects {
            return entity.map { fate(of: place, $0, objects, index, isInlined: isInlined) } ?? .dropped
        }
        let isTightened = step.mapping.entityMappings.contains { mapping in
            mapping.source == entity
                && mapping.obligations.contains {
                    if case .noNulls(attribute: place.path) = $0.demand { true } else { false }
                }
        }
        var result = isInlined ? Fate.inlined : .dropped
        for pass in step.passes where pass.kind == .entity && pass.sourceTable == place.table {
            guard let projection = pass.projections[place.number] else { continue }
            for (output, recipe) in projection.cells.enumerated() {
                guard let use = recipe.use(of: place.column, in: pass.shape) else { continue }
                let name = pass.destinationColumns[output]
                // A cell without an attribute of the entity's own is another entity's in the same table.
                let path =
                    step.layout.model.storedAttributes(of: projection.entity).first {
                        step.layout.column(of: $0.path, in: projection.entity)?.name == name
                    }?.path ?? ""
                let isInlined = isInlined || use == .inlined
                if isInlined {
                    let target = step.layout.model.storedLeaf(path, of: projection.entity)
                    if isTightened || target?.isOptional == false { return .needed }
                    result = max(result, .inlined)
                }
                let next = Place(
                    pass.destinationTable, name, step.layout.entityNumbers[projection.entity] ?? 0, path)
                result = max(result, fate(of: next, from: index + 1, isInlined: isInlined))
            }
        }
        return result
    }

    /// A step with mapping models: a reference is carried where an attribute is mapped as it is, and its file is read
    /// if a filter or an expression uses the attribute in another way. What a policy reads isn't known.
    private func fate(
        of place: Place, _ entity: String, _ objects: ObjectStep, _ index: Int, isInlined: Bool
    ) -> Fate {
        let step = steps[index]
        var result = isInlined ? Fate.inlined : .dropped
        for mapping in objects.mappings {
            guard let source = mapping.description.sourceEntity, mapping.sourceEntity != nil,
                step.sourceModel.isKind(entity, of: source)
            else { continue }
            var keys = mapping.filterKeys
            for fill in mapping.attributes {
                guard case .carry(let cell) = fill.origin, case .column(let name) = mapping.shape.cells[cell]
                else { continue }
                guard name.name == place.column, let to = mapping.description.destinationEntity,
                    let next = Place(fill.name, of: to, in: step.layout)
                else { continue }
                if isInlined, !fill.attribute.isOptional { return .needed }
                result = max(result, fate(of: next, from: index + 1, isInlined: isInlined))
            }
            for property in mapping.description.attributeMappings where !mapping.carries(property.name) {
                property.expression?.collectKeys(into: &keys)
            }
            for property in mapping.description.relationshipMappings {
                property.expression?.collectKeys(into: &keys)
            }
            if !isInlined, keys.contains(String(place.path.prefix { $0 != "." })) { result = .read }
        }
        return result
    }
}

extension EntityMappingPlan {
    /// Whether the cells of an attribute, all those of a composite, are the source's as they are.
    fileprivate func carries(_ attribute: String) -> Bool {
        let fills = attributes.filter { $0.name == attribute || $0.name.hasPrefix(attribute + ".") }
        return !fills.isEmpty && fills.allSatisfy { if case .carry = $0.origin { true } else { false } }
    }
}

extension CellRecipe {
    /// What a recipe makes of a column's value; nil where it doesn't use it.
    fileprivate func use(of column: String, in shape: RowShape) -> ReferenceFates.Fate? {
        func isIt(_ cell: Int) -> Bool {
            if case .column(let name) = shape.cells[cell] { name.name == column } else { false }
        }
        switch self {
        case .carry(let cell), .carryOr(let cell, _), .prefixed(let cell, _): return isIt(cell) ? .carried : nil
        case .inlined(let cell, _): return isIt(cell) ? .inlined : nil
        case .first(let recipe, _): return recipe.use(of: column, in: shape)
        default: return nil
        }
    }
}
