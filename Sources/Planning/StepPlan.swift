package import CausewayMapping
package import CausewayModel
package import CausewayStoreFormat

/// What one run of steps does: from one store's tables into the next's.
package struct StepPlan: Sendable {
    /// The versions that the run leads through, both ends included.
    package var versions: [String]
    /// The position of the run's first step on the path.
    package var firstStep: Int
    package var mapping: MappingModel
    /// The layout of the store to read, with the names that it has.
    package var source: StoreLayout
    /// The layout of the store to make.
    package var layout: StoreLayout
    package var statements: SchemaStatements
    /// Whether the store to make has history tables.
    package var hasHistory: Bool
    package var passes: [RowPass]
    /// Every index of the store to make.
    package var indexes: [TableIndex]
    /// Objects of the app's own that are carried, in the order of their creation.
    package var appObjects: [StoreSchema.Object]
    /// Derived attributes that are computed after the rows are in.
    package var derivedValues: [DerivedValue]
    /// Source entities whose largest keys the tables continue, by the destination's root.
    package var keyOrigins: [String: Set<String>]
    /// Losses, one sentence each, beginning with the step.
    package var losses: [String]
    /// Objects of the app's own that aren't carried; their rows are counted where the store is open.
    package var lostObjects: [AppObjectCarrier.Lost]
    package var warnings: [String]
    /// What explicit mapping models do; nil for a run of inferred steps.
    package var objects: ObjectStep?
}

extension StepPlan {
    package var sourceModel: ManagedObjectModel { source.model }

    /// Z_ENT by entity name in the store to read.
    package var sourceNumbers: [String: Int] { source.entityNumbers }

    /// The version that a step of the path makes.
    package func version(ofStep position: Int) -> String {
        let index = position - firstStep + 1
        return versions.indices.contains(index) ? versions[index] : versions.last ?? ""
    }

    /// The schema that the next step finds, with the columns of the app's own tables and of history; nil if this step's
    /// isn't known.
    package func resultingSchema(after schema: StoreSchema?) -> StoreSchema? {
        guard let schema else { return nil }
        let own = appObjects.filter { $0.kind == .table }.compactMap { schema.table($0.name) }
        let history = hasHistory ? HistoryLayout(layout) : nil
        let tables = HistoryLayout.Entity.allCases.compactMap { entity -> StoreSchema.Table? in
            guard let columns = history?.columns(of: entity), !columns.isEmpty else { return nil }
            return StoreSchema.Table(
                name: entity.table, rootPage: 0,
                columns: columns.map { text in
                    let words = text.split(separator: " ")
                    return StoreSchema.Column(
                        name: String(words[0]), declaredType: words.count > 1 ? String(words[1]) : "",
                        primaryKeyPlace: words.count > 2 ? 1 : 0, isGenerated: false)
                }, isWithoutRowID: false)
        }
        let made = (statements.inOrder + (hasHistory ? statements.historyStatements : [])).compactMap(\.object)
        return StoreSchema(
            objects: made + appObjects, tables: own + tables, primaryKeys: [], schemaVersion: schema.schemaVersion)
    }
}

