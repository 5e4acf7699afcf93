import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat

extension Preflight {
    /// Rows that lack what the new version makes mandatory.
    func obligations() throws(SQLiteError) -> Findings {
        var findings = Findings()
        for mapping in step.mapping.entityMappings where !quarantines {
            guard let entity = mapping.source else { continue }
            for obligation in mapping.obligations {
                guard let text = try violation(of: obligation, entity: entity) else { continue }
                findings.refuse(
                    text, remedy: "give the attributes a default or make them optional in the model, or mend the rows")
            }
        }
        return findings
    }

    private func violation(of obligation: Obligation, entity: String) throws(SQLiteError) -> String? {
        guard let table = step.source.table(of: entity), let number = step.sourceNumbers[entity] else { return nil }
        let place = "\(step.version(of: obligation)): \(obligation.entity).\(obligation.attribute)"
        switch obligation.demand {
        case .noRows:
            let rows = try keys(in: table.name, where: "Z_ENT = \(number)")
            guard !rows.isEmpty else { return nil }
            return "\(place) is new, mandatory and has no default, but there are rows (\(Self.list(rows)))"
        case .noNulls(let attribute):
            guard let column = step.sourceColumn(of: attribute, of: entity) else { return nil }
            let rows = try keys(in: table.name, where: "Z_ENT = \(number) AND \(try SQLIdentifier(column)) IS NULL")
            guard !rows.isEmpty else { return nil }
            return "\(place) is mandatory now and has no default, but is NULL in rows (\(Self.list(rows)))"
        }
    }
}
