import CausewayModel
import CausewaySQLite
import CausewayStoreFormat

/// The questions about a store's rows, by the model.
struct RowExamination {
    typealias Report = StoreExamination.Report

    let examination: StoreExamination
    let layout: StoreLayout

    func run(_ report: inout Report) throws(EngineError) {
        try primaryKeys(&report)
        for table in layout.tables { try entityNumbers(of: table, &report) }
        try links(&report)
        for name in layout.entities {
            guard let entity = layout.model.entities[name] else { continue }
            try missingValues(of: entity, &report)
            for constraint in entity.uniquenessConstraints { try uniqueness(constraint, of: entity, &report) }
        }
        try ExternalExamination(examination: examination, layout: layout).run(&report)
    }

    /// Runs a statement that gives the keys of offending rows, and reports them.
    private func ask(
        _ kind: StoreFinding.Kind, _ entity: String, _ property: String?, _ complaint: String, _ report: inout Report,
        sql: () throws -> String
    ) throws(EngineError) {
        let place = property.map { "\(entity).\($0)" } ?? entity
        try examination.attempt(place, &report) { report throws in
            let found = try FoundRows(try sql(), in: examination.store.connection, examination.cancellation)
            guard found.count > 0 else { return }
            report.findings.append(
                StoreFinding(
                    kind, entity: entity, property: property,
                    "\(place) \(complaint) in \(found.described)", rows: found.count, keys: found.keys))
        }
    }

    // MARK: - Numbers and keys

    /// Core Data gives Z_MAX + 1 to the next row.
    private func primaryKeys(_ report: inout Report) throws(EngineError) {
        let rows = Dictionary(
            examination.store.schema.primaryKeys.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
        for planned in layout.primaryKeyRows where planned.parent == 0 {
            // A row that is missing is a problem of the schema.
            guard let row = rows[Int64(planned.number)], let table = layout.table(of: planned.name) else { continue }
            try examination.attempt(table.name, &report) { report throws in
                let largest = try EntityQuestions.largestKey(of: table.name, in: examination.store.connection)
                guard row.maximum < largest else { return }
                report.findings.append(
                    StoreFinding(
                        .primaryKeys, entity: planned.name,
                        "Z_PRIMARYKEY: Z_MAX of \(planned.name) is \(row.maximum), but there is a row p\(largest)"))
            }
        }
    }

    private func entityNumbers(of table: EntityTable, _ report: inout Report) throws(EngineError) {
        guard let numbers = layout.numbers(ofTree: table.rootEntity) else { return }
        let complaint = "and its table \(table.name): Z_ENT names no entity of the table"
        try ask(.unknownEntity, table.rootEntity, nil, complaint, &report) {
            """
            SELECT Z_PK FROM \(try SQLIdentifier(table.name)) WHERE Z_ENT IS NULL \
            OR Z_ENT NOT BETWEEN \(numbers.lowerBound) AND \(numbers.upperBound) ORDER BY Z_PK
            """
        }
        try examination.attempt(table.name, &report) { report throws in
            var statement = try examination.store.connection.prepare(
                "SELECT count(*) FROM \(try SQLIdentifier(table.name))")
            if try statement.step() { report.rows += Int(clamping: statement.int64(at: 0)) }
        }
    }

    // MARK: - Links

    private func links(_ report: inout Report) throws(EngineError) {
        var questions: [LinkQuestion] = []
        try examination.attempt("the relationships", &report) { _ throws in questions = try LinkQuestion.all(layout) }
        for question in questions {
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

    // MARK: - Values

    /// Derived attributes are computed by SQLite, transient ones not stored: neither is asked.
    private func missingValues(of entity: Entity, _ report: inout Report) throws(EngineError) {
        for attribute in entity.attributes {
            try missingValues(attribute, path: attribute.name, of: entity, present: [], &report)
        }
        for relationship in entity.relationships
        where !relationship.isOptional && !relationship.isTransient && !relationship.isToMany {
            let role = ColumnRole.toOne(entity: entity.name, relationship: relationship.name)
            try missing(role, path: relationship.name, of: entity, present: [], &report)
        }
    }

    /// `present` are the columns of an optional composite around: on disk a nil composite and one whose elements are all
    /// nil look the same (store-format.md §4.2), so its elements are asked for only where there is one.
    private func missingValues(
        _ attribute: Attribute, path: String, of entity: Entity, present: [String], _ report: inout Report
    ) throws(EngineError) {
        guard !attribute.isTransient, attribute.derivation == nil else { return }
        if attribute.type == .composite {
            let present = attribute.isOptional ? leaves(of: attribute, path: path, entity.name) : present
            for element in attribute.elements {
                try missingValues(element, path: "\(path).\(element.name)", of: entity, present: present, &report)
            }
        } else if !attribute.isOptional {
            let role = ColumnRole.attribute(entity: entity.name, path: path)
            try missing(role, path: path, of: entity, present: present, &report)
        }
    }

    private func leaves(of attribute: Attribute, path: String, _ entity: String) -> [String] {
        guard attribute.type == .composite else {
            return layout.column(.attribute(entity: entity, path: path)).map { [$0.name] } ?? []
        }
        return attribute.elements.flatMap { leaves(of: $0, path: "\(path).\($0.name)", entity) }
    }

    private func missing(
        _ role: ColumnRole, path: String, of entity: Entity, present: [String], _ report: inout Report
    ) throws(EngineError) {
        guard let column = layout.column(role), let numbers = layout.numbers(ofTree: entity.name),
            let table = layout.table(of: entity.name)
        else { return }
        try ask(.missingValue, entity.name, path, "is mandatory, but NULL,", &report) {
            var others: [String] = []
            for other in present { others.append("\(try SQLIdentifier(other)) IS NOT NULL") }
            let condition = others.isEmpty ? "" : " AND (\(others.joined(separator: " OR ")))"
            return """
                SELECT Z_PK FROM \(try SQLIdentifier(table.name)) WHERE \(try SQLIdentifier(column.name)) IS NULL \
                AND Z_ENT BETWEEN \(numbers.lowerBound) AND \(numbers.upperBound)\(condition) ORDER BY Z_PK
                """
        }
    }

    /// Rows whose values another row of the table has already, that with the smallest key excepted; NULL clashes with
    /// nothing. A constraint that isn't stored as a whole isn't asked.
    private func uniqueness(
        _ properties: [String], of entity: Entity, _ report: inout Report
    ) throws(EngineError) {
        let columns = properties.compactMap { layout.column(of: $0, in: entity.name)?.name }
        guard !columns.isEmpty, columns.count == properties.count, let table = layout.table(of: entity.name) else {
            return
        }
        let what = properties.joined(separator: ", ")
        try ask(.notUnique, entity.name, what, "repeats the values of another row", &report) {
            var names: [String] = []
            for column in columns { names.append("t.\(try SQLIdentifier(column))") }
            return """
                SELECT key FROM (SELECT t.Z_PK AS key, first_value(t.Z_PK) OVER \
                (PARTITION BY \(names.joined(separator: ", ")) ORDER BY t.Z_PK) AS kept \
                FROM \(try SQLIdentifier(table.name)) AS t \
                WHERE \(names.map { "\($0) IS NOT NULL" }.joined(separator: " AND "))) WHERE key <> kept ORDER BY key
                """
        }
    }
}