/// Plans one run of steps.
package struct StepPlanner {
    package var versions: [String]
    package var firstStep: Int
    package var mapping: MappingModel
    /// The steps that `mapping` is composed of; empty for a step with mapping models.
    package var steps: [InferredStep]
    package var destination: ManagedObjectModel
    package var frameworkVersion: Int
    /// The layout that the step reads, with the names that the store has.
    package var source: StoreLayout
    /// The schema that the step reads; nil for a store that an earlier step makes.
    package var schema: StoreSchema?
    /// Objects of the source that aren't Core Data's; carried if possible.
    package var appObjects: [StoreSchema.Object]
    package var hasHistory: Bool
    /// Both the Core Data that last wrote the store and the one whose layout is written add columns in place
    /// (framework version 977 and newer); older ones rebuild the table and fill only rows that have the attribute.
    package var fillsTables: Bool
    /// Names from a store that Core Data made for the destination (`--schema-template`).
    package var template: LayoutHints?
    /// Names of join tables that were seen in a store of the destination (`--join-table`), in capitals.
    package var joinTables: [String]
    /// Losses of the inferred steps (`LossReport`).
    package var losses: [String]

    package init(
        versions: [String], firstStep: Int, mapping: MappingModel, steps: [InferredStep],
        destination: ManagedObjectModel,
        frameworkVersion: Int, source: StoreLayout, schema: StoreSchema?, appObjects: [StoreSchema.Object],
        hasHistory: Bool,
        fillsTables: Bool, template: LayoutHints?, joinTables: [String] = [], losses: [String] = []
    ) {
        self.versions = versions
        self.firstStep = firstStep
        self.mapping = mapping
        self.steps = steps
        self.destination = destination
        self.frameworkVersion = frameworkVersion
        self.source = source
        self.schema = schema
        self.appObjects = appObjects
        self.hasHistory = hasHistory
        self.fillsTables = fillsTables
        self.template = template
        self.joinTables = joinTables
        self.losses = losses
    }

    /// - Throws: `PlanError`, or `StoreFormatError` where the destination has no layout.
    package func plan() throws -> StepPlan {
        let layout = try layout()
        let statements = try layout.statements()
        let planner = TransferPlanner(
            mapping: mapping, source: source, destination: layout, steps: steps, fillsTables: fillsTables)
        let made = try DestinationSchema(statements, hasHistory: hasHistory)
        var passes = try planner.passes()
        let renames = planner.renames(passes, schema: schema)
        if let schema, hasHistory { passes += try planner.historyPasses(schema) }
        let derived = derivedValues(in: layout)
        try check(passes, derived, in: made)
        let carried = try planner.carried(
            appObjects, schema: schema, renames: renames, into: made, known(statements))
        passes += carried.passes
        try checkReading(passes.map(\.shape))
        return StepPlan(
            versions: versions, firstStep: firstStep, mapping: mapping, source: source, layout: layout,
            statements: statements, hasHistory: hasHistory, passes: passes.named { "pass \($0)" },
            indexes: carried.indexes, appObjects: carried.objects,
            derivedValues: derived, keyOrigins: steps.keyOrigins, losses: losses,
            lostObjects: carried.lost, warnings: statements.unsupported + carried.warnings, objects: nil)
    }

    /// Plans one step with explicit mapping models; `mapping` isn't used.
    ///
    /// - Throws: `PlanError` with everything that is wrong with the mapping models, or `StoreFormatError`.
    package func plan(_ resolved: [ResolvedMapping], code: CodeCatalog) throws -> StepPlan {
        let sourceMap = try StorageMap(source)
        var planner = self
        // The names of join tables depend on the source's links, however they are carried.
        let preliminary = try StorageMap(
            StoreLayout(model: destination, frameworkVersion: frameworkVersion, hints: template ?? LayoutHints()))
        planner.mapping = ObjectStepPlanner(
            resolved, source: sourceMap, destination: preliminary, code: code
        ).skeleton(onlyKept: false)
        let layout = try planner.layout()
        let statements = try layout.statements()
        let made = try DestinationSchema(statements, hasHistory: hasHistory)
        let objectPlanner = ObjectStepPlanner(
            resolved, source: sourceMap, destination: try StorageMap(layout), code: code)
        let objects = try objectPlanner.plan()
        let transfer = TransferPlanner(
            mapping: objectPlanner.skeleton(onlyKept: true), source: source, destination: layout)
        let derived = planner.derivedValues(in: layout)
        var passes: [RowPass] = []
        if let schema, hasHistory { passes += try transfer.historyPasses(schema) }
        let joins = objects.joins.flatMap(\.work.passes)
        try check(passes + joins, derived, in: made)
        for table in layout.tables { try made.checkInsert(into: table.name, columns: table.columns.map(\.name)) }
        try made.check(objects.cleanups, place: objects.models.joined(separator: ", "))
        // Names depend on everything that mapping models read, not only on kept keys.
        let named = TransferPlanner(mapping: planner.mapping, source: source, destination: layout)
        let carried = try transfer.carried(
            appObjects, schema: schema,
            renames: named.renames((try? named.passes()) ?? [], schema: schema, computes: true), into: made,
            known(statements))
        passes += carried.passes
        try checkReading(
            (passes + joins).map(\.shape)
                + objects.mappings.filter { $0.sourceEntity != nil }.flatMap { [$0.shape, $0.linkShape] })
        return StepPlan(
            versions: versions, firstStep: firstStep, mapping: planner.mapping, source: source, layout: layout,
            statements: statements, hasHistory: hasHistory, passes: passes.named { "pass \($0)" },
            indexes: carried.indexes, appObjects: carried.objects,
            derivedValues: derived,
            keyOrigins: [InferredStep(mapping: planner.mapping, source: source.model, destination: destination)]
                .keyOrigins,
            losses: withVersions(
                MappingNotice.losses(of: resolved, from: source.model).map(\.message)
                    + UnreadProperties(resolved: resolved, source: source.model).sentences
                    + objectPlanner.historyLosses(hasHistory)),
            lostObjects: carried.lost,
            warnings: statements.unsupported + resolved.flatMap(\.warnings).map(\.message) + objects.warnings
                + carried.warnings,
            objects: objects)
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
        (statements.indexStatements + (hasHistory ? statements.historyStatements : [])).compactMap(\.index)
    }

    /// Makes SQLite refuse now what it would refuse when rows are read.
    private func checkReading(_ shapes: [RowShape]) throws(StoreFormatError) {
        guard let schema else { return }
        var source = try SourceSchema(schema)
        for shape in shapes { try source.check(shape) }
    }

    /// The destination's layout, with names from stores of its version if known, else the source's.
    private func layout() throws -> StoreLayout {
        try StoreLayout(
            model: destination, frameworkVersion: frameworkVersion, hints: try template ?? carriedHints(),
            joinTables: joinTables)
    }

    /// Losses of the run as a whole, each with its versions.
    private func withVersions(_ losses: [String]) -> [String] {
        losses.map { "\(versions.joined(separator: " → ")): \($0)" }
    }

    /// Join tables keep the side that names them and their columns' suffixes.
    private func carriedHints() throws -> LayoutHints {
        let (mapping, model) = (mapping, source.model)
        return try LayoutHints(
            carrying: source, to: destination, frameworkVersion: frameworkVersion,
            sourceOf: { name in
                guard let links = mapping.mapping(to: name.entity)?.relationship(name.relationship)?.links,
                    let found = model.relationship(links.relationship, of: links.entity)
                else { return nil }
                if !links.isInverted { return .init(found.owner, found.relationship.name) }
                return model.inverse(of: found.relationship).map { .init($0.owner, $0.relationship.name) }
            })
    }

    private func derivedValues(in layout: StoreLayout) -> [DerivedValue] {
        var result: [DerivedValue] = []
        for name in layout.entities {
            guard let entity = destination.entities[name] else { continue }
            for attribute in entity.attributes where attribute.derivation != nil {
                let isNew = mapping.entityMappings.contains {
                    guard let to = $0.destination, $0.source != nil else { return false }
                    return destination.isKind(to, of: name) && $0.attribute(attribute.name)?.value == .derived
                }
                if isNew, let value = layout.derivedValue(of: attribute.name, declaredBy: name) { result.append(value) }
            }
        }
        return DerivedValue.inOrder(result)
    }
}
