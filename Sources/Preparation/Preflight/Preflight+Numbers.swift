package import CausewayMapping
import CausewayModel
import CausewayPlanning
package import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

extension Preflight {
    /// Numbers that the new type of their attribute can't hold, or not exactly, in any of the inferred steps. Reads
    /// each table with such attributes once, whatever their number.
    package func numbers() throws(SQLiteError) -> Findings {
        var findings = Findings()
        let demands = NumberDemand.all(makesObjects ? [step] : steps)
        for table in step.source.tables {
            guard var scan = try NumberScan(of: table, in: step, demands) else { continue }
            try scan.run(source.connection)
            for question in scan.questions { report(question, in: &findings) }
        }
        return findings
    }

    private func report(_ question: NumberScan.Question, in findings: inout Findings) {
        let isTold = told?.covers(conversion: question.place) ?? false
        if question.rounded > 0, !isTold {
            findings.notices.append("\(question.place): values that lose precision: \(question.rounded)")
        }
        if question.others > 0, !isTold {
            findings.notices.append(
                "\(question.place): values that aren't numbers and are carried as they are: \(question.others)")
        }
        guard !question.misfits.isEmpty else { return }
        let kinds = NumericType.Misfit.allCases.compactMap { kind in
            question.misfits[kind].map { "\(kind.words): \($0)" }
        }
        let text = """
            \(question.place): values that \(question.conversion.destination.attributeType.modelName) can't hold: \
            \(question.misfits.values.reduce(0, +)) (\(kinds.joined(separator: ", ")))
            """
        let way = detour(over: question.change.step) { $0.narrows(question.change) }
        guard !quarantines(step) else {
            let rows = question.misfits.values.reduce(0, +)
            findings.leftOut.add(step: question.step, entity: question.entity, least: rows, most: rows)
            if told?.followsRows != true { findings.notices.append("\(text); their rows will be quarantined") }
            return
        }
        let uris = question.rows.prefix(Self.namedRows).map {
            ObjectURI.of($0, question.entity, in: source.metadata.uuid)
        }
        findings.refuse(
            "\(text), in rows \(uris.joined(separator: ", "))\(question.rows.count > uris.count ? ", …" : "")",
            remedy: """
                change the values in a copy of the store, convert them with a mapping model\(way), or leave the rows out \
                with --bad-rows quarantine
                """)
    }

    /// Rows that are left out because of their numbers.
    func misfits() throws(SQLiteError) -> [LeftOutRows] {
        guard quarantines(step) else { return [] }
        var result: [LeftOutRows] = []
        for demand in NumberDemand.all(makesObjects ? [step] : steps) {
            guard let table = step.source.table(of: demand.entity), let number = step.sourceNumbers[demand.entity],
                let column = step.sourceColumn(of: demand.change.source, of: demand.entity),
                let misfit = demand.change.conversion.misfits(of: "t.\(try SQLIdentifier(column))")
            else { continue }
            result.append(
                LeftOutRows(
                    step: demand.step, table: table.name, numbers: [number], condition: RowCondition(misfit)))
        }
        return result
    }
}

/// A conversion that the rows of one of the source's entities go through in some step.
struct NumberDemand {
    let entity: String
    /// Index of the converting step among the executed steps.
    let step: Int
    let place: String
    var change: AttributeConversion

    /// The steps' demands, as far as inferred mappings lead back to the rows that the first step reads. Rows of a
    /// mapping model are checked when the step after it begins.
    static func all(_ steps: [StepPlan]) -> [NumberDemand] {
        var result: [NumberDemand] = []
        for (index, step) in steps.prefix(while: { $0.objects == nil }).enumerated() {
            var demands = own(step, at: index)
            for earlier in steps[..<index].reversed() {
                demands = demands.flatMap { $0.traced(through: earlier.mapping) }
            }
            result += demands
        }
        return result
    }

    /// Conversions of a step whose numbers all come from rows of the first step: no step in between writes a default.
    static func followed(_ steps: [StepPlan], at index: Int) -> Set<String> {
        var demands = own(steps[index], at: index)
        var places = Set(demands.map(\.place))
        for earlier in steps[..<index].reversed() {
            for demand in demands where !demand.isCarried(by: earlier.mapping) { places.remove(demand.place) }
            demands = demands.flatMap { $0.traced(through: earlier.mapping) }
        }
        return places
    }

