import CausewayEvaluation
import CausewayModel
package import CausewayPlanning
package import CausewaySQLiteFile

/// The cells of one row's numbers and dates, where the programs of a mapping read them.
struct ScalarReading: Sendable {
    private let cells: [(cell: Int, type: AttributeType)]
    private var row: ScalarRow

    /// nil where one of the attributes isn't stored, or isn't read.
    init?(_ slots: [PropertyHandle], _ plan: EntityMappingPlan, _ source: StorageMap) {
        var cells: [(Int, AttributeType)] = []
        for slot in slots {
            guard case .attribute(let column, let attribute)? = source.place(of: slot, entity: plan.sourceEntity ?? 0),
                plan.cells.indices.contains(column), plan.cells[column] >= 0
            else { return nil }
            cells.append((plan.cells[column], attribute.type))
        }
        self.cells = cells
        row = ScalarRow(slots: cells.count)
    }

    /// Runs a program on the row in a view.
    mutating func run<Answer>(_ program: ScalarProgram<Answer>, _ view: RowView) -> Answer {
        for (slot, place) in cells.enumerated() { row.values[slot] = Self.scalar(of: view, place.cell, place.type) }
        return program.evaluate(row)
    }

    /// As `CellCoding.value` reads them.
    private static func scalar(of view: RowView, _ cell: Int, _ type: AttributeType) -> Scalar {
        if view.isNull(at: cell) { return .null }
        if let integer = view.integer(at: cell) {
            switch type {
            case .boolean: return .boolean(integer != 0)
            case .integer16, .integer32, .integer64: return .integer(integer)
            case .double, .float: return .real(Double(integer))
            case .date: return .date(Double(integer))
            default: return .unknown
            }
        }
        guard let real = view.real(at: cell), !real.isNaN else { return .unknown }
        switch type {
        case .double, .float: return .real(real)
        case .date: return .date(real)
        default: return .unknown
        }
    }
}

/// Computes an attribute of a mapping's rows from numbers and dates of their source rows; of one thread.
package struct ScalarMaker: Sendable {
    /// What the column gets.
    package enum Cell {
        case null
        case integer(Int64)
        case real(Double)
        /// This of `texts`.
        case text(Int)
        /// The whole expression must be evaluated.
        case unknown
    }

    package var texts: [String] { program.texts }
    private let program: ScalarProgram<Scalar>
    private let form: AttributeForm
    private var reading: ScalarReading

    /// - Parameters:
    ///   - fill: the attribute.
    ///   - plan: its mapping.
    ///   - source: where the mapping's rows are stored.
    ///
    /// nil where its expression needs more.
    package init?(_ fill: EntityMappingPlan.AttributeFill, _ plan: EntityMappingPlan, _ source: StorageMap) {
        guard case .compute(let expression) = fill.origin, let program = expression.scalar,
            let reading = ScalarReading(program.slots, plan, source)
        else { return nil }
        (self.program, self.reading, form) = (program, reading, AttributeForm(fill.attribute))
    }

    /// - Parameter view: on the source row.
    /// - Returns: the cell.
    package mutating func cell(_ view: RowView) -> Cell {
        let answer = reading.run(program, view)
        if case .text(let place) = answer { return form.holdsStrings ? .text(place) : .unknown }
        guard let value = answer.value, !form.isDerived, let cell = CellCoding.cell(for: value, as: form) else {
            return .unknown
        }
        return switch cell {
        case .null: .null
        case .integer(let value): .integer(value)
        case .real(let value): .real(value)
        default: .unknown
        }
    }
}

/// The filter of a mapping that compares numbers and dates of its source rows; of one thread.
package struct ScalarFilter: Sendable {
    private let program: ScalarProgram<Bool?>
    private var reading: ScalarReading

    /// - Parameters:
    ///   - plan: the mapping.
    ///   - source: where its rows are stored.
    ///
    /// nil where its filter needs more, or where there is none.
    package init?(_ plan: EntityMappingPlan, _ source: StorageMap) {
        guard let program = plan.filter?.scalar, let reading = ScalarReading(program.slots, plan, source) else {
            return nil
        }
        (self.program, self.reading) = (program, reading)
    }

    /// - Parameter view: on the source row.
    /// - Returns: whether the row is the mapping's; nil where the whole filter must be evaluated.
    package mutating func holds(_ view: RowView) -> Bool? { reading.run(program, view) }
}
