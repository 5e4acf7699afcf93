package import CausewayEvaluation
import CausewayExpressions
import CausewayModel
package import CausewayPlanning
import CausewaySQLiteFile
import CausewayStoreFormat

/// What a manager works on: two contexts, the step's mappings, the associations. One per thread; only the main thread's
/// has the associations.
package final class MigrationSession {
    package let source: ObjectContext
    package let destination: ObjectContext
    package let mappings: [EntityMapping]
    package let plans: [EntityMappingPlan]
    package let scope: EvaluationScope
    let associations: Associations?
    /// By mapping.
    let fills: [DefaultFill]
    let functions: SessionFunctions
    let shared = SharedRowCache()
    package var currentMapping: EntityMapping?
    package var progress: () -> Double = { 0 }

    /// Associations of the current batch.
    var pending: [PendingAssociation] = []
    /// The current source row, its associations so far, and the row that took its key.
    private(set) var row: RowInHand?
    /// In stage 2: the source row of the current destination row.
    private var pair: (source: ObjectID, destination: ObjectID)?
    /// Links of rows so far that were carried no further, because they can't lead to a row.
    package internal(set) var endedLinks = 0
    private var cancellation: (any Error)?
    /// Deletions in the destination when shared rows were last looked up.
    var deletionsSeen = 0
    private var additional: [Int: [EntityMappingPlan.RelationshipFill]] = [:]

    struct RowInHand {
        var source: ObjectID
        var mapping: Int
        /// Almost every row becomes at most one object: it needs no array.
        var first: ObjectID?
        var others: [ObjectID] = []
        /// Deletions when its hook began.
        var deletions = 0

        var results: [ObjectID] { [first].compactMap(\.self) + others }

        mutating func associate(_ object: ObjectID) {
            if first == nil { first = object } else { others.append(object) }
        }
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
        fills = plans.map { DefaultFill($0) }
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

    /// No expression calls the session or its manager any more; ends all statements.
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

    /// Whether a row may get its source row's key. No row may have it, nor a deleted one have had it that is recorded
    /// as some source row's: that would lead to the new row.
    package func isFree(_ key: Int64, of entity: Int32) throws(ObjectError) -> Bool {
        guard try !destination.exists(ObjectID(side: .destination, entity: entity, key: key)) else { return false }
        guard destination.deletions > 0, let associations, let place = destination.map.table(of: entity),
            let numbers = destination.map.layout.numbers(ofTree: destination.map.tables[place].rootEntity)
        else { return true }
        try recordPending()
        return try !associations.hasResult(withKey: key, of: numbers)
    }

    /// Whether an object that was associated is still there.
    package func isThere(_ object: ObjectID) throws(ObjectError) -> Bool {
        guard destination.deletions > 0 else { return true }
        return try destination.exists(object)
    }

    // MARK: - Stage 1

    /// Before the hook of a source row: `key` is its key where the new row may have it.
    package func begin(row object: ObjectID, mapping: Int, key: Int64?) {
        row = RowInHand(source: object, mapping: mapping, deletions: destination.deletions)
        destination.keptKey = nil
        if let key, let entity = plans[mapping].destinationEntity { destination.keptKey = (entity, key) }
        destination.follow(source)
    }

    /// After the hook: records its associations. Returns whether the row has a result.
    package func endRow() throws(ObjectError) -> Bool {
        guard let row else { return false }
        self.row = nil
        guard destination.deletions != row.deletions else {
            remember(row)
            return row.first != nil
        }
        var left = RowInHand(source: row.source, mapping: row.mapping)
        for object in try results(of: row) { left.associate(object) }
        if left.first == nil, let first = row.first, first.key == row.source.key,
            first.entity == plans[row.mapping].destinationEntity
        {
            // Nobody has its key: that says it.
            destination.keptKey = nil
            return false
        }
        remember(left)
        return left.first != nil
    }

    /// What the row in hand has become so far, without what its hook has deleted again.
    func results(of row: RowInHand) throws(ObjectError) -> [ObjectID] {
        guard destination.deletions != row.deletions else { return row.results }
        // Of its own rows a worker knows all.
        let asked = destination.asked
        defer { destination.asked = asked }
        var left: [ObjectID] = []
        for object in row.results where try destination.exists(object) { left.append(object) }
        return left
    }

    private func remember(_ row: RowInHand) {
        let keeping = plans[row.mapping].keeping
        let wasTaken = destination.keptKey == nil && keeping != .never
        destination.keptKey = nil
        guard let first = row.first else {
            if keeping == .always, wasTaken {
                pending.append(PendingAssociation(mapping: row.mapping, source: row.source, destination: nil))
            }
            return
        }
        // The keys show it already if exactly the row with the source's key was associated, or none was made.
        if keeping == .always, wasTaken, row.others.isEmpty, first.key == row.source.key,
            first.entity == plans[row.mapping].destinationEntity
        {
            return
        }
        pending.append(PendingAssociation(mapping: row.mapping, source: row.source, destination: first))
        for object in row.others {
            pending.append(PendingAssociation(mapping: row.mapping, source: row.source, destination: object))
        }
    }

    func associate(_ from: ObjectID, _ to: ObjectID, _ mapping: EntityMapping) throws(ObjectError) {
        guard from.side == .source, to.side == .destination else {
            throw ObjectError(.type, "associate(…) takes a source object and a destination object, in this order")
        }
        if let row, row.source == from, row.mapping == mapping.index {
            self.row?.associate(to)
        } else {
            pending.append(
                PendingAssociation(mapping: mapping.index, source: from, destination: to, isFurther: true))
        }
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
        let added = additional[mapping.index]
        // Most mappings whose policy leaves this hook alone have no relationships: nothing is looked up for them.
        if added == nil, plans[mapping.index].relationships.isEmpty, !mapping.isRewritten { return }
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
        if mapping.isRewritten {
            for property in mapping.relationshipMappings {
                guard let expression = try compiled(property, mapping) else { continue }
                try relate(object, property.name, expression, mapping)
            }
            return
        }
        // Where a link leads to no row, its result is none, as that of a link that has ended.
        let asked = source.asked.links
        defer { source.asked.links = asked }
        for fill in plans[mapping.index].relationships { try relate(object, fill.name, fill.expression, mapping) }
        for fill in added ?? [] { try relate(object, fill.name, fill.expression, mapping) }
    }

    private func relate(
        _ object: ObjectID, _ name: String, _ expression: CompiledExpression, _ mapping: EntityMapping
    ) throws {
        let entity = destination.map.name(of: object.entity)
        functions.property = name
        functions.fitting = destination.map.schema.model.relationship(name, of: entity)?.relationship.destination
        defer { functions.fitting = nil }
        functions.askedObjects = 0
        let value = try evaluate(expression, for: name, of: mapping.index)
        try destination.relate(
            PropertyKey(name), of: object, to: value, areOfOneSource: functions.askedObjects == 1)
    }
}
