import CausewayEvaluation
import CausewayExpressions
package import CausewayMapping
import CausewayModel
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat

/// Plans one step with explicit mapping models: checks every expression against the models, and decides for each entity
/// mapping which cells are carried, which keys are kept, which links need stage 2.
package struct ObjectStepPlanner {
    let resolved: [ResolvedMapping]
    let source: StorageMap
    let destination: StorageMap
    let code: CodeCatalog
    /// All entity mappings in processing order, with their models' indices.
    let entities: [(mapping: ResolvedEntityMapping, model: Int)]
    let keeping: [EntityMappingPlan.KeyKeeping]
    /// Whether no mapping has a policy, which may do anything in stage 2.
    let hasNoPolicy: Bool
    /// Whether a mapping reads rows of its source's subentities, too.
    let readsSubentities: Bool
    /// What has been found out about links already.
    let memory = LinkMemory()
    private var problems: [String] = []
    var warnings: [String] = []
    /// Relationships whose join tables are copied, by mapping.
    var copied: [(mapping: Int, fill: EntityMappingPlan.RelationshipFill)] = []
    /// Relationships whose links are made with those of their whole join table, by mapping.
    var translated: [(mapping: Int, fill: EntityMappingPlan.RelationshipFill)] = []

    /// `resolved` are the step's mapping models, in the order in which they run.
    package init(_ resolved: [ResolvedMapping], source: StorageMap, destination: StorageMap, code: CodeCatalog) {
        self.resolved = resolved
        self.source = source
        self.destination = destination
        self.code = code
        entities = resolved.enumerated().flatMap { index, model in model.entityMappings.map { ($0, index) } }
        keeping = Self.keeping(entities.map(\.mapping), source: source, destination: destination)
        hasNoPolicy = entities.allSatisfy { $0.mapping.mapping.policyClassName == nil }
        readsSubentities = entities.contains { $0.mapping.rows.includesSubentities }
    }

    /// - Throws: `PlanError.mapping` with every problem at once.
    package func plan() throws(PlanError) -> ObjectStep {
        var planner = self
        var plans: [EntityMappingPlan] = []
        for index in entities.indices {
            if let plan = try planner.plan(entity: index) { plans.append(plan) }
        }
        guard planner.problems.isEmpty else {
            throw .mapping(resolved.map(\.name).joined(separator: ", "), planner.problems)
        }
        var step = ObjectStep(
            models: resolved.map(\.name), mappings: plans, source: source, destination: destination,
            homes: Self.homes(entities.map(\.mapping), source: source, destination: destination),
            joins: try planner.joinCopies(),
            cleanups: ObjectStep.cleanups(of: destination),
            policies: entities.compactMap { $0.mapping.mapping.policyClassName }, isResumable: isResumable,
            warnings: planner.warnings)
        step.translations = planner.translations()
        step.hasOwnManager = code.hasOwnManager
        return step
    }

    private var isResumable: Bool {
        code.isManagerResumable
            && entities.compactMap(\.mapping.mapping.policyClassName).allSatisfy {
                code.policy($0)?.isResumable ?? false
            }
    }

    /// Whether workers can make the rows of an entity mapping, each without a store.
    private func isIndependent(_ index: Int) -> Bool {
        let mapping = entities[index].mapping.mapping
        guard keeping[index] != .ifFree, !code.hasOwnManager else { return false }
        if let policy = mapping.policyClassName { return code.policy(policy)?.isIndependent ?? false }
        return !mapping.attributeMappings.contains { $0.expression?.callsManager == true }
    }

    private func hasStage2Hook(_ mapping: EntityMappingDescription) -> Bool {
        guard let policy = mapping.policyClassName else { return false }
        return code.policy(policy)?.createsRelationships ?? true
    }

    // MARK: - Keys

    /// The source table whose keys a destination table's rows keep: that of the first mapping into it.
    private static func homes(
        _ mappings: [ResolvedEntityMapping], source: StorageMap, destination: StorageMap
    ) -> [String?] {
        var result = [String?](repeating: nil, count: destination.tables.count)
        for mapping in mappings.map(\.mapping) where mapping.kind != .remove {
            guard let from = source.number(of: mapping.sourceEntity),
                let to = destination.number(of: mapping.destinationEntity),
                let table = destination.table(of: to), let origin = source.table(of: from), result[table] == nil
            else { continue }
            result[table] = source.tables[origin].name.name
        }
        return result
    }

    private static func keeping(
        _ mappings: [ResolvedEntityMapping], source: StorageMap, destination: StorageMap
    ) -> [EntityMappingPlan.KeyKeeping] {
        let homes = homes(mappings, source: source, destination: destination)
        struct Flow: Hashable {
            var entity: String
            var table: Int
        }
        var flows: [Flow: Int] = [:]
        func flow(_ resolved: ResolvedEntityMapping) -> Flow? {
            let mapping = resolved.mapping
            guard mapping.kind != .remove, let from = mapping.sourceEntity,
                let to = destination.number(of: mapping.destinationEntity), let table = destination.table(of: to)
            else { return nil }
            return Flow(entity: from, table: table)
        }
        for mapping in mappings {
            guard let key = flow(mapping) else { continue }
            // A mapping that also reads subentities competes with theirs.
            var names = [key.entity]
            if mapping.rows.includesSubentities {
                names = source.schema.entities.filter { source.schema.model.isKind($0, of: key.entity) }
            }
            for name in names { flows[Flow(entity: name, table: key.table), default: 0] += 1 }
        }
        return mappings.map { mapping in
            guard let key = flow(mapping), let number = source.number(of: key.entity),
                let table = source.table(of: number), homes[key.table] == source.tables[table].name.name
            else { return .never }
            if mapping.rows.includesSubentities { return .ifFree }
            return flows[key] == 1 ? .always : .ifFree
        }
    }

    // MARK: - One entity mapping

    private mutating func plan(entity index: Int) throws(PlanError) -> EntityMappingPlan? {
        let resolved = entities[index].mapping
        let mapping = resolved.mapping
        let to = mapping.kind == .remove ? nil : destination.number(of: mapping.destinationEntity)
        let from = mapping.kind == .add ? nil : source.number(of: mapping.sourceEntity)
        let compiler = MappingCompiler(
            source: source.schema, destination: destination.schema,
            functions: SelectorCatalog(policy: selectors(of: mapping), manager: code.managerSelectors))
        guard let from, to != nil || mapping.policyClassName != nil else {
            let none = RowShape(table: try identifier("Z_METADATA"))
            return EntityMappingPlan(
                description: mapping, index: index, modelIndex: entities[index].model, sourceEntity: nil,
                destinationEntity: to, keeping: .never, isIndependent: false, hasStage2Hook: false, shape: none,
                cells: [], linkShape: none, linkCells: [],
                filter: nil, attributes: [], keys: [], relationships: [])
        }
        var columns = SourceColumns(map: source, entity: from)
        try columns.begin(rows: resolved.rows)
        var attributes: [EntityMappingPlan.AttributeFill] = []
        for property in mapping.attributeMappings {
            attributes += try fills(property, mapping, compiler, &columns)
        }
        attributes += try derivedFills(mapping, besides: attributes, &columns)
        refuseOpaqueDefaults(of: mapping, filled: Set(attributes.map(\.column)))
        let (keys, choices, relationships, unneeded) = try linkFills(of: index, compiler, &columns)
        let filter = self.filter(resolved, compiler)
        let isPlain =
            mapping.policyClassName == nil && filter == nil && relationships.isEmpty
            && attributes.allSatisfy { if case .carry = $0.origin { true } else { false } }
        // A policy or an expression may read anything in the row.
        if !isPlain || code.hasOwnManager { try columns.addAll() }
        var linkColumns = SourceColumns(map: source, entity: from)
        try linkColumns.begin(rows: resolved.rows)
        try linkColumns.addLinks()
        var plan = EntityMappingPlan(
            description: mapping, index: index, modelIndex: entities[index].model, sourceEntity: from,
            destinationEntity: to, keeping: keeping[index], isIndependent: isIndependent(index),
            hasStage2Hook: hasStage2Hook(mapping), shape: columns.shape, cells: columns.cells,
            linkShape: linkColumns.shape, linkCells: linkColumns.cells, filter: filter,
            attributes: attributes, keys: keys, relationships: relationships)
        (plan.choices, plan.unneeded) = (choices, unneeded)
        plan.sourceEntities = LinkPlanning(planner: self).sourceEntities(of: index)
        plan.filterKeys = resolved.filter?.keysOfSourceRow ?? []
        plan.readsOwnCells = ColumnFilling.readsOwnCells(mapping, resolved.filter, of: from, in: source)
        plan.distantLinks = LinkPlanning(planner: self).distant(relationships, of: mapping)
        plan.columns = followsSource(index) ? ColumnFilling(plan: plan, destination: destination).columns() : nil
        return plan
    }

    /// What expressions may call on the policy; nil where it isn't registered.
    private mutating func selectors(of mapping: EntityMappingDescription) -> Set<String>? {
        guard let policy = mapping.policyClassName else { return [] }
        if let known = code.policy(policy) { return known.selectors }
        report(
            mapping,
            "its policy “\(policy)” isn't registered"
                + (code.policyNames.isEmpty ? "" : " (registered: \(code.policyNames.joined(separator: ", ")))")
                + "; build a tool of your own on CausewayTool that registers it")
        return nil
    }

    /// How links are made: by carried keys, or by an expression in stage 2; those of copied join tables are noted.
    private mutating func linkFills(
        of index: Int, _ compiler: MappingCompiler, _ columns: inout SourceColumns
    ) throws(PlanError) -> (
        keys: [EntityMappingPlan.KeyFill], choices: [EntityMappingPlan.LinkChoice],
        relationships: [EntityMappingPlan.RelationshipFill], unneeded: [EntityMappingPlan.RelationshipFill]
    ) {
        let mapping = entities[index].mapping.mapping
        let links = LinkPlanning(planner: self)
        var keys: [EntityMappingPlan.KeyFill] = []
        var choices: [EntityMappingPlan.LinkChoice] = []
        var relationships: [EntityMappingPlan.RelationshipFill] = []
        var unneeded: [EntityMappingPlan.RelationshipFill] = []
        for property in mapping.relationshipMappings {
            guard let expression = property.expression,
                let compiled = compile(expression, property.name, mapping, compiler),
                let destination = target(of: property.name, declaredBy: mapping.destinationEntity ?? "")
            else { continue }
            let fill = EntityMappingPlan.RelationshipFill(
                name: property.name, expression: compiled, destination: destination)
            if code.hasOwnManager {
                // It decides what a row has become: the keys say nothing.
                relationships.append(fill)
            } else if links.isCopied(property, of: index) {
                copied.append((index, fill))
            } else if let key = try links.keyFill(property, of: index, fill, &columns) {
                keys.append(key)
            } else if let choice = try links.choice(property, of: index, fill, &columns) {
                choices.append(choice)
            } else if links.isTranslated(property, of: index) {
                translated.append((index, fill))
            } else if links.isUnneeded(property, of: index) {
                unneeded.append(fill)
            } else {
                relationships.append(fill)
            }
        }
        return (keys, choices, relationships, unneeded)
    }

    /// Whether a mapping's rows follow from their source rows alone, but for their links and perhaps their keys.
    func followsSource(_ index: Int) -> Bool {
        keeping[index] != .ifFree && !entities[index].mapping.rows.includesSubentities && isIndependent(index)
            && ColumnFilling.followsSource(entities[index].mapping.mapping, entities[index].mapping.filter)
    }

    private mutating func filter(_ resolved: ResolvedEntityMapping, _ compiler: MappingCompiler) -> CompiledPredicate? {
        let mapping = resolved.mapping
        switch resolved.rows {
        case .entity(let predicate?, _):
            do throws(CompilationError) {
                return try compiler.compile(predicate, source: mapping.sourceEntity ?? "")
            } catch {
                report(mapping, "its filter: \(error)")
            }
        case .collection:
            report(
                mapping,
                """
                its source expression isn't a fetch of its source entity; give the entity and a filter predicate, or make \
                the rows in a policy
                """)
        case .entity, .none: break
        }
        return nil
    }

    /// A default that can't be written: its attribute needs a value.
    private mutating func refuseOpaqueDefaults(of mapping: EntityMappingDescription, filled: Set<Int>) {
        guard let entity = mapping.destinationEntity, let number = destination.number(of: entity) else { return }
        for index in destination.schema.names.indices {
            guard
                case .attribute(let column, let attribute)? = destination.place(
                    of: .init(index: index), entity: number),
                attribute.derivation == nil, !filled.contains(column),
                CellValue(attribute.defaultValue, as: attribute) == nil
            else { continue }
            let name = "\(entity).\(destination.schema.names[index])"
            let reason = UnstorableDefault(attribute)
            if mapping.policyClassName == nil {
                report(mapping, "\(name) isn't mapped, and its default \(reason); map it")
            } else {
                warnings.append("\(name): its default \(reason); where the policy sets none, it is NULL")
            }
        }
    }

    mutating func report(_ mapping: EntityMappingDescription, _ message: String) {
        problems.append("\(mapping.name): \(message)")
    }

    private mutating func compile(
        _ expression: Expression, _ property: String, _ mapping: EntityMappingDescription, _ compiler: MappingCompiler
    ) -> CompiledExpression? {
        do throws(CompilationError) {
            return try compiler.compile(
                expression, source: mapping.sourceEntity, destination: mapping.destinationEntity)
        } catch {
            report(mapping, "\(mapping.destinationEntity ?? "").\(property): \(error)")
            return nil
        }
    }

    private func target(of relationship: String, declaredBy entity: String) -> String? {
        destination.schema.model.relationship(relationship, of: entity)?.relationship.destination
    }

    // MARK: - Attributes

    private mutating func fills(
        _ property: PropertyMappingDescription, _ mapping: EntityMappingDescription, _ compiler: MappingCompiler,
        _ columns: inout SourceColumns
    ) throws(PlanError) -> [EntityMappingPlan.AttributeFill] {
        guard let expression = property.expression, let entity = mapping.destinationEntity,
            let number = destination.number(of: entity), let handle = destination.schema.handle(of: property.name),
            let place = destination.place(of: handle, entity: number),
            let compiled = compile(expression, property.name, mapping, compiler)
        else { return [] }
        switch place {
        case .attribute(let column, let attribute):
            if attribute.derivation != nil { return [] }
            return [try fill(property.name, column, attribute, compiled, mapping, &columns)]
        case .composite(let leaves):
            guard case .path(_, let path) = compiled.shape, let last = path.last, path.count == 1 else {
                report(mapping, "\(entity).\(property.name) is composite: map its elements one by one")
                return []
            }
            let origin = source.schema.names[last.index]
            var result: [EntityMappingPlan.AttributeFill] = []
            for leaf in leaves {
                let name = destination.schema.names[leaf.index]
                let element = name.dropFirst(property.name.count)
                guard case .attribute(let column, let attribute)? = destination.place(of: leaf, entity: number),
                    source.schema.handle(of: origin + element) != nil,
                    let compiled = compile(
                        .keyPath(operand: .variable("source"), path: origin + element), name, mapping, compiler)
                else { continue }
                result.append(try fill(name, column, attribute, compiled, mapping, &columns))
            }
            return result
        case .toOne, .toMany, .join:
            report(mapping, "\(entity).\(property.name) is a relationship, mapped as an attribute")
            return []
        case .none: return []
        }
    }

    private mutating func fill(
        _ name: String, _ column: Int, _ attribute: Attribute, _ compiled: CompiledExpression,
        _ mapping: EntityMappingDescription, _ columns: inout SourceColumns
    ) throws(PlanError) -> EntityMappingPlan.AttributeFill {
        if case .path(let root, let path) = compiled.shape, root == .evaluated || root == .variable("source"),
            path.count == 1, let handle = path.first,
            case .attribute(let from, let origin)? = source.place(of: handle, entity: columns.entity),
            origin.type == attribute.type,
            origin.allowsExternalBinaryDataStorage == attribute.allowsExternalBinaryDataStorage
        {
            return .init(name: name, column: column, attribute: attribute, origin: .carry(try columns.index(of: from)))
        }
        return .init(name: name, column: column, attribute: attribute, origin: .compute(compiled))
    }
}
