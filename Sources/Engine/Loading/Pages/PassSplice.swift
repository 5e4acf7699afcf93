import CausewayPlanning
import CausewaySQLiteFile

/// The recipes of a pass as programs that splice records: for the projections that only carry cells, put literals,
/// leave columns out and translate entity numbers. Rows of other projections are made cell by cell.
struct PassSplice: Sendable {
    private let programs: [SpliceProgram]
    private let choice: SpliceChoice
    /// Columns of the source's table.
    private let columns: Int
    /// For each program, the place of its projection among those of the pass, by number.
    let groups: [Int]

    /// - Parameters:
    ///   - pass: without quarantine.
    ///   - cells: of the pass, in the records of the source's table.
    ///   - form: of the new table's records, in the pass's columns.
    ///   - columns: of the source's table.
    ///
    /// nil where no row of the pass can be spliced.
    /// - Throws: `.tooLong` where literals are.
    init?(_ pass: RowPass, from cells: [RowMap.Cell], to form: [RecordForm.Column], of columns: Int) throws(RecordError)
    {
        let compiler = SpliceCompiler(cells: cells, form: form)
        var column: Int?
        if let discriminator = pass.discriminator {
            guard let place = compiler.column(discriminator) else { return nil }
            column = place
        }
        let shape = DigestShape(pass)
        var programs: [SpliceProgram] = []
        var groups: [Int] = []
        var numbers: [Int: Int] = [:]
        for (group, number) in pass.projections.keys.sorted().enumerated() {
            guard let projection = pass.projections[number],
                let program = try compiler.program(projection, shape.groups[group], isKeyed: shape.key != nil)
            else { continue }
            numbers[number] = programs.count
            programs.append(program)
            groups.append(group)
        }
        if programs.isEmpty || column == nil && numbers[0] == nil { return nil }
        self.programs = programs
        self.groups = groups
        self.columns = columns
        choice = column.map { SpliceChoice(column: $0, programs: numbers) } ?? .first
    }

    func makeSplicer(takesSums: Bool, entries: EntrySummer?) -> RecordSplicer {
        RecordSplicer(programs, choice: choice, columns: columns, takesSums: takesSums, entries: entries)
    }
}

/// Turns the recipes of one projection into a program.
private struct SpliceCompiler {
    let cells: [RowMap.Cell]
    let form: [RecordForm.Column]

    /// nil where the projection needs more than splicing.
    func program(
        _ projection: RowProjection, _ group: DigestShape.Group, isKeyed: Bool
    ) throws(RecordError) -> SpliceProgram? {
        var columns: [SpliceProgram.Column] = []
        var exceptions: [SpliceProgram.Exception] = []
        for column in form {
            guard case .cell(let output, let numbers) = column else {
                columns.append(.constant(.null))
                continue
            }
            guard projection.cells.indices.contains(output),
                let made = self.column(projection.cells[output], numbers, &exceptions)
            else { return nil }
            columns.append(made)
        }
        var counted: [Int?] = [nil]
        if isKeyed {
            counted = []
            for cell in group.cells {
                guard let place = counting(cell) else { return nil }
                counted.append(place.column)
            }
        }
        return try SpliceProgram(columns, exceptions: exceptions, counted: counted)
    }

    /// The column of a cell whose integers are read as they are stored; nil for the key and for reals.
    func column(_ cell: Int) -> Int? {
        guard case .column(let column, false) = cells[cell] else { return nil }
        return column
    }

    private func column(
        _ recipe: CellRecipe, _ form: RecordForm.Numbers, _ exceptions: inout [SpliceProgram.Exception]
    ) -> SpliceProgram.Column? {
        switch recipe {
        case .carry(let cell): return carried(cell, form)
        case .literal(let value): return .constant(value, form)
        case .carryOr(let cell, _):
            guard case .column(let column, _) = cells[cell] else { return nil }
            exceptions.append(.null(column))
            return carried(cell, form)
        case .key(let cell, let entity, let dropped):
            if !dropped.isEmpty {
                guard let column = column(entity) else { return nil }
                exceptions += [.integer(column, among: dropped), .otherThanInteger(column)]
            }
            return carried(cell, form)
        case .entityNumber(let cell, let numbers):
            guard let column = column(cell) else { return nil }
            exceptions.append(.otherThanInteger(column))
            return .renumbered(column, numbers)
        case .converted, .literalIfPresent, .first, .inlined, .prefixed, .historyBitmap: return nil
        }
    }

    private func carried(_ cell: Int, _ form: RecordForm.Numbers) -> SpliceProgram.Column? {
        guard case .column(let column, let isReal) = cells[cell] else { return nil }
        return .carried(column, isReal: isReal, form)
    }

    /// What is counted for a cell that the digest covers, of rows without exceptions: a column, or every row. nil where
    /// that isn't known.
    private func counting(_ cell: DigestShape.Cell) -> (column: Int?, Void)? {
        guard cell.position == nil else { return nil }
        switch cell.rule {
        case .plain, .replacingNull, .ending:
            guard case .column(let column, _) = cells[cell.input] else { return (nil, ()) }
            return (column, ())
        case .absent, .converting: return nil
        }
    }
}
