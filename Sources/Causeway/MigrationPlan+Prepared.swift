import CausewayEngine
import CausewayMapping
import CausewayObjects
import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewayStoreFormat
import CausewayStores

extension MigrationPlan {
    init(_ prepared: PreparedMigration, options: EngineOptions) {
        store = prepared.location.path
        storeBytes = prepared.storeBytes
        sourceVersion = prepared.sourceVersion
        targetVersion = prepared.targetVersion
        path = prepared.path
        diskBytes = prepared.diskBytes
        let works = prepared.steps.flatMap(\.works)
        let hasPages = works.contains { $0.method == .rebuild }
        let hasMappings = prepared.steps.contains { step in
            step.objects?.mappings.contains { step.methods.mappings[$0.index]?.method != .pages } == true
        }
        let hasSorting = works.contains { $0.indexes.contains { $0.method.writesPages } }
        memoryBytes = max(
            EngineOptions.memoryBytes(jobs: options.jobs, batchBytes: options.batchBytes),
            hasPages
                ? EngineOptions.pageMemoryBytes(
                    jobs: options.pageJobs(pageSize: prepared.pageSize), pageSize: prepared.pageSize) : 0,
            hasMappings
                ? EngineOptions.memoryBytes(jobs: options.mappingJobs, batchBytes: options.mappingBatchBytes) : 0,
            hasSorting ? options.sortMemoryBytes : 0)
        walBreak = prepared.walBreak
        warnings = prepared.warnings + prepared.notices
        renames = prepared.renames
        cloudKit = prepared.mirror.map { CloudKit($0) }
        metadata = prepared.metadata
        steps = prepared.steps.enumerated().map { index, step in
            Step(
                step, diskBytes: prepared.diskBytes(ofStep: index), rows: index == 0 ? prepared.rows : nil,
                objectRows: index == 0 ? prepared.objectRows : nil,
                barrier: index == 0 ? nil : prepared.fusion.barriers[index],
                runsWithStepBefore: index > 0 && prepared.fusion.barriers[index] == nil,
                handlers: prepared.handlers.indices.contains(index) ? prepared.handlers[index] : [])
        }
    }
}

extension MigrationPlan.Step {
    fileprivate init(
        _ step: StepPlan, diskBytes: Int, rows: [Int]?, objectRows: [Int]?, barrier: String?, runsWithStepBefore: Bool,
        handlers: [StageHandler]
    ) {
        versions = step.versions
        (self.barrier, self.runsWithStepBefore) = (barrier, runsWithStepBefore)
        self.diskBytes = diskBytes
        conversions = step.mapping.conversions.map { "\(step.version(ofStep: $0.step)): \($0)" }
        losses = step.lost.filter { $0.count != 0 }.map(\.description)
        changes = step.changes.map { ModelChange($0, version: step.version(ofStep: $0.step)) }
        tables = step.works.map { MigrationPlan.Table($0) }
        let made = Set(step.works.filter { $0.method != .statements }.map(\.table))
        var passes = step.passes.enumerated().map {
            MigrationPlan.Pass($1, rows: rows?[$0], readsPages: made.contains($1.destinationTable))
        }
        if let objects = step.objects {
            // Passes that make objects come first, passes that copy rows after them.
            passes =
                objects.mappings.enumerated().map { index, mapping in
                    MigrationPlan.Pass(
                        mapping, of: objects, rows: objectRows?[index], step.methods.mappings[mapping.index])
                }
                + objects.joins.flatMap(\.work.passes).map { MigrationPlan.Pass($0, rows: nil) } + passes
        }
        let schema = step.statements
        passes += schema.indexStatements.map {
            MigrationPlan.Pass(title: $0.name, method: "index", statement: $0.sql)
        }
        for mapping in step.mapping.entityMappings where mapping.destination == nil && step.objects == nil {
            passes.append(MigrationPlan.Pass(title: mapping.source ?? "", method: "drop"))
        }
        passes += handlers.map { MigrationPlan.Pass(title: $0.title, method: "stage") }
        self.passes = passes
        statements =
            (schema.tableStatements + schema.houseStatements
            + (step.hasHistory ? schema.historyStatements : [])).map(\.sql)
            + (schema.indexStatements + schema.rTreeStatements + schema.triggerStatements).map(\.sql)
    }
}

extension MigrationPlan.Table {
    init(_ work: TableWork) {
        name = work.table
        method = work.method.rawValue
        reason = work.reason
        indexes = work.indexes.map { work in
            let index = work.index
            return MigrationPlan.Index(
                name: index.name, columns: index.columns.map(\.name), isUnique: index.isUnique,
                isPartial: index.isPartial, origin: index.origin.rawValue, method: work.method.rawValue,
                reason: work.reason)
        }
    }
}

