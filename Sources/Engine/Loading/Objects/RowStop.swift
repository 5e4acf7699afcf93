import CausewayMapping
import CausewayObjects
import CausewayPlanning
import CausewaySQLiteFile
import CausewayStores

/// By what a step makes rows on their way.
enum RowStop: Sendable {
    case mapping(MappedRowForm)
    /// Of a step between.
    case policy(PolicyRowForm)
    /// Of an inferred step between, after mappings.
    case inferred(InferredRowForm)

    var plan: EntityMappingPlan {
        switch self {
        case .mapping(let form): form.plan
        case .policy(let form): form.rows.plan
        case .inferred(let form): form.plan
        }
    }

    var input: MappedRowForm.Input {
        switch self {
        case .mapping(let form): form.input
        case .policy(let form): form.rows.input
        case .inferred(let form): form.input
        }
    }

    /// Z_ENT of the new rows.
    var destination: Int32 {
        switch self {
        case .mapping(let form): form.destination
        case .policy(let form): form.destination
        case .inferred(let form): form.destination
        }
    }

    /// Z_ENT of the source rows.
    var entity: Int32 { plan.sourceEntity ?? 0 }

    private var versions: [String] {
        switch self {
        case .mapping(let form): form.versions
        case .policy(let form): form.rows.versions
        case .inferred(let form): form.versions
        }
    }

    /// - Parameters:
    ///   - error: why a row can't be read.
    ///   - key: its key.
    /// - Returns: the same, with step, mapping and row.
    func error(_ error: any Error, row key: Int64) -> EngineError {
        EngineError(
            hook: error, step: versions, mapping: plan.description.name,
            row: "\(plan.description.sourceEntity ?? "") p\(key)")
    }
}

/// By what the policy of a step between makes rows: shared by workers.
struct PolicyRowForm: Sendable {
    let rows: HookedRows
    /// Of the records.
    let columns: [PolicyRecordFormer.Column]
    let questions: [RowQuestion]
    /// Z_ENT of the new rows, their table, and all tables of the version.
    let destination: Int32
    let table: Int
    let map: StorageMap

    init(_ rows: HookedRows, of step: StepBetween, _ columns: [PolicyRecordFormer.Column], to entity: Int32) {
        (self.rows, self.columns, destination, map) = (rows, columns, entity, step.objects.destination)
        table = map.table(of: entity) ?? 0
        questions = step.questions(ofTable: table, entity: entity)
    }

    /// Only a store could tell what becomes of the rows.
    func apart(_ reason: String) -> EngineError {
        EngineError(apart: "“\(rows.plan.description.name)” \(reason)", rows.versions)
    }
}

/// By what an inferred step between makes rows: shared by workers.
struct InferredRowForm: Sendable {
    let rows: InferredRows
    let plan: EntityMappingPlan
    let input: MappedRowForm.Input
    let questions: [RowQuestion]
    /// Z_ENT of the new rows.
    let destination: Int32
    let versions: [String]

    init(
        _ rows: InferredRows, _ plan: EntityMappingPlan, of step: StepBetween, from input: MappedRowForm.Input,
        to entity: Int32
    ) {
        (self.rows, self.plan, self.input, destination, versions) = (rows, plan, input, entity, step.step.versions)
        questions = step.questions(ofTable: step.objects.destination.table(of: entity) ?? 0, entity: entity)
    }
}
