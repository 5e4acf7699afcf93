import CausewayEvaluation
import CausewayMapping
import CausewayObjects
import CausewayPlanning
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// Makes the rows of a mapping without code: records go straight from cells of the source's to leaves of the new table.
///
/// Of one thread. Its columns are numbers and places in arrays: nothing is retained or allocated for a row.
struct MappedRowMaker: ~Copyable {
    /// A to-one whose key is carried.
    private struct Link {
        let key: Int
        let entity: Int
        let place: Int
        let fill: Int
        /// Z_ENT of the target in the row in hand; 0 where the link ends.
        var target: Int64 = 0
    }

    private let form: MappedRowForm
    private let session: MigrationSession
    private let columns: ContiguousArray<MappedRowColumns.Column>
    private var links: ContiguousArray<Link>
    private let choosers: [LinkChooser]
    /// Where the links that are chosen lead in the row in hand.
    private var chosen: [LinkChooser.Target?]
    private var filter: ScalarFilter?
    private var scalars: [ScalarMaker]
    /// Where the texts of each of them begin among the constants.
    private let texts: [Int]
    private let targets: [TargetCells]
    /// One for each of them: the writer refers to the bytes of a cell until the record is finished.
    private let targetViews: [RowView]
    private let constants: RowView
    /// Z_ENT of the source rows, and where it is.
    private let entity: Int64
    private let entityCell: Int
    private let source: RowView
    /// The store's row, where cells come from there though another step is between.
    private let direct: RowView?
    private let hasDirect: Bool
    /// Its place in the batch.
    private var directRow = 0
    /// Whether rows of other entities may be among those that it gets.
    private let asksEntity: Bool
    private let made: RowView
    private let writer = AffinityWriter()
    /// The records of one batch.
    private(set) var records = RowBatch()
    private var inspection: RecordInspection
    /// Of cells that are carried: they are looked at in the source row.
    private var carriedInspection: RecordInspection
    /// Whether the session stands on the row in hand.
    private var stands = false

    /// - Parameters:
    ///   - form: by which it makes rows.
    ///   - session: of this thread.
    init(_ form: MappedRowForm, _ session: MigrationSession) {
        (self.form, self.session) = (form, session)
        columns = form.columns.columns
        (scalars, texts, targets) = (form.columns.scalars, form.columns.texts, form.columns.targets)
        constants = form.columns.makeConstants()
        targetViews = targets.map { _ in RowView(capacity: 1) }
        links = ContiguousArray(
            form.plan.keys.enumerated().map { place, fill in
                Link(key: fill.key, entity: fill.entity ?? -1, place: fill.place ?? -1, fill: place)
            })
        choosers = form.choosers
        chosen = choosers.map { _ in nil }
        (entity, entityCell) = (Int64(form.entity), form.plan.cells[TableStorage.entityNumber])
        source = form.input.makeView(form.plan)
        hasDirect = form.direct != nil
        asksEntity = form.input.reading != nil || form.input.isShared
        direct = form.direct.map { $0.input.makeView($0.plan) }
        made = RowView(capacity: columns.count)
        let (carried, others) = form.columns.divided(form.questions, form.plan.keys)
        inspection = RecordInspection(others, form.columns.records)
        carriedInspection = RecordInspection(carried.map(\.question)) { question in
            carried.first { $0.question.place == question.place }?.cell
        }
        filter = ScalarFilter(form.plan, form.source)
    }

    /// Ends the session's statements.
    func close() { session.close() }

