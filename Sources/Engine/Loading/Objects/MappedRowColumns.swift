import CausewayEvaluation
import CausewayMapping
import CausewayObjects
import CausewayPlanning
import CausewayPlatform
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// What each column of the records of a mapping without code gets: numbers and places in arrays, so that nothing is
/// retained for a row.
struct MappedRowColumns: Sendable {
    struct Column: Sendable {
        let affinity: Affinity
        var fill = Fill.null
        /// Of the column that a carried cell is of.
        var origin: Affinity?
        /// Columns from this one on that get neighbouring cells as they are, unless there is a real among them: SQLite
        /// may store it as an integer.
        var run = 0
    }

    /// Integers are cells of the source row, and places in the arrays below.
    enum Fill: Sendable {
        case null
        case integer(Int64)
        case real(Double)
        /// A text or blob that every row has: a cell of the constants.
        case constant(Int)
        case carry(Int)
        /// This cell of the store's row, which the steps between carry.
        case direct(Int)
        case compute(attribute: Int)
        /// The attribute is evaluated where the scalar program doesn't know.
        case scalar(Int, attribute: Int)
        /// … or where the target isn't held.
        case target(Int, attribute: Int)
        case key(Int)
        case keyEntity(Int)
        case keyPlace(Int)
        case choice(Int)
        case choiceEntity(Int)
    }

    /// Of the table.
    let records: [PolicyRecordFormer.Column]
    private(set) var columns: ContiguousArray<Column> = []
    private(set) var scalars: [ScalarMaker] = []
    /// Where the texts of each of them begin among the constants.
    private(set) var texts: [Int] = []
    private(set) var targets: [TargetCells] = []
    private var values: [CellValue] = []
    /// For targets.
    private var bytesLeft: Int
    /// One record with the values.
    private let constants = RowBatch()

    /// - Parameters:
    ///   - fills: of the columns, as the plan has them.
    ///   - plan: the mapping.
    ///   - records: the columns of the table's records.
    ///   - input: what is read of the source's rows.
    ///   - direct: cells that come from the store's row instead.
    ///   - map: where these keep what.
    ///   - store: in which their targets are; nil where there is none.
    ///   - cancellation: checked while targets are read.
    /// - Throws: a misfit where a default would be converted; what is damaged in other tables.
    init(
        _ fills: [EntityMappingPlan.ColumnFill], of plan: EntityMappingPlan, _ records: [PolicyRecordFormer.Column],
        from input: MappedRowForm.Input, _ direct: MappedRowForm.Direct?, _ map: StorageMap, in store: SourceStore?,
        _ cancellation: Cancellation
    ) throws(EngineError) {
        self.records = records
        bytesLeft = input.targetBytes
        let affinities = input.affinities
        for record in records {
            var column = Column(affinity: record.affinity)
            if let place = record.place, let cell = direct?.cells[place] {
                column.fill = .direct(cell)
                column.origin = direct?.input.affinities[cell]
            } else if let place = record.place {
                switch fills[place] {
                case .constant(let value): column.fill = try constant(value, record.affinity, plan)
                case .carry(let cell):
                    column.fill = .carry(cell)
                    column.origin = affinities.indices.contains(cell) ? affinities[cell] : nil
                case .compute(let attribute):
                    column.fill = try computed(attribute, plan, map, store, cancellation)
                case .key(let key): column.fill = .key(key)
                case .keyEntity(let key): column.fill = .keyEntity(key)
                case .keyPlace(let key): column.fill = .keyPlace(key)
                case .choice(let choice): column.fill = .choice(choice)
                case .choiceEntity(let choice): column.fill = .choiceEntity(choice)
                }
            }
            columns.append(column)
        }
        try keepConstants(plan)
        for place in columns.indices.reversed() {
            guard columns[place].isSpliced else { continue }
            let next = place + 1 < columns.count ? columns[place + 1] : nil
            columns[place].run = 1 + (next.map { columns[place].isBefore($0) ? $0.run : 0 } ?? 0)
        }
    }

    private mutating func constant(
        _ value: CellValue, _ affinity: Affinity, _ plan: EntityMappingPlan
    ) throws(EngineError) -> Fill {
        switch value {
        case .null: return .null
        case .integer(let value): return .integer(value)
        case .real(let value): return .real(value)
        case .text, .blob:
            if case .text = value, affinity != .text, affinity != .blob {
                throw EngineError(
                    rowsDontFit: "“\(plan.description.name)”: a default of another kind than its column")
            }
            values.append(value)
            return .constant(values.count - 1)
        }
    }

    private mutating func computed(
        _ attribute: Int, _ plan: EntityMappingPlan, _ map: StorageMap, _ store: SourceStore?,
        _ cancellation: Cancellation
    ) throws(EngineError) -> Fill {
        let fill = plan.attributes[attribute]
        if let scalar = ScalarMaker(fill, plan, map) {
            scalars.append(scalar)
            texts.append(values.count)
            values += scalar.texts.map { .text($0) }
            return .scalar(scalars.count - 1, attribute: attribute)
        }
        if let store, let cells = try TargetCells(fill, plan, of: store, map, &bytesLeft, cancellation) {
            targets.append(cells)
            return .target(targets.count - 1, attribute: attribute)
        }
        return .compute(attribute: attribute)
    }

    private func keepConstants(_ plan: EntityMappingPlan) throws(EngineError) {
        do throws(RecordError) {
            let encoded = try EncodedCells(values)
            let writer = RecordWriter(capacity: 1)
            writer.begin()
            writer.append(encoded)
            // The writer only refers to its bytes.
            try withExtendedLifetime(encoded) { () throws(RecordError) in try writer.finish(into: constants, rowid: 0) }
        } catch {
            throw EngineError(.plan, "“\(plan.description.name)”: a default or a constant: \(error.message)")
        }
    }

    /// Divides the rules of the rows: whether those of carried cells hold is seen in the source row.
    ///
    /// - Parameters:
    ///   - questions: of the table.
    ///   - keys: of the mapping. A link that ends since its target isn't migrated counts as one that leads nowhere.
    /// - Returns: those of carried cells, with the cell, and the others.
    func divided(
        _ questions: [RowQuestion], _ keys: [EntityMappingPlan.KeyFill]
    ) -> (carried: [(question: RowQuestion, cell: Int)], others: [RowQuestion]) {
        var carried: [(question: RowQuestion, cell: Int)] = []
        var others: [RowQuestion] = []
        for question in questions {
            let column = records.firstIndex { $0.place == question.column }
            switch (column.map { columns[$0].fill }, question.kind) {
            case (.carry(let cell)?, _): carried.append((question, cell))
            case (.key(let key)?, .leads): carried.append((question, keys[key].key))
            default: others.append(question)
            }
        }
        return (carried, others)
    }

    /// A view of the constants, for one thread.
    func makeConstants() -> RowView {
        let view = RowView(capacity: values.count)
        do {
            try view.load(0, of: constants)
        } catch {
            preconditionFailure("the record was made here")
        }
        return view
    }
}

extension MappedRowColumns.Column {
    /// Whether its cells are in the form in which the column stores them.
    fileprivate var isSpliced: Bool {
        switch fill {
        case .carry, .direct: origin == affinity && affinity != .real
        default: false
        }
    }

    /// Whether the cell of a column is the next one.
    fileprivate func isBefore(_ next: Self) -> Bool {
        switch (fill, next.fill) {
        case (.carry(let cell), .carry(let other)), (.direct(let cell), .direct(let other)): cell + 1 == other
        default: false
        }
    }
}
