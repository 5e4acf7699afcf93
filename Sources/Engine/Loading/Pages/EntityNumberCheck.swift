import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// Looks for entity numbers that a copy would keep, and that rows which are read don't: each table is read once.
///
/// Of numbers that are patched only NULL needs a look: a patch refuses those that it doesn't know, but lets NULL stay.
struct EntityNumberCheck {
    let step: StepPlan
    let source: SourceStore
    let cancellation: Cancellation

    /// A table whose rows stay, with the numbers that may stay in its columns.
    private struct Question {
        let table: SQLIdentifier
        /// nil where Z_ENT is patched.
        let entities: [Int64]?
        let links: [(column: SQLIdentifier, numbers: [Int64])]
    }

    /// - Throws: as where rows are read, for the first row of an entity that the model doesn't have; with `isMisfit` for
    ///   a link to an entity that isn't its target's or a subentity's: it ends where rows are read.
    func check() throws(EngineError) {
        for pass in step.keptPasses where pass.kind == .entity {
            try cancellation.check()
            try cancellation.interrupting(source.connection.interruptHandle) { () throws(EngineError) in
                try EngineError.reading(source.location.path) {
                    if let question = try question(pass) { try ask(question) }
                }
            }
        }
    }

    private func question(_ pass: RowPass) throws(SQLiteError) -> Question? {
        guard let kept = step.methods.kept[pass.destinationTable],
            let columns = source.schema.table(pass.sourceTable)?.columns
        else { return nil }
        let patched = Set(kept.renumberings.map { columns[$0.place].name.lowercased() })
        var links: [(column: SQLIdentifier, numbers: [Int64])] = []
        for (column, numbers) in pass.stayingNumbers where !patched.contains(column.name.lowercased()) {
            links.append((column, numbers))
        }
        let entities = patched.contains("z_ent") ? nil : pass.projections.keys.sorted().map { Int64($0) }
        return Question(table: try SQLIdentifier(pass.sourceTable), entities: entities, links: links)
    }

    private func ask(_ question: Question) throws {
        func list(_ numbers: [Int64]) -> String { numbers.map { String($0) }.joined(separator: ", ") }
        var odd = question.links.map { "\($0.column) NOT IN (\(list($0.numbers)))" } + ["Z_ENT IS NULL"]
        if let entities = question.entities { odd.append("Z_ENT NOT IN (\(list(entities)))") }
        let columns = ["Z_PK", "Z_ENT"] + question.links.map(\.column.quoted)
        var statement = try source.connection.prepare(
            """
            SELECT \(columns.joined(separator: ", ")) FROM \(question.table) \
            WHERE \(odd.joined(separator: " OR ")) LIMIT 1
            """)
        guard try statement.step() else { return }
        let key = statement.int64(at: 0)
        let number = statement.type(at: 1) == .integer ? statement.int64(at: 1) : nil
        let isKnown = number.map { question.entities?.contains($0) ?? true } ?? (statement.type(at: 1) != .null)
        if !isKnown {
            throw EngineError(
                BadRow(
                    code: .migration, property: nil,
                    reason: "its Z_ENT \(number.map { String($0) } ?? "NULL") names no entity of this table"),
                table: question.table.name, key: key)
        }
        let place = question.links.indices.first { place in
            statement.type(at: place + 2) != .null
                && !(statement.type(at: place + 2) == .integer
                    && question.links[place].numbers.contains(statement.int64(at: place + 2)))
        }
        var error = EngineError(
            .sourceData,
            """
            \(source.location.path), \(question.table.name): row \(key): \
            \(place.map { question.links[$0].column.name } ?? "a link") names an entity to which the link can't lead
            """)
        error.isMisfit = true
        throw error
    }
}

extension RowPass {
    /// The columns of the source with the entities of links' targets, each with the numbers that stay the same in all of
    /// its rows; others end or change.
    fileprivate var stayingNumbers: [(column: SQLIdentifier, numbers: [Int64])] {
        var result: [Int: Set<Int64>] = [:]
        for projection in projections.values {
            for case .entityNumber(let cell, numbers: let numbers) in projection.cells {
                let staying = Set(numbers.filter { $0.key == $0.value }.map { Int64($0.key) })
                result[cell] = result[cell]?.intersection(staying) ?? staying
            }
        }
        return result.sorted { $0.key < $1.key }.compactMap { cell, numbers in
            guard case .column(let name) = shape.cells[cell] else { return nil }
            return (name, numbers.sorted())
        }
    }
}
