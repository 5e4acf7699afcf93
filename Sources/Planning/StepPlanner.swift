package import CausewayMapping
package import CausewayModel
package import CausewayStoreFormat

/// What a run of steps reads.
package struct StepSource: Sendable {
    /// With the names that the store has.
    package var layout: StoreLayout
    /// nil for a store that an earlier step makes, where it isn't known.
    package var schema: StoreSchema?
    /// What isn't Core Data's; carried where possible.
    package var appObjects: [StoreSchema.Object]
    /// Every index of the store.
    package var indexes: [TableIndex]
    /// The tables of CloudKit mirroring, where they are carried.
    package var mirrored: MirroredTables?

    package init(
        layout: StoreLayout, schema: StoreSchema?, appObjects: [StoreSchema.Object], indexes: [TableIndex] = []
    ) {
        self.layout = layout
        self.schema = schema
        self.appObjects = appObjects
        self.indexes = indexes
    }
}

/// What a run of steps makes.
package struct StepGoal: Sendable {
    package var model: ManagedObjectModel
    package var frameworkVersion: Int
    package var hasHistory: Bool
    /// Both the Core Data that last wrote the store and the one whose layout is written add columns in place
    /// (framework version 977 and newer); older ones rebuild the table and fill only rows that have the attribute.
    package var fillsTables: Bool
    /// Names from a store that Core Data made for the model (`--schema-template`).
    package var template: LayoutHints?
    /// Names of join tables that were seen in a store of the model (`--join-table`), in capitals.
    package var joinTables: [String] = []

    package init(model: ManagedObjectModel, frameworkVersion: Int, hasHistory: Bool, fillsTables: Bool) {
        self.model = model
        self.frameworkVersion = frameworkVersion
        self.hasHistory = hasHistory
        self.fillsTables = fillsTables
    }
}

