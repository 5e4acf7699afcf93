import CausewayMapping
import CausewayObjects
import CausewayPlanning
import CausewayPlatform
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// By what the rows of an entity mapping are made, where they follow from their source rows alone: shared by workers.
struct MappedRowForm: Sendable {
    /// The rows that it takes.
    struct Input: Sendable {
        /// How they are read; nil where another step makes them.
        let reading: MappingReading?
        /// Where the mapping's cells are in their records; nil: in their order.
        let map: RowMap?
        let affinities: [Affinity?]
        /// Whether rows of other entities are among them.
        let isShared: Bool
        /// Bytes that may be held of the rows to which links lead.
        var targetBytes = TargetCells.mostBytes

        /// Rows of the store.
        init(_ reading: MappingReading) {
            (self.reading, map, affinities, isShared) = (reading, reading.map, reading.affinities, false)
        }

        /// Records that the step before makes.
        ///
        /// - Parameters:
        ///   - plan: the mapping that takes them.
        ///   - columns: that they have, as places in their table.
        ///   - isShared: whether rows of other entities are among them.
        init(_ plan: EntityMappingPlan, from columns: [PolicyRecordFormer.Column], isShared: Bool = false) {
            (reading, self.isShared) = (nil, isShared)
            var cells: [RowMap.Cell] = plan.shape.cells.map { _ in .column(columns.count) }
            var affinities: [Affinity?] = cells.map { _ in nil }
            for (place, cell) in plan.cells.enumerated() where cell >= 0 {
                if place == TableStorage.primaryKey { cells[cell] = .rowid }
                guard let found = columns.firstIndex(where: { $0.place == place }) else { continue }
                cells[cell] = .column(found, isReal: columns[found].affinity == .real)
                affinities[cell] = columns[found].affinity
            }
            self.affinities = affinities
            do throws(RecordError) {
                // The last column stands for those that nobody reads.
                map = try RowMap(cells, defaults: Array(repeating: .null, count: columns.count + 1))
            } catch {
                preconditionFailure("NULL is never too long")
            }
        }

        /// Reads one row after another.
        func makeView(_ plan: EntityMappingPlan) -> RowView {
            map.map { RowView($0) } ?? RowView(capacity: plan.shape.cells.count)
        }
    }

    /// Cells that come from the store's row, though another step is between.
    struct Direct: Sendable {
        let plan: EntityMappingPlan
        let input: Input
        /// By column of the new table.
        let cells: [Int: Int]
    }

    let plan: EntityMappingPlan
    let input: Input
    let source: StorageMap
    /// nil where all cells are the input's.
    let direct: Direct?
    let columns: MappedRowColumns
    /// Of the columns, as the new store's map counts them.
    let names: [String]
    let questions: [RowQuestion]
    let choosers: [LinkChooser]
    /// Whether a batch keeps its records: the writer needs them.
    var leavesRecords = false
    /// Of the new rows, and the place of their table.
    let destination: Int32
    let table: Int
    /// For messages.
    let title: String
    let entityName: String
    let versions: [String]
    /// By key: where rows don't tell their targets' entity.
    private let declared: [Int64]
    /// By key: the largest that a target can have kept; a new row may have a larger one.
    private let largest: [Int64]

    /// What a form needs of the step.
    struct Step {
        let versions: [String]
        let objects: ObjectStep
        /// Of the records.
        let columns: [PolicyRecordFormer.Column]
        let direct: Direct?
        /// Of the rows of an entity in a table.
        let questions: (_ table: Int, _ entity: Int32) -> [RowQuestion]
        let choosers: [LinkChooser]
        /// In which the source rows' targets are; nil where there is none.
        let store: SourceStore?
        let cancellation: Cancellation
        /// By table: the largest keys that its rows can have kept; empty where none gets another.
        var largestKeptKeys: [Int64] = []
    }

    /// nil where rows need more than their source rows.
    ///
    /// - Throws: what is damaged in tables that expressions read.
    init?(_ plan: EntityMappingPlan, of step: Step, from input: Input) throws(EngineError) {
        let map = step.objects.destination
        guard let fills = plan.columns, let entity = plan.destinationEntity, let table = map.table(of: entity) else {
            return nil
        }
        (self.plan, self.input, self.table) = (plan, input, table)
        (versions, source, direct) = (step.versions, step.objects.source, step.direct)
        destination = entity
        declared = plan.keys.map { key in key.numbers[key.declared].map { Int64($0) } ?? 0 }
        largest = plan.keys.map { key in
            let place = key.numbers.values.first.flatMap { map.table(of: $0) }
            return place.flatMap { step.largestKeptKeys.indices.contains($0) ? step.largestKeptKeys[$0] : nil } ?? .max
        }
        columns = try MappedRowColumns(
            fills, of: plan, step.columns, from: input, step.direct, step.objects.source, in: step.store,
            step.cancellation)
        names = map.tables[table].columns.map(\.name)
        title = "table \(map.tables[table].name.name)"
        entityName = map.name(of: entity)
        questions = step.questions(table, entity)
        choosers = step.choosers
    }

    /// Whether new rows have the keys of their source rows.
    var keepsKeys: Bool { plan.keeping == .always }

    var sourceName: String { plan.description.sourceEntity ?? "" }
    /// Z_ENT of the source rows.
    var entity: Int32 { plan.sourceEntity ?? 0 }

    /// Finds the new entity of a link's target.
    ///
    /// - Parameters:
    ///   - stored: its Z_ENT, where the row tells it.
    ///   - key: the link's place among the mapping's keys.
    /// - Returns: its Z_ENT in the new store; 0 where it isn't migrated.
    func number(ofTarget stored: Int32?, of key: Int) -> Int64 {
        if stored == nil { return declared[key] }
        return plan.keys[key].numbers[stored ?? 0].map { Int64($0) } ?? 0
    }

    /// Whether the target of a link can have kept its key.
    ///
    /// - Parameters:
    ///   - key: to which the link leads.
    ///   - link: its place among the mapping's keys.
    /// - Returns: true also where no row gets another key.
    func mayBeKept(_ key: Int64, of link: Int) -> Bool { key <= largest[link] }

    func error(_ error: any Error, row: String?) -> EngineError {
        error as? EngineError
            ?? EngineError(hook: error, step: versions, mapping: plan.description.name, row: row)
    }
}
