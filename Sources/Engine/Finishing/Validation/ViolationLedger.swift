import CausewayPreparation
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// Records every violation, in memory that depends on the model only: counts, the first few violations, and in
/// temporary tables the rows that get a default or are left out.
///
/// Temporary tables are files of SQLite's own with a bounded cache; they never touch the store's file.
struct ViolationLedger: ~Copyable {
    /// A rule that a row breaks, with the place of its remedy.
    struct Finding {
        let rule: Int
        var remedy: Int?
    }

    private struct CountKey: Hashable {
        let rule: Int
        let number: Int
    }

    static let schema = [
        "CREATE TEMP TABLE causeway_defaulted (remedy INTEGER, key INTEGER, PRIMARY KEY (remedy, key)) WITHOUT ROWID",
        """
        CREATE TEMP TABLE causeway_rejected (place INTEGER, key INTEGER, number INTEGER, rule INTEGER, other INTEGER, \
        round INTEGER, PRIMARY KEY (place, key)) WITHOUT ROWID
        """,
        "CREATE TEMP TABLE causeway_count (key INTEGER PRIMARY KEY, members INTEGER)",
    ]
    static let tables = ["causeway_defaulted", "causeway_rejected", "causeway_count"]

    let policy: OnViolation
    private let rules: [ValidationRule]
    private let entities: [String]
    private let storeUUID: String
    private var counts: [CountKey: Int] = [:]
    private(set) var first: [RowViolation] = []
    /// The first of those that stop the migration.
    private(set) var firstFatal: [RowViolation] = []
    private(set) var fatalCount = 0
    private(set) var rejectedRows: [String: Int] = [:]
    private(set) var strayLinks = 0
    /// Rows rejected in one round cause others to be rejected in the next ones.
    private(set) var round = 1
    private var rejecting: Set<Int> = []
    private var addRejected: Statement
    private var addDefaulted: Statement

    init(
        _ rules: ValidationRules, entities: [String], storeUUID: String, policy: OnViolation,
        on connection: borrowing Connection
    ) throws(EngineError) {
        // Into locals first: a statement that fails to compile must leave nothing half made.
        let addRejected = try ValidationSQL.prepare(
            "INSERT OR IGNORE INTO temp.causeway_rejected VALUES (?, ?, ?, ?, ?, ?) RETURNING 1", on: connection)
        let addDefaulted = try ValidationSQL.prepare(
            "INSERT OR IGNORE INTO temp.causeway_defaulted VALUES (?, ?)", on: connection)
        self.policy = policy
        self.rules = rules.rules
        self.entities = entities
        self.storeUUID = storeUUID
        self.addRejected = addRejected
        self.addDefaulted = addDefaulted
    }

    /// One row with the rules that it breaks, at least one.
    mutating func record(_ findings: [Finding], number: Int, key: Int64, other: Int64 = 0) throws(EngineError) {
        guard let main = findings.first else { return }
        // A row is rejected once; the other rules that it breaks no longer matter.
        if policy == .reject, try !reject(rule: main.rule, number: number, key: key, other: other) { return }
        for finding in findings {
            counts[CountKey(rule: finding.rule, number: number), default: 0] += 1
            if first.count < ValidationOutcome.namedViolations {
                first.append(violation(finding.rule, number: number, key: key, other: other))
            }
            guard policy != .reject else { continue }
            if policy == .useDefault, let remedy = finding.remedy {
                try ValidationSQL.run(&addDefaulted, Int64(remedy), key)
                continue
            }
            fatalCount += 1
            if firstFatal.count < ValidationOutcome.namedViolations {
                firstFatal.append(violation(finding.rule, number: number, key: key, other: other))
            }
        }
    }

    /// A link without either end: there is no row to reject, so only the link is removed.
    mutating func recordStray(rule: Int, number: Int, key: Int64) throws(EngineError) {
        guard policy == .reject else {
            return try record([Finding(rule: rule)], number: number, key: key)
        }
        strayLinks += 1
    }

    /// Ends the round.
    /// - Returns: the places of the tables that lost rows in it.
    mutating func endRound() -> Set<Int> {
        defer { rejecting = [] }
        round += 1
        return rejecting
    }

    private mutating func reject(rule: Int, number: Int, key: Int64, other: Int64) throws(EngineError) -> Bool {
        let place = rules[rule].table
        try EngineError.writing("list of rejected rows") {
            try addRejected.bind(place, at: 1)
            try addRejected.bind(key, at: 2)
            try addRejected.bind(number, at: 3)
            try addRejected.bind(rule, at: 4)
            try addRejected.bind(other, at: 5)
            try addRejected.bind(round, at: 6)
        }
        defer { addRejected.reset() }
        var isNew = false
        while try ValidationSQL.next(&addRejected) { isNew = true }
        guard isNew else { return false }
        rejecting.insert(place)
        rejectedRows[entityName(number), default: 0] += 1
        return true
    }

    // MARK: - Words

    func entityName(_ number: Int) -> String {
        entities.indices.contains(number - 1) ? entities[number - 1] : "Z_ENT \(number)"
    }

    func violation(_ rule: Int, number: Int, key: Int64, other: Int64) -> RowViolation {
        let entity = entityName(number)
        let rule = rules[rule]
        return RowViolation(
            entity: entity, property: rule.property, key: key, code: rule.kind.rawValue,
            reason: rule.reason(other: other), uri: ObjectURI.of(key, entity, in: storeUUID))
    }

    /// In the order of rules, then of entities.
    func outcome(defaulted: Int) -> ValidationOutcome {
        var outcome = ValidationOutcome()
        let keys = counts.keys.sorted { ($0.rule, $0.number) < ($1.rule, $1.number) }
        outcome.counts = keys.map { key in
            let rule = rules[key.rule]
            return ValidationOutcome.Count(
                entity: entityName(key.number), property: rule.property, code: rule.kind.rawValue,
                reason: rule.reason(other: 0), count: counts[key] ?? 0)
        }
        outcome.first = first
        outcome.defaulted = defaulted
        outcome.rejectedRows = rejectedRows
        outcome.strayLinks = strayLinks
        return outcome
    }
}
