import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat

/// What the pre-flight can already say of rows that will be quarantined: counts, an obligation each. Broken references to
/// external files are only found by the passes.
struct QuarantineForecast {
    let step: StepPlan
    let source: SourceStore

    /// Sentences; empty where no row is known to be bad. A row that breaks two rules is counted for both.
    ///
    /// Cost: as the pre-flight's, a scan of a table for each rule that it has.
    func sentences() throws(EngineError) -> [String] {
        var result: [String] = []
        do throws(SQLiteError) {
            let read = Set(step.passes.filter { $0.kind == .entity }.map(\.sourceTable))
            for table in step.source.tables {
                let rows = try count(table.name, strangersCondition(in: table))
                guard rows > 0 else { continue }
                result.append(
                    read.contains(table.name)
                        ? "\(table.name): rows of no entity of the table will be quarantined: \(rows)"
                        : "\(table.name): rows of no entity of the table go with it: \(rows)")
            }
            for mapping in step.mapping.entityMappings {
                guard let entity = mapping.source, let number = step.sourceNumbers[entity],
                    let table = step.source.table(of: entity)
                else { continue }
                if step.mustBeEmpty.contains(entity) {
                    let rows = try count(table.name, "Z_ENT = \(number)")
                    if rows > 0 {
                        result.append("\(entity) is abstract in the new version; rows to be quarantined: \(rows)")
                    }
                }
                for obligation in mapping.obligations {
                    var condition = "Z_ENT = \(number)"
                    if case .noNulls(let attribute) = obligation.demand {
                        guard let column = step.sourceColumn(of: attribute, of: entity) else { continue }
                        condition += " AND \(try SQLIdentifier(column)) IS NULL"
                    }
                    let rows = try count(table.name, condition)
                    guard rows > 0 else { continue }
                    result.append(
                        """
                        \(step.version(of: obligation)): \(obligation.entity).\(obligation.attribute) is mandatory without \
                        default; \(entity) rows to be quarantined for want of a value: \(rows)
                        """)
                }
            }
        } catch {
            throw EngineError(reading: error, during: "pre-flight")
        }
        return result
    }

    private func strangersCondition(in table: EntityTable) -> String {
        let numbers = step.source.entities.filter { step.sourceModel.root(of: $0) == table.rootEntity }
            .compactMap { step.sourceNumbers[$0] }.map(String.init).joined(separator: ", ")
        return "Z_ENT NOT IN (\(numbers)) OR Z_ENT IS NULL"
    }

    private func count(_ table: String, _ condition: String) throws(SQLiteError) -> Int {
        var statement = try source.connection.prepare(
            "SELECT count(*) FROM \(try SQLIdentifier(table)) WHERE \(condition)")
        return try statement.step() ? Int(statement.int64(at: 0)) : 0
    }
}
