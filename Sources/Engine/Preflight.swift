import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat

/// What the rows must fulfil before a step may run: every violation at once, before a byte is written.
struct Preflight {
    /// Violations that are named with their rows.
    private static let namedRows = 20

    let step: StepPlan
    let source: SourceStore
    /// Whether rows are made as objects: by mapping models, or by a stage's handlers.
    let makesObjects: Bool
    /// Rows that passes leave out aren't refused here (`QuarantineForecast` counts them).
    var badRows = BadRowPolicy.fail

    func check() throws(EngineError) {
        var violations: [String] = []
        do {
            for name in step.mustBeEmpty where !quarantines {
                let rows = try rows(of: name, condition: nil)
                if !rows.isEmpty {
                    violations.append("\(name) is abstract in the new version, but has rows (\(list(rows)))")
                }
            }
            for table in step.source.tables {
                if !quarantines, let text = try strangers(in: table) { violations.append(text) }
                if makesObjects, let text = try impossibleKeys(in: table) { violations.append(text) }
            }
            for mapping in step.mapping.entityMappings where !quarantines {
                guard let entity = mapping.source else { continue }
                for obligation in mapping.obligations {
                    if let text = try violation(of: obligation, entity: entity) { violations.append(text) }
                }
            }
        } catch {
            throw EngineError(reading: error, during: "pre-flight")
        }
        guard violations.isEmpty else {
            throw EngineError(
                .sourceData, "\(source.location.path): rows don't fit the new version", details: violations,
                remedy: "give the attributes a default or make them optional in the model, or mend the rows")
        }
    }

    private var quarantines: Bool { badRows == .quarantine && step.objects == nil }

    /// Rows whose Z_ENT names no entity of their table.
    private func strangers(in table: EntityTable) throws(SQLiteError) -> String? {
        let numbers = step.source.entities.filter { step.sourceModel.root(of: $0) == table.rootEntity }
            .compactMap { step.sourceNumbers[$0] }.map(String.init).joined(separator: ", ")
        var statement = try source.connection.prepare(
            """
            SELECT Z_PK FROM \(try SQLIdentifier(table.name)) WHERE Z_ENT NOT IN (\(numbers)) OR Z_ENT IS NULL \
            ORDER BY Z_PK LIMIT \(Self.namedRows + 1)
            """)
        var keys: [Int64] = []
        while try statement.step() { keys.append(statement.int64(at: 0)) }
        return keys.isEmpty ? nil : "table \(table.name): Z_ENT names no entity of the table in rows (\(list(keys)))"
    }

    /// Core Data counts keys from 1; object identities rest on it.
    private func impossibleKeys(in table: EntityTable) throws(SQLiteError) -> String? {
        var statement = try source.connection.prepare(
            "SELECT Z_PK FROM \(try SQLIdentifier(table.name)) WHERE Z_PK < 1 ORDER BY Z_PK LIMIT \(Self.namedRows + 1)"
        )
        var keys: [Int64] = []
        while try statement.step() { keys.append(statement.int64(at: 0)) }
        return keys.isEmpty ? nil : "table \(table.name): keys below 1, which no object can have (\(list(keys)))"
    }

    private func violation(of obligation: Obligation, entity: String) throws(SQLiteError) -> String? {
        let place = "\(step.version(of: obligation)): \(obligation.entity).\(obligation.attribute)"
        switch obligation.demand {
        case .noRows:
            let rows = try rows(of: entity, condition: nil)
            guard !rows.isEmpty else { return nil }
            return "\(place) is new, mandatory and has no default, but there are rows (\(list(rows)))"
        case .noNulls(let attribute):
            guard let column = step.sourceColumn(of: attribute, of: entity) else { return nil }
            let rows = try rows(of: entity, condition: "\(try SQLIdentifier(column)) IS NULL")
            guard !rows.isEmpty else { return nil }
            return "\(place) is mandatory now and has no default, but is NULL in rows (\(list(rows)))"
        }
    }

    /// The keys of the first rows of the entity itself, not of its subentities, that fulfil a condition.
    private func rows(of entity: String, condition: String?) throws(SQLiteError) -> [Int64] {
        let root = step.sourceModel.root(of: entity)
        guard let table = step.source.tables.first(where: { $0.rootEntity == root }),
            let number = step.sourceNumbers[entity]
        else { return [] }
        var sql = "SELECT Z_PK FROM \(try SQLIdentifier(table.name)) WHERE Z_ENT = \(number)"
        if let condition { sql += " AND \(condition)" }
        var statement = try source.connection.prepare(sql + " ORDER BY Z_PK LIMIT \(Self.namedRows + 1)")
        var keys: [Int64] = []
        while try statement.step() { keys.append(statement.int64(at: 0)) }
        return keys
    }

    private func list(_ rows: [Int64]) -> String {
        let named = rows.prefix(Self.namedRows).map { "p\($0)" }.joined(separator: ", ")
        return rows.count > Self.namedRows ? named + ", …" : named
    }
}
