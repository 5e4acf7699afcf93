import CausewayPlanning
import CausewaySQLite

/// What the source's rows must fulfil before a migration may run: every violation at once, before a byte is written.
///
/// Asked when a migration is planned, before its first byte, and again of each later step's own source when that step
/// begins. It only reads. Cost: linear in the rows; each check says how often it reads a table.
///
/// A kind of check is a file `Preflight+Topic.swift` with a function that returns `Findings`, and a line in `check`.
struct Preflight {
    /// Rows that a violation names.
    static let namedRows = 20

    /// The steps to come: the first reads `source`, each later one what the step before makes.
    let steps: [StepPlan]
    let source: SourceStore
    /// Whether rows are made as objects: by mapping models, or by a stage's handlers.
    let makesObjects: Bool
    /// Rows that passes leave out aren't refused here (`QuarantineForecast` counts them).
    var badRows = BadRowPolicy.fail

    /// What a check has found.
    struct Findings {
        /// What ends the run: a sentence that names version, entity, property and rows.
        var violations: [String] = []
        /// What to do about the violations, a clause each.
        var remedies: [String] = []
        /// What is carried all the same and worth knowing: counts, never content. Warnings of plan, run and summary.
        var notices: [String] = []

        mutating func refuse(_ violation: String, remedy: String) {
            violations.append(violation)
            if !remedies.contains(remedy) { remedies.append(remedy) }
        }

        static func += (all: inout Findings, more: Findings) {
            all.violations += more.violations
            all.remedies += more.remedies.filter { !all.remedies.contains($0) }
            all.notices += more.notices
        }
    }

    /// Asks everything.
    ///
    /// - Returns: notices, for the warnings.
    /// - Throws: `.sourceData` with all violations, or what made the store unreadable.
    func check() throws(EngineError) -> [String] {
        var findings = Findings()
        do {
            findings += try entityNumbers()
            findings += try obligations()
            findings += try numbers()
        } catch {
            throw EngineError(error, during: "\(source.location.path): the check of the rows")
        }
        guard findings.violations.isEmpty else {
            throw EngineError(
                .sourceData, "\(source.location.path): rows don't fit the new version", details: findings.violations,
                remedy: findings.remedies.joined(separator: "; "))
        }
        return findings.notices
    }

    /// The step that reads the store.
    var step: StepPlan { steps[0] }

    var quarantines: Bool { badRows == .quarantine && step.objects == nil }

    /// Keys of the first rows that fulfil a condition; one more than are named, so that the list can say that it is cut.
    func keys(in table: String, where condition: String) throws(SQLiteError) -> [Int64] {
        var statement = try source.connection.prepare(
            """
            SELECT Z_PK FROM \(try SQLIdentifier(table)) WHERE \(condition) ORDER BY Z_PK LIMIT \(Self.namedRows + 1)
            """)
        var keys: [Int64] = []
        while try statement.step() { keys.append(statement.int64(at: 0)) }
        return keys
    }

    /// `p1, p2, …`
    static func list(_ keys: [Int64]) -> String {
        let named = keys.prefix(namedRows).map { "p\($0)" }.joined(separator: ", ")
        return keys.count > namedRows ? named + ", …" : named
    }
}