    /// Makes the rows of a batch: `records` has them.
    ///
    /// - Parameters:
    ///   - batch: the source rows.
    ///   - store: the store's rows from which they come.
    ///   - own: places of the mapping's rows; nil for all.
    ///   - limit: bytes that may be kept from the batch before.
    ///   - rows: what is known of the new ones.
    /// - Throws: the first row that can't be made.
    mutating func make(
        _ batch: RowBatch, of store: RowBatch, only own: [Int]? = nil, keepingCapacity limit: Int,
        into rows: inout MappedRows
    ) throws(EngineError) {
        // Several mappings may share it.
        session.currentMapping = session.mappings[form.plan.index]
        directRow = 0
        if form.leavesRecords { records = rows.records }
        records.removeAll(keepingCapacity: limit)
        inspection.begin(&rows.findings)
        carriedInspection.begin(&rows.carriedFindings)
        if let own {
            for row in own { try make(row, of: batch, store, &rows) }
        } else {
            for row in 0..<batch.count { try make(row, of: batch, store, &rows) }
        }
        session.leaveRow()
    }

    private mutating func make(
        _ row: Int, of batch: RowBatch, _ store: RowBatch, _ rows: inout MappedRows
    ) throws(EngineError) {
        let key = batch.rowid(at: row)
        var isOwn = false
        do {
            try source.load(row, of: batch)
            if asksEntity, source.integer(at: entityCell) != entity, try !belongs() {
                rows.outcome.elsewhere += 1
                return
            }
            isOwn = true
            stands = false
            guard try isWanted(row) else {
                rows.outcome.dropped += 1
                return
            }
            if hasDirect { try loadDirect(key, store) }
            try form(row, &rows.outcome.endedLinks)
            if !carriedInspection.isEmpty { carriedInspection.inspect(source, &rows.carriedFindings) }
            if !inspection.isEmpty {
                try made.load(records.count - 1, of: records)
                inspection.inspect(made, &rows.findings)
            }
            rows.keys.append(key)
        } catch {
            throw form.error(
                error, row: isOwn ? session.source.uri(of: object) : "\(form.sourceName) p\(key)")
        }
    }

    /// Whether the row in hand is the mapping's, though its Z_ENT is another.
    private func belongs() throws(EngineError) -> Bool { try form.input.reading?.own.contain(source) ?? false }

    /// Moves to the store's row. Both batches ascend, and steps between only leave rows out.
    private mutating func loadDirect(_ key: Int64, _ store: RowBatch) throws(RecordError) {
        while store.rowid(at: directRow) != key { directRow += 1 }
        try direct?.load(directRow, of: store)
    }

    /// The row in hand.
    private var object: ObjectID { ObjectID(side: .source, entity: form.entity, key: source.rowid) }

    /// Whether the filter lets the row form.
    private mutating func isWanted(_ row: Int) throws -> Bool {
        if let answer = filter?.holds(source) { return answer }
        guard let whole = form.plan.filter else { return true }
        stand(on: row)
        return try session.isWanted(object, by: whole)
    }

    /// Expressions that need more than numbers read the row through the session.
    private mutating func stand(on row: Int) {
        if stands { return }
        stands = true
        session.source.stand(on: object, view: source, cells: form.plan.cells, row: row)
    }

    /// Adds the record of the row in hand.
    private mutating func form(_ row: Int, _ ended: inout Int) throws {
        for place in links.indices { links[place].target = try target(of: links[place], &ended) }
        for place in choosers.indices { chosen[place] = try choosers[place].target(source, &ended) }
        writer.begin()
        var place = 0
        do {
            while place < columns.count {
                let spliced = splice(columns[place])
                if spliced == 0 { try append(columns[place], row) }
                place += max(1, spliced)
            }
            try writer.finish(into: records, rowid: source.rowid)
        } catch let failure as AffinityWriter.Failure {
            let name = place < columns.count ? form.columns.records[place].place.map { form.names[$0] } : nil
            throw EngineError(failure, "\(form.title), row \(source.rowid)", column: name)
        }
    }

    /// Appends cells as they are.
    ///
    /// - Returns: how many.
    private func splice(_ column: MappedRowColumns.Column) -> Int {
        guard column.run > 0 else { return 0 }
        switch column.fill {
        case .carry(let cell):
            let count = source.countBeforeReal(in: cell..<cell + column.run)
            if count > 0 { writer.record.append(cells: cell..<cell + count, of: source) }
            return count
        case .direct(let cell):
            guard let direct else { return 0 }
            let count = direct.countBeforeReal(in: cell..<cell + column.run)
            if count > 0 { writer.record.append(cells: cell..<cell + count, of: direct) }
            return count
        default: return 0
        }
    }