extension MigrationPlan.Pass {
    init(_ pass: RowPass, rows: Int?, readsPages: Bool = false) {
        title = pass.title
        self.rows = rows
        statement = readsPages ? "" : pass.shape.sql
        let recipes = pass.projections.sorted { $0.key < $1.key }.first?.value.cells ?? []
        carried = recipes.count { if case .carry = $0 { true } else { false } }
        changed = recipes.count - carried
        method =
            switch pass.kind {
            case .history: "history"
            case .appTable: "copy"
            case .mirrored: "mirror"
            case .links: "relate"
            case .entity: "project"
            }
    }
}

extension MigrationPlan.Pass {
    /// What an entity mapping of a mapping model does.
    init(_ plan: EntityMappingPlan, of step: ObjectStep, rows: Int?, _ choice: MethodChoice<MappingMethod>?) {
        let description = plan.description
        title = description.destinationEntity ?? description.sourceEntity ?? description.name
        self.rows = plan.sourceEntity == nil ? nil : rows
        carried = plan.attributes.count { if case .carry = $0.origin { true } else { false } } + plan.keys.count
        let translated = step.translations.flatMap(\.relationships).count { $0.mapping == plan.index }
        changed =
            plan.attributes.count + plan.keys.count + plan.choices.count + plan.relationships.count + translated
            - carried
        method =
            switch description.kind {
            case .add: "add"
            case .remove: "drop"
            case .undefined, .custom, .copy, .transform: "transform"
            }
        statement = plan.sourceEntity == nil ? "" : plan.shape.sql
        mapping = MigrationPlan.Mapping(
            plan, model: step.models.indices.contains(plan.modelIndex) ? step.models[plan.modelIndex] : "", choice)
    }
}

extension MigrationPlan.Mapping {
    init(_ plan: EntityMappingPlan, model: String, _ choice: MethodChoice<MappingMethod>?) {
        let description = plan.description
        self.model = model
        name = description.name
        source = description.sourceEntity
        destination = description.destinationEntity
        policy = description.policyClassName
        createsRelationships = policy != nil && plan.isReadAgain
        let rows = "  rows: "
        filter = description.lines().first { $0.hasPrefix(rows) }.map { String($0.dropFirst(rows.count)) }
        keys =
            switch plan.keeping {
            case .always: .kept
            case .ifFree: .keptIfFree
            case .never: .new
            }
        properties = (description.attributeMappings + description.relationshipMappings).map {
            "\($0.name) ← \($0.value)"
        }
        (method, reason) = (choice?.method.rawValue, choice?.reason)
    }
}

extension MigrationSummary {
    init(_ outcome: MigrationOutcome) {
        store = outcome.store
        backup = outcome.backup
        sourceVersion = outcome.prepared.sourceVersion
        targetVersion = outcome.prepared.targetVersion
        rows = outcome.rows
        droppedRows = outcome.dropped + (outcome.prepared.mirror?.unreadRows ?? 0)
        createdRows = outcome.createdRows
        violations = outcome.violations
        rejectedRows = outcome.rejectedRows
        quarantinedRows = outcome.quarantinedRows
        unreadBytes = outcome.unreadBytes
        defaultedValues = outcome.defaultedValues
        bytes = outcome.bytes
        seconds = outcome.seconds
        savingSeconds = outcome.savingSeconds
        peakMemoryBytes = Int(ProcessUsage.current().peakResidentBytes)
        walBreak = outcome.walBreak
        wasRolledBack = outcome.hasRolledBack
        let changes = [
            wasRolledBack ? "an unfinished transaction of another program was rolled back" : nil, outcome.modeChange,
        ].compactMap(\.self)
        if !changes.isEmpty { storeChange = changes.joined(separator: ", and ") }
        warnings = outcome.warnings
        losses = outcome.prepared.steps.flatMap(\.lost).filter { loss in
            if case .filtered = loss.kind, outcome.dropped == 0 { return false }
            return loss.count != 0
        }.map { $0.sentence(isDone: true) }
        wasCurrent = outcome.prepared.steps.isEmpty
        wasSwappedBefore = outcome.wasSwapped
        metadata = outcome.prepared.metadata
    }
}

extension MigrationEvent {
    /// An event's public form; nil for what `EventRelay` tells.
    init?(_ event: EngineEvent) {
        switch event {
        case .prepared, .progress, .advanced: return nil
        case .stepBegan(let versions, let index, let count, let rows):
            self = .stepBegan(versions: versions, index: index, count: count, rows: rows)
        case .passBegan(let title): self = .passBegan(title: title)
        case .passEnded(let title, let rows, let dropped, let seconds):
            self = .passEnded(title: title, rows: rows, dropped: dropped, seconds: seconds)
        case .phaseBegan(let phase): self = .phaseBegan(phase)
        case .resumed(let step, let rows): self = .resumed(step: step, rows: rows)
        case .checkpoint(let sequence, let rows): self = .checkpoint(sequence: Int(clamping: sequence), rows: rows)
        case .warning(let text): self = .warning(text)
        case .statement(let sql): self = .statement(sql)
        }
    }
}
