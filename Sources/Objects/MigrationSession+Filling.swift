package import CausewayEvaluation
import CausewayExpressions
import CausewayMapping
import CausewayPlanning
package import CausewaySQLiteFile

/// What `EntityMigrationPolicy` does by default in stage 1: one object, filled by the mapping's expressions.
extension MigrationSession {
    /// Makes, fills and associates the object.
    func createDefault(from object: ObjectID, _ mapping: EntityMapping, _ manager: MigrationManager) throws {
        guard let entity = plans[mapping.index].destinationEntity else { return }
        let made = try destination.insert(entity)
        if mapping.isRewritten || source.current?.object != object {
            set(scope: object, made)
            try fillByExpressions(made, mapping)
        } else {
            let fill = fills[mapping.index]
            if fill.computes { set(scope: object, made) }
            for step in fill.steps {
                switch step {
                case .carry(let cells): try destination.carry(fill.carried[cells], to: made)
                case .compute(let index): try compute(plans[mapping.index].attributes[index], of: made, mapping)
                }
            }
            for key in fill.keys { try carry(key, to: made) }
        }
        try manager.associate(
            sourceInstance: source.object(with: object), withDestinationInstance: destination.object(with: made),
            for: mapping)
    }

    /// The cell of one of a mapping's computed attributes, for the source row in hand.
    ///
    /// - Parameters:
    ///   - attribute: its place among those of the mapping.
    ///   - mapping: its place in the step.
    ///   - object: the source row.
    /// - Returns: what the column gets.
    /// - Throws: what evaluation finds; a value that the attribute can't hold.
    package func computed(_ attribute: Int, of mapping: Int, from object: ObjectID) throws -> CellValue {
        let fill = plans[mapping].attributes[attribute]
        guard case .compute(let expression) = fill.origin else { preconditionFailure("a carried cell is computed") }
        scope.source = .object(object)
        scope.evaluated = .object(object)
        let value = try evaluate(expression, for: fill.name, of: mapping)
        let made = ObjectID(side: .destination, entity: plans[mapping].destinationEntity ?? 0, key: object.key)
        let cell = try destination.cell(for: value, as: AttributeForm(fill.attribute), named: fill.name, of: made)
        return cell.stored ?? .null
    }

    /// The value of a property's expression for what the scope holds; an error names the destination's property.
    /// `mapping` is a place in the step.
    func evaluate(
        _ expression: CompiledExpression, for property: String, of mapping: Int
    ) throws(EvaluationError) -> Value {
        do throws(EvaluationError) {
            return try expression.evaluate(scope)
        } catch {
            throw error.placed("\(plans[mapping].description.destinationEntity ?? "").\(property)")
        }
    }

    /// Whether a mapping's filter lets a source row through.
    ///
    /// - Throws: what evaluation finds; the message says that it is the filter.
    package func isWanted(_ object: ObjectID, by filter: CompiledPredicate) throws(EvaluationError) -> Bool {
        scope.evaluated = .object(object)
        scope.source = .object(object)
        do throws(EvaluationError) {
            return try filter.evaluate(scope)
        } catch {
            throw error.placed("the filter")
        }
    }

    /// What expressions see as `$source` and `$destination`.
    private func set(scope source: ObjectID, _ made: ObjectID) {
        scope.source = .object(source)
        scope.evaluated = .object(source)
        scope.destination = .object(made)
    }

    private func compute(
        _ fill: EntityMappingPlan.AttributeFill, of made: ObjectID, _ mapping: EntityMapping
    ) throws {
        guard case .compute(let expression) = fill.origin else { return }
        functions.property = fill.name
        let value = try evaluate(expression, for: fill.name, of: mapping.index)
        let cell = try destination.cell(for: value, as: AttributeForm(fill.attribute), named: fill.name, of: made)
        try destination.setCell(made, column: fill.column, to: cell)
    }

    private func fillByExpressions(_ made: ObjectID, _ mapping: EntityMapping) throws {
        for property in mapping.attributeMappings {
            guard let expression = try compiled(property, mapping) else { continue }
            functions.property = property.name
            let value = try evaluate(expression, for: property.name, of: mapping.index)
            try destination.set(PropertyKey(property.name), of: made, to: value)
        }
        // A policy that rewrites expressions, or another source row than the one in hand: links as stage 2 makes them.
        if case .object(let id) = scope.source, let current = source.current?.object, current == id,
            current.entity == plans[mapping.index].sourceEntity
        {
            for key in fills[mapping.index].keys { try carry(key, to: made) }
        }
    }

    private func carry(_ fill: KeyCarrying, to made: ObjectID) throws {
        guard let view = source.current?.view, !view.isNull(at: fill.key) else { return }
        guard let key = view.integer(at: fill.key) else {
            throw ObjectError(
                .type, "\(destination.name(made)).\(fill.name): the stored key isn't an integer")
        }
        let stored = fill.entity.flatMap { view.integer(at: $0) }.map { Int32(truncatingIfNeeded: $0) }
        guard let number = fill.numbers[stored ?? fill.declared] else { return }
        guard destination.mayBeKept(key, of: number) else {
            endedLinks += 1
            return
        }
        try destination.carry(fill.key, to: made, column: fill.column)
        // If the source doesn't tell the entity, the destination doesn't either.
        if let column = fill.entityColumn, fill.entity == nil || stored != nil {
            try destination.setCell(made, column: column, to: .integer(Int64(number)))
        }
        guard let column = fill.placeColumn else { return }
        if let place = fill.place {
            try destination.carry(place, to: made, column: column)
        } else {
            try destination.setCell(made, column: column, to: .appended)
        }
    }

    /// The expression of a property as the policy left it.
    func compiled(_ property: PropertyMapping, _ mapping: EntityMapping) throws -> CompiledExpression? {
        if let compiled = property.compiled { return compiled }
        guard let text = property.valueExpression else { return nil }
        let compiler = MappingCompiler(
            source: source.map.schema, destination: destination.map.schema, functions: functions.catalog)
        do {
            property.compiled = try compiler.compile(
                try Expression(parsing: text), source: mapping.sourceEntityName,
                destination: mapping.destinationEntityName)
        } catch {
            throw ObjectError(
                .type, "\(mapping.name).\(property.name): the rewritten expression can't be used: \(error)")
        }
        return property.compiled
    }
}