    private static func own(_ step: StepPlan, at index: Int) -> [NumberDemand] {
        step.mapping.entityMappings.flatMap { mapping -> [NumberDemand] in
            guard let entity = mapping.source else { return [] }
            return mapping.conversions.map {
                NumberDemand(entity: entity, step: index, place: step.place(of: $0), change: $0)
            }
        }
    }

    private func isCarried(by mapping: MappingModel) -> Bool {
        mapping.entityMappings.allSatisfy {
            $0.destination != entity || $0.source == nil || change.traced(through: $0) != nil
        }
    }

    private func traced(through mapping: MappingModel) -> [NumberDemand] {
        mapping.entityMappings.compactMap { earlier in
            guard earlier.destination == entity, let source = earlier.source,
                let change = change.traced(through: earlier)
            else { return nil }
            return NumberDemand(entity: source, step: step, place: place, change: change)
        }
    }
}

/// One scan of a table for all conversions of its attributes.
private struct NumberScan {
    /// A conversion that the rows of one entity go through.
    struct Question {
        /// The source's.
        let entity: String
        /// Place of the step that converts.
        let step: Int
        /// `V2: Thing.count: Integer 64 → Integer 16`.
        let place: String
        let change: AttributeConversion
        var conversion: NumericConversion { change.conversion }
        /// Place among the result's columns.
        let column: Int
        var misfits: [NumericType.Misfit: Int] = [:]
        /// Keys of the first rows with a misfit: one more than the message names.
        var rows: [Int64] = []
        var rounded = 0
        /// Texts and binary data.
        var others = 0

        mutating func ask(_ row: borrowing Statement) {
            guard let number = row.number(at: column) else {
                if row.type(at: column) != .null { others += 1 }
                return
            }
            switch conversion.fit(of: number) {
            case .exact, nil: break
            case .rounded: rounded += 1
            case .misfit(let misfit):
                misfits[misfit, default: 0] += 1
                if rows.count <= Preflight.namedRows { rows.append(row.int64(at: 0)) }
            }
        }
    }

    private(set) var questions: [Question] = []
    /// Places of an entity's questions, by Z_ENT.
    private var places: [Int: [Int]] = [:]
    private let sql: String

    /// nil where nothing is converted.
    init?(of table: EntityTable, in step: StepPlan, _ demands: [NumberDemand]) throws(SQLiteError) {
        var columns = ["Z_PK", "Z_ENT"]
        for demand in demands {
            guard step.source.table(of: demand.entity)?.name == table.name,
                let number = step.sourceNumbers[demand.entity],
                let column = step.sourceColumn(of: demand.change.source, of: demand.entity)
            else { continue }
            if !columns.contains(column) { columns.append(column) }
            places[number, default: []].append(questions.count)
            questions.append(
                Question(
                    entity: demand.entity, step: demand.step, place: demand.place, change: demand.change,
                    column: columns.firstIndex(of: column) ?? 0))
        }
        guard !questions.isEmpty else { return nil }
        let names = try columns.map { (name: String) throws(SQLiteError) in try SQLIdentifier(name).quoted }
        let numbers = places.keys.sorted().map(String.init)
        sql = """
            SELECT \(names.joined(separator: ", ")) FROM \(try SQLIdentifier(table.name)) \
            WHERE Z_ENT IN (\(numbers.joined(separator: ", ")))
            """
    }

    mutating func run(_ connection: borrowing Connection) throws(SQLiteError) {
        var statement = try connection.prepare(sql)
        while try statement.step() {
            guard let places = places[Int(clamping: statement.int64(at: 1))] else { continue }
            for place in places { questions[place].ask(statement) }
        }
    }
}

extension StepPlan {
    /// `V2: Thing.count: Integer 64 → Integer 16`.
    package func place(of change: AttributeConversion) -> String { "\(version(ofStep: change.step)): \(change)" }
}

extension NumericType.Misfit {
    /// What such values are.
    var words: String {
        switch self {
        case .outOfRange: "out of range"
        case .fraction: "with a fraction"
        case .neitherNoNorYes: "other than 0 and 1"
        }
    }

    /// What such a value is.
    package var clause: String {
        switch self {
        case .outOfRange: "the value is out of range"
        case .fraction: "the value has a fraction"
        case .neitherNoNorYes: "the value is neither 0 nor 1"
        }
    }
}
