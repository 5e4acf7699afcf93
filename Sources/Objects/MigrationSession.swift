package import CausewayEvaluation
import CausewayExpressions
import CausewayModel
package import CausewayPlanning
import CausewaySQLiteFile

/// What a manager works on: two contexts, the step's mappings, the associations. One per thread; only the main thread's
/// has the associations.
package final class MigrationSession {
    package let source: ObjectContext
    package let destination: ObjectContext
    package let mappings: [EntityMapping]
    package let plans: [EntityMappingPlan]
    package let scope: EvaluationScope
    let associations: Associations?
    private let functions: SessionFunctions
    let shared = SharedRowCache()
    package var currentMapping: EntityMapping?
    package var progress: () -> Double = { 0 }

    /// Associations of the current batch.
    var pending: [PendingAssociation] = []
    /// The current source row, its associations so far, and the row that took its key.
    private(set) var row: RowInHand?
    /// In stage 2: the source row of the current destination row.
    private var pair: (source: ObjectID, destination: ObjectID)?
    private var cancellation: (any Error)?
    /// Deletions in the destination when shared rows were last looked up.
    var deletionsSeen = 0
    private var additional: [Int: [EntityMappingPlan.RelationshipFill]] = [:]

    struct RowInHand {
        var source: ObjectID
        var mapping: Int
        var associated: [ObjectID] = []
        var kept: ObjectID?
    }

    package init(
        source: ObjectContext, destination: ObjectContext, mappings: [EntityMapping], plans: [EntityMappingPlan],
        associations: Associations?, now: Double
    ) {
        self.source = source
        self.destination = destination
        self.mappings = mappings
        self.plans = plans
        self.associations = associations
        functions = SessionFunctions()
        scope = EvaluationScope(
            now: now, sourceGraph: source, destinationGraph: destination, functions: functions)
        functions.session = self
        source.now = now
        destination.now = now
    }

    /// Makes the policy's and the manager's functions callable from expressions.
    package func use(policy: [String: MigrationFunction], manager: MigrationManager) {
        functions.policy = policy
        functions.own = manager.functions
        functions.manager = manager
    }

    /// Breaks the cycle between session and functions, and ends all statements.
    package func close() {
        functions.session = nil
        functions.manager = nil
        source.close()
        destination.close()
    }

    func cancel(_ error: any Error) {
        if cancellation == nil { cancellation = error }
    }

    /// Throws what `cancelMigration(with:)` was given.
    package func checkCancelled() throws {
        if let cancellation { throw cancellation }
    }

    func mapping(named name: String) throws(ObjectError) -> Int {
        // Several mapping models of a step may use the same names: those of the mapping's own model come first.
        let model = currentMapping.map { plans[$0.index].modelIndex }
        let own = mappings.firstIndex { $0.name == name && plans[$0.index].modelIndex == model }
        guard let index = own ?? mappings.firstIndex(where: { $0.name == name }) else {
            throw ObjectError(.unknownEntity, "no entity mapping of this step is called “\(name)”")
        }
        return index
    }

    /// Leaves the current row: its batch is recycled, and later hooks may read the same object.
    package func leaveRow() {
        source.current = nil
        destination.current = nil
    }

    /// An earlier run's objects may have been deleted since they were associated.
    package func assumeDeletions() { destination.deletions += 1 }

    // MARK: - Stage 1

    /// Before the hook of a source row: `key` is its key where the new row may have it.
    package func begin(row object: ObjectID, mapping: Int, key: Int64?) {
        row = RowInHand(source: object, mapping: mapping)
        destination.keptKey = nil
        if let key, let entity = plans[mapping].destinationEntity { destination.keptKey = (entity, key) }
        destination.follow(source)
    }

    /// After the hook: records its associations. Returns whether the row has a result.
    package func endRow() -> Bool {
        guard let row else { return false }
        self.row = nil
        remember(row)
        return !row.associated.isEmpty
    }

    private func remember(_ row: RowInHand) {
        let plan = plans[row.mapping]
        let wasTaken = destination.keptKey == nil && plan.keeping != .never
        destination.keptKey = nil
        if plan.keeping == .always {
            // The keys show it already if exactly the row with the source's key was associated, or none was made.
            if wasTaken, row.associated.count == 1, let only = row.associated.first, only.key == row.source.key,
                only.entity == plan.destinationEntity
            {
                return
            }
            if wasTaken, row.associated.isEmpty {
                pending.append(PendingAssociation(mapping: row.mapping, source: row.source, destination: nil))
            }
        }
        for object in row.associated {
            pending.append(PendingAssociation(mapping: row.mapping, source: row.source, destination: object))
        }
    }

    func associate(_ from: ObjectID, _ to: ObjectID, _ mapping: EntityMapping) throws(ObjectError) {
        guard from.side == .source, to.side == .destination else {
            throw ObjectError(.type, "associate(…) takes a source object and a destination object, in this order")
        }
        if let row, row.source == from, row.mapping == mapping.index {
            self.row?.associated.append(to)
        } else {
            pending.append(PendingAssociation(mapping: mapping.index, source: from, destination: to))
        }
    }

    /// What `EntityMigrationPolicy` does by default in stage 1.
    func createDefault(from object: ObjectID, _ mapping: EntityMapping, _ manager: MigrationManager) throws {
        let plan = plans[mapping.index]
        guard let entity = plan.destinationEntity else { return }
        let made = try destination.insert(entity)
        scope.source = .object(object)
        scope.evaluated = .object(object)
        scope.destination = .object(made)
        let isInHand = source.current?.object == object
        if mapping.isRewritten || !isInHand {
            try fillByExpressions(made, mapping, plan)
        } else {
            for fill in plan.attributes { try self.fill(fill, of: made) }
            for key in plan.keys { try carry(key, to: made) }
        }
        try manager.associate(
            sourceInstance: source.object(with: object), withDestinationInstance: destination.object(with: made),
            for: mapping)
    }

    private func fill(_ fill: EntityMappingPlan.AttributeFill, of made: ObjectID) throws {
        switch fill.origin {
        case .carry(let cell): try destination.carry(cell, to: made, column: fill.column)
        case .compute(let expression):
            functions.property = fill.name
            let value = try expression.evaluate(scope)
            let cell = try destination.cell(for: value, as: fill.attribute, named: fill.name, of: made)
            try destination.setCell(made, column: fill.column, to: cell)
        }
    }

    private func fillByExpressions(_ made: ObjectID, _ mapping: EntityMapping, _ plan: EntityMappingPlan) throws {
        for property in mapping.attributeMappings {
            guard let expression = try compiled(property, mapping) else { continue }
            functions.property = property.name
            try destination.set(PropertyKey(property.name), of: made, to: try expression.evaluate(scope))
        }
        // A policy that rewrites expressions, or another source row than the one in hand: links as stage 2 makes them.
        if case .object(let id) = scope.source, let current = source.current?.object, current == id,
            current.entity == plan.sourceEntity
        {
            for key in plan.keys { try carry(key, to: made) }
        }
    }

    private func carry(_ fill: EntityMappingPlan.KeyFill, to made: ObjectID) throws {
        guard let view = source.current?.view, !view.isNull(at: fill.key) else { return }
        guard view.integer(at: fill.key) != nil else {
            throw ObjectError(
                .type, "\(destination.name(made)).\(fill.relationship.name): the stored key isn't an integer")
        }
        let stored = fill.entity.flatMap { view.integer(at: $0) }.map { Int32(truncatingIfNeeded: $0) }
        guard let number = fill.numbers[stored ?? fill.declared] else { return }
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

    private func compiled(_ property: PropertyMapping, _ mapping: EntityMapping) throws -> CompiledExpression? {
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

    // MARK: - Stage 2

    /// Looks up a relationship that was planned to be carried by keys.
    package func relate(_ fill: EntityMappingPlan.RelationshipFill, inStage2Of mapping: Int) {
        additional[mapping, default: []].append(fill)
    }

    package func hasAdditionalRelationships(_ mapping: Int) -> Bool { additional[mapping] != nil }

    /// Before the hook of a destination row.
    package func begin(destination object: ObjectID, from source: ObjectID) { pair = (source, object) }

    package func endPair() { pair = nil }

    /// What `EntityMigrationPolicy` does by default in stage 2.
    func relateDefault(_ object: ObjectID, _ mapping: EntityMapping) throws {
        let from: ObjectID
        if let pair, pair.destination == object {
            from = pair.source
        } else if let found = try sources(mappingNamed: mapping.name, of: [object]).first {
            from = found
        } else {
            return
        }
        scope.source = .object(from)
        scope.evaluated = .object(from)
        scope.destination = .object(object)
        let plan = plans[mapping.index]
        if mapping.isRewritten {
            for property in mapping.relationshipMappings {
                guard let expression = try compiled(property, mapping) else { continue }
                try relate(object, property.name, expression)
            }
            return
        }
        for fill in plan.relationships + (additional[plan.index] ?? []) {
            try relate(object, fill.name, fill.expression)
        }
    }

    private func relate(_ object: ObjectID, _ name: String, _ expression: CompiledExpression) throws {
        let entity = destination.map.name(of: object.entity)
        functions.property = name
        functions.fitting = destination.map.schema.model.relationship(name, of: entity)?.relationship.destination
        defer { functions.fitting = nil }
        try destination.set(PropertyKey(name), of: object, to: try expression.evaluate(scope))
    }
}
