import CausewayModel
import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat

extension Preflight {
    /// Rows whose Z_ENT or Z_PK can't be any object's, and rows of entities that become abstract. Reads each table once.
    func entityNumbers() throws(SQLiteError) -> Findings {
        var findings = Findings()
        for name in step.mustBeEmpty where !quarantines {
            guard let table = step.source.table(of: name), let number = step.sourceNumbers[name] else { continue }
            let rows = try keys(in: table.name, where: "Z_ENT = \(number)")
            guard !rows.isEmpty else { continue }
            findings.refuse(
                "\(name) is abstract in the new version, but has rows (\(Self.list(rows)))", remedy: "mend the rows")
        }
        for table in step.source.tables {
            if !quarantines {
                let numbers = step.source.entities.filter { step.sourceModel.root(of: $0) == table.rootEntity }
                    .compactMap { step.sourceNumbers[$0] }.map(String.init).joined(separator: ", ")
                let rows = try keys(in: table.name, where: "Z_ENT NOT IN (\(numbers)) OR Z_ENT IS NULL")
                if !rows.isEmpty {
                    findings.refuse(
                        "table \(table.name): Z_ENT names no entity of the table in rows (\(Self.list(rows)))",
                        remedy: "mend the rows")
                }
            }
            guard makesObjects else { continue }
            // Core Data counts keys from 1; object identities rest on it.
            let rows = try keys(in: table.name, where: "Z_PK < 1")
            if !rows.isEmpty {
                findings.refuse(
                    "table \(table.name): keys below 1, which no object can have (\(Self.list(rows)))",
                    remedy: "mend the rows")
            }
        }
        return findings
    }
}