    private mutating func append(_ column: MappedRowColumns.Column, _ row: Int) throws {
        switch column.fill {
        case .null: writer.record.appendNull()
        case .integer(let value): try writer.append(value, as: column.affinity)
        case .real(let value): try writer.append(value, as: column.affinity)
        case .constant(let cell): writer.record.append(cell: cell, of: constants)
        case .carry(let cell):
            try writer.append(carried: cell, of: source, from: column.origin, as: column.affinity)
        case .direct(let cell):
            guard let direct else { preconditionFailure("such cells have a row") }
            try writer.append(carried: cell, of: direct, from: column.origin, as: column.affinity)
        case .compute(let attribute): try append(computed: attribute, row, column.affinity)
        case .scalar(let place, let attribute):
            switch scalars[place].cell(source) {
            case .null: writer.record.appendNull()
            case .integer(let value): try writer.append(value, as: column.affinity)
            case .real(let value): try writer.append(value, as: column.affinity)
            case .text(let text): try append(constant: texts[place] + text, column.affinity)
            case .unknown: try append(computed: attribute, row, column.affinity)
            }
        case .target(let place, let attribute):
            let cells = targets[place]
            if source.isNull(at: cells.key) {
                writer.record.appendNull()
            } else if let key = source.integer(at: cells.key), let target = cells.place(of: key) {
                try cells.load(target, into: targetViews[place])
                try writer.append(carried: 0, of: targetViews[place], from: column.affinity, as: column.affinity)
            } else {
                try append(computed: attribute, row, column.affinity)
            }
        case .key(let link): try append(linked: links[link].key, of: link, column.affinity)
        case .keyPlace(let link): try append(linked: links[link].place, of: link, column.affinity)
        case .choice(let place):
            if let target = chosen[place] { writer.record.append(target.key) } else { writer.record.appendNull() }
        case .choiceEntity(let place):
            if let target = chosen[place] { writer.record.append(target.entity) } else { writer.record.appendNull() }
        case .keyEntity(let link):
            // If the source doesn't tell the entity, the new row doesn't either.
            let isTold = links[link].entity < 0 || source.integer(at: links[link].entity) != nil
            if isTold, links[link].target != 0 {
                try writer.append(links[link].target, as: column.affinity)
            } else {
                writer.record.appendNull()
            }
        }
    }

    private mutating func append(computed attribute: Int, _ row: Int, _ affinity: Affinity) throws {
        stand(on: row)
        try writer.append(
            try session.computed(attribute, of: form.plan.index, from: object), as: affinity)
    }

    private func append(constant cell: Int, _ affinity: Affinity) throws(AffinityWriter.Failure) {
        guard affinity == .text || affinity == .blob else { throw .misfit }
        writer.record.append(cell: cell, of: constants)
    }

    private func append(linked cell: Int, of link: Int, _ affinity: Affinity) throws(AffinityWriter.Failure) {
        guard cell >= 0, links[link].target != 0 else { return writer.record.appendNull() }
        try writer.append(carried: cell, of: source, from: nil, as: affinity)
    }

    /// Z_ENT of what a link leads to; 0 where there is none, or its rows aren't migrated.
    private func target(of link: Link, _ ended: inout Int) throws -> Int64 {
        if source.isNull(at: link.key) { return 0 }
        guard let key = source.integer(at: link.key) else {
            let name = form.plan.keys[link.fill].relationship.name
            throw ObjectError(.type, "\(form.entityName) p\(source.rowid).\(name): the stored key isn't an integer")
        }
        let stored = link.entity < 0 ? nil : source.integer(at: link.entity).map { Int32(truncatingIfNeeded: $0) }
        let target = form.number(ofTarget: stored, of: link.fill)
        guard target == 0 || form.mayBeKept(key, of: link.fill) else {
            ended += 1
            return 0
        }
        return target
    }
}