/// Plans one run of steps.
package struct StepPlanner {
    /// The versions that the run leads through, both ends included.
    package let versions: [String]
    /// The position of the run's first step on the path.
    package let firstStep: Int
    package var mapping = MappingModel(entityMappings: [])
    /// The steps that `mapping` is composed of; empty for a step with mapping models.
    package var steps: [InferredStep] = []
    /// Losses of the inferred steps (`LossReport`), or of the one with mapping models (`MappedLosses`).
    package var losses: [Loss] = []
    package let from: StepSource
    package let goal: StepGoal

    package init(versions: [String], firstStep: Int, from: StepSource, to goal: StepGoal) {
        self.versions = versions
        self.firstStep = firstStep
        self.from = from
        self.goal = goal
    }

    /// - Throws: `PlanError`, or `StoreFormatError` where the destination has no layout.
    package func plan() throws -> StepPlan {
        var layout = try layout()
        var planner = planner(to: layout)
        let kept = KeptTables(of: from, appends: goal.fillsTables)
        var (passes, order) = kept.settled(try planner.passes(), in: layout)
        if !order.isEmpty {
            layout = layout.ordered(order)
            planner = self.planner(to: layout)
            passes = try kept.settled(planner.passes(), in: layout).passes
        }
        let statements = try layout.statements()
        let made = try DestinationSchema(statements, hasHistory: goal.hasHistory)
        let renames = planner.renames(passes, schema: from.schema)
        if let schema = from.schema, goal.hasHistory { passes += try planner.historyPasses(schema) }
        let derived = derivedValues(in: layout)
        try check(passes, derived, in: made)
        let carried = try planner.carried(
            from.appObjects, schema: from.schema, renames: renames, into: made, known(statements),
            mirrored: from.mirrored)
        passes += carried.passes
        try checkReading(passes.map(\.shape))
        return StepPlan(
            versions: versions, firstStep: firstStep, mapping: mapping, source: from.layout, layout: layout,
            statements: statements, hasHistory: goal.hasHistory, passes: passes.named { "pass \($0)" },
            indexes: carried.indexes, appObjects: carried.objects, derivedValues: derived,
            keyOrigins: steps.keyOrigins, lost: losses, lostObjects: carried.lost,
            warnings: statements.unsupported + uncomputed(in: layout) + carried.warnings, objects: nil,
            appendsColumns: goal.fillsTables)
    }

    private func planner(to layout: StoreLayout) -> TransferPlanner {
        TransferPlanner(
            mapping: mapping, source: from.layout, destination: layout, steps: steps,
            versions: Array(versions.dropFirst()), fillsTables: goal.fillsTables)
    }

    /// Plans one step with explicit mapping models; `mapping` isn't used.
    ///
    /// - Throws: `PlanError` with everything that is wrong with the mapping models, or `StoreFormatError`.
    package func plan(_ resolved: [ResolvedMapping], code: CodeCatalog) throws -> StepPlan {
        let sourceMap = try StorageMap(from.layout)
        var planner = self
        // The names of join tables depend on the source's links, however they are carried.
        let preliminary = try StorageMap(
            StoreLayout(
                model: goal.model, frameworkVersion: goal.frameworkVersion, hints: goal.template ?? LayoutHints()))
        planner.mapping = ObjectStepPlanner(
            resolved, source: sourceMap, destination: preliminary, code: code
        ).skeleton(onlyKept: false)
        let layout = try planner.layout()
        let statements = try layout.statements()
        let made = try DestinationSchema(statements, hasHistory: goal.hasHistory)
        let objectPlanner = ObjectStepPlanner(
            resolved, source: sourceMap, destination: try StorageMap(layout), code: code)
        let objects = try objectPlanner.plan()
        let transfer = TransferPlanner(
            mapping: objectPlanner.skeleton(onlyKept: true), source: from.layout, destination: layout)
        let derived = planner.derivedValues(in: layout)
        var passes: [RowPass] = []
        if let schema = from.schema, goal.hasHistory { passes += try transfer.historyPasses(schema) }
        let joins = objects.joins.flatMap(\.work.passes)
        try check(passes + joins, derived, in: made)
        for table in layout.tables { try made.checkInsert(into: table.name, columns: table.columns.map(\.name)) }
        try made.check(objects.cleanups.map(\.sql), place: objects.models.joined(separator: ", "))
        // Names depend on everything that mapping models read, not only on kept keys.
        let named = TransferPlanner(mapping: planner.mapping, source: from.layout, destination: layout)
        let carried = try transfer.carried(
            from.appObjects, schema: from.schema,
            renames: named.renames((try? named.passes()) ?? [], schema: from.schema, computes: true), into: made,
            known(statements))
        passes += carried.passes
        try checkReading(
            (passes + joins).map(\.shape)
                + objects.mappings.filter { $0.sourceEntity != nil }.flatMap { [$0.shape, $0.linkShape] })
        return StepPlan(
            versions: versions, firstStep: firstStep, mapping: planner.mapping, source: from.layout, layout: layout,
            statements: statements, hasHistory: goal.hasHistory, passes: passes.named { "pass \($0)" },
            indexes: carried.indexes, appObjects: carried.objects, derivedValues: derived,
            keyOrigins: [InferredStep(mapping: planner.mapping, source: from.layout.model, destination: goal.model)]
                .keyOrigins,
            lost: losses + withVersions(objectPlanner.historyLosses(goal.hasHistory)), lostObjects: carried.lost,
            warnings: statements.unsupported + notices(resolved).map(\.message) + objects.warnings + carried.warnings,
            objects: objects)
    }

    /// What the authors of mapping models probably didn't mean.
    private func notices(_ resolved: [ResolvedMapping]) -> [MappingNotice] {
        resolved.flatMap(\.warnings)
            + MappingNotice.losses(of: resolved, from: from.layout.model).filter { $0.subject != .entityNotMigrated }
    }

    /// Makes SQLite refuse now what it would refuse after the rows have moved.
    private func check(
        _ passes: [RowPass], _ derived: [DerivedValue], in schema: borrowing DestinationSchema
    ) throws(StoreFormatError) {
        for pass in passes { try schema.checkInsert(into: pass.destinationTable, columns: pass.destinationColumns) }
        for value in derived { try schema.check(value.statements(), place: value.table) }
    }

    /// The indexes that Core Data makes.
    private func known(_ statements: SchemaStatements) -> [TableIndex] {
        (statements.indexStatements + (goal.hasHistory ? statements.historyStatements : [])).compactMap(\.index)
    }

    /// Makes SQLite refuse now what it would refuse when rows are read.
    private func checkReading(_ shapes: [RowShape]) throws(StoreFormatError) {
        guard let known = from.schema else { return }
        var tables = try SourceSchema(known)
        for shape in shapes { try tables.check(shape) }
    }

    /// The destination's layout, with names from stores of its version if known, else the source's.
    private func layout() throws -> StoreLayout {
        try StoreLayout(
            model: goal.model, frameworkVersion: goal.frameworkVersion, hints: try goal.template ?? carriedHints(),
            joinTables: goal.joinTables)
    }

    /// Losses of the run as a whole, each with its versions.
    private func withVersions(_ losses: [String]) -> [Loss] {
        losses.map { Loss(step: Loss.title(of: versions), .other($0)) }
    }

    /// Join tables keep the side that names them and their columns' suffixes, version by version: what a version in
    /// between leaves open is guessed there, whether or not a store of it is made.
    private func carriedHints() throws -> LayoutHints {
        guard steps.count > 1 else { return try hints(carrying: from.layout, by: mapping, to: goal.model) }
        var layout = from.layout
        for step in steps.dropLast() {
            layout = try StoreLayout(
                model: step.destination, frameworkVersion: goal.frameworkVersion,
                hints: hints(carrying: layout, by: step.mapping, to: step.destination))
        }
        return try hints(carrying: layout, by: steps[steps.count - 1].mapping, to: goal.model)
    }

    private func hints(
        carrying layout: StoreLayout, by mapping: MappingModel, to destination: ManagedObjectModel
    ) throws -> LayoutHints {
        let model = layout.model
        return try LayoutHints(
            carrying: layout, to: destination, frameworkVersion: goal.frameworkVersion,
            sourceOf: { name in
                func links(of entity: String) -> LinkSource? {
                    mapping.mapping(to: entity)?.relationship(name.relationship)?.links
                }
                // What went up to a parent was its subentities'.
                let first =
                    links(of: name.entity)
                    ?? destination.entityAndSubentities(of: name.entity).sorted().lazy.compactMap(links).first
                guard let links = first, let found = model.relationship(links.relationship, of: links.entity) else {
                    return nil
                }
                if !links.isInverted { return .init(found.owner, found.relationship.name) }
                return model.inverse(of: found.relationship).map { .init($0.owner, $0.relationship.name) }
            })
    }

    private func derivedValues(in layout: StoreLayout) -> [DerivedValue] {
        layout.derivedValues { isDerived($1, of: $0) }
    }

    /// Whether existing rows of an entity need a new value of a derived attribute that it declares.
    private func isDerived(_ attribute: String, of name: String) -> Bool {
        mapping.entityMappings.contains {
            guard let to = $0.destination, $0.source != nil else { return false }
            return goal.model.isKind(to, of: name) && $0.attribute(attribute)?.value == .derived
        }
    }

    /// Derived attributes whose value only Core Data knows. No real store shows what `canonical:` and the like give, so
    /// a search by a value that is computed here could miss rows, and nobody would see why.
    private func uncomputed(in layout: StoreLayout) -> [String] {
        goal.model.entities.values.sorted { $0.name < $1.name }.flatMap { entity in
            entity.attributes.filter {
                $0.isUncomputed(in: layout, declaredBy: entity.name) && isDerived($0.name, of: entity.name)
            }.map { attribute in
                """
                \(entity.name).\(attribute.name) is derived by `\(attribute.derivationText ?? "")`, which only Core Data \
                computes: it is NULL \(attribute.unsavedText)
                """
            }
        }
    }
}

extension Attribute {
    /// Whether it is derived, and no statement computes its values after the rows.
    func isUncomputed(in layout: StoreLayout, declaredBy entity: String) -> Bool {
        guard derivation != nil else { return false }
        guard let value = layout.derivedValue(of: name, declaredBy: entity) else { return true }
        return value.source == .now
    }

    /// What the NULLs of a derived attribute mean to the app: the end of a sentence.
    var unsavedText: String {
        "until Core Data writes the row again; until then searches by “\(name)” find none of these rows."
    }
}
