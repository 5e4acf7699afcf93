import CausewayModel
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// The checks of a store's rows, by the model.
struct RowExamination {
    let examination: StoreExamination
    let layout: StoreLayout

    func run(_ report: inout StoreExamination.Report) throws(EngineError) {
        try primaryKeys(&report)
        // Keys are given in order: the largest one is cheap, and says about how many rows there are.
        let sizes = layout.tables.map { table in
            max(1, Double((try? examination.store.connection.largestKey(of: table.name)) ?? 0))
        }
        let whole = sizes.reduce(0, +)
        var done = 0.0
        for (table, size) in zip(layout.tables, sizes) {
            tell("values in \(table.name)", Part.structure + Part.values * done / whole)
            try ValueExamination(examination, layout, table)?.run(&report)
            done += size
        }
        try links(&report)
        tell("uniqueness and external files", Part.structure + Part.values + Part.links)
        for name in layout.entities {
            guard let entity = layout.model.entities[name] else { continue }
            for constraint in entity.uniquenessConstraints { try uniqueness(constraint, of: entity, &report) }
        }
        try ExternalExamination(examination: examination, layout: layout).run(&report)
        try MirrorExamination(examination: examination, layout: layout).run(&report)
    }

    /// Parts of the whole work up to which each check goes, about.
    private enum Part {
        static let structure = 0.4
        static let values = 0.35
        static let links = 0.15
    }

    private func tell(_ activity: String, _ fraction: Double) {
        examination.progress(ExaminationProgress(activity, fraction))
    }

    /// Runs a statement that gives the keys of offending rows, and reports them.
    private func ask(
        _ kind: StoreFinding.Kind, _ entity: String, _ property: String?, _ complaint: String,
        _ report: inout StoreExamination.Report, sql: () throws -> String
    ) throws(EngineError) {
        let place = property.map { "\(entity).\($0)" } ?? entity
        try examination.attempt(place, &report) { report throws in
            let found = try FoundRows(try sql(), in: examination.store.connection, examination.cancellation)
            if found.count > 0 { report.findings.append(StoreFinding(kind, entity, property, complaint, found)) }
        }
    }

    // MARK: - Numbers and keys

    /// Core Data gives Z_MAX + 1 to the next row.
    private func primaryKeys(_ report: inout StoreExamination.Report) throws(EngineError) {
        let rows = Dictionary(
            examination.store.schema.primaryKeys.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
        for planned in layout.primaryKeyRows where planned.parent == 0 {
            // A row that is missing is a problem of the schema.
            guard let row = rows[Int64(planned.number)], let table = layout.table(of: planned.name) else { continue }
            try examination.attempt(table.name, &report) { report throws in
                let largest = try examination.store.connection.largestKey(of: table.name)
                guard row.maximum < largest else { return }
                report.findings.append(
                    StoreFinding(
                        .primaryKeys, entity: planned.name,
                        "Z_PRIMARYKEY: Z_MAX of \(planned.name) is \(row.maximum), but there is a row p\(largest)"))
            }
        }
    }

    // MARK: - Links

    private func links(_ report: inout StoreExamination.Report) throws(EngineError) {
        var questions: [LinkQuestion] = []
        try examination.attempt("the relationships", &report) { _ throws in questions = try LinkQuestion.all(layout) }
        for (place, question) in questions.enumerated() {
            tell(
                "links of \(question.entity)",
                Part.structure + Part.values + Part.links * Double(place) / Double(questions.count))
            let kind: StoreFinding.Kind =
                switch question.kind {
                case .dangling: .dangling
                case .entityNumber: .entityNumber
                case .asymmetric: .asymmetric
                case .joinOwner, .joinDestination: .joinEnd
                }
            try ask(kind, question.entity, question.relationship, question.complaint, &report) { question.sql }
        }
    }

    // MARK: - Uniqueness

    /// Rows whose values another row of the table has, except the one with the smallest key; NULL clashes with nothing.
    /// A constraint that isn't fully stored isn't checked.
    private func uniqueness(
        _ properties: [String], of entity: Entity, _ report: inout StoreExamination.Report
    ) throws(EngineError) {
        let columns = properties.compactMap { layout.column(of: $0, in: entity.name)?.name }
        guard !columns.isEmpty, columns.count == properties.count, let table = layout.table(of: entity.name) else {
            return
        }
        let what = properties.joined(separator: ", ")
        try ask(.notUnique, entity.name, what, "repeats the values of another row", &report) {
            let names = try columns.map { "t.\(try SQLIdentifier($0))" }
            return """
                SELECT key FROM (SELECT t.Z_PK AS key, first_value(t.Z_PK) OVER \
                (PARTITION BY \(names.joined(separator: ", ")) ORDER BY t.Z_PK) AS kept \
                FROM \(try SQLIdentifier(table.name)) AS t \
                WHERE \(BalancedSQL.joined(names.map { "\($0) IS NOT NULL" }, by: "AND"))) WHERE key <> kept ORDER BY key
                """
        }
    }
}
