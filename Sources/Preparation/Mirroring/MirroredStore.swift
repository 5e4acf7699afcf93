import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// A store that CloudKit mirrors, and what the steps of its path leave out of the mirror's tables.
///
/// Counts are of the store's own rows: a later step's entities are followed back to the numbers that they have in it.
struct MirroredStore {
    private let store: SourceStore
    /// Of the step to come.
    private(set) var tables: MirroredTables
    private(set) var report: MirrorReport
    /// The entities that rows may name, by their numbers in the store.
    private let entities: [Int: String]
    /// Numbers before the step to come, by those in the store; what is gone isn't there.
    private var numbers: [Int: Int]
    /// Relationships that have ended.
    private var ended: Set<RowShape.TextPair> = []
    /// Rows by entity's number in the store, by table.
    private var rows: [String: [Int: Int]] = [:]
    /// Rows by entity and relationship, by table.
    private var links: [String: [RowShape.TextPair: Int]] = [:]
    /// Rows whose number names no entity, by table; told with the first step.
    private var strays: [String: Int] = [:]
    /// Rows that are still there of those that belong to others', by table.
    private var belonging: [String: Int] = [:]

    /// nil where CloudKit doesn't mirror the store.
    ///
    /// - Throws: `.sourceData` where that isn't allowed, `.plan` with every reason why the mirror can't follow.
    init?(
        _ request: MigrationRequest, _ store: SourceStore, _ binding: StoreBinding, _ runs: [StepChain.Run]
    ) throws(EngineError) {
        let objects = binding.objects(.cloudKit)
        guard !objects.isEmpty else { return nil }
        let path = store.location.path
        guard request.cloudKit == .carry else { throw Self.refusal(path) }
        let refusals = MirrorRefusals(request: request, runs: runs, schema: store.schema)
        let reasons = refusals.all
        guard reasons.isEmpty else {
            throw EngineError(
                .plan,
                "\(path): CloudKit mirrors this store; its schema in the cloud only grows, so this can't be done to it",
                details: reasons, remedy: refusals.remedy)
        }
        self.store = store
        let layout = binding.layout
        entities = Dictionary(layout.entityNumbers.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        numbers = Dictionary(layout.entityNumbers.values.map { ($0, $0) }, uniquingKeysWith: { first, _ in first })
        tables = MirroredTables(objects: objects)
        let counts = try EngineError.reading(path) { try CloudKitCounts(store.schema, in: store.connection) }
        guard let counts else { return nil }
        report = MirrorReport(counts: counts)
        try EngineError.reading(path) { try count(layout.model) }
    }

    /// Looks for steps; where one can't be inferred, a mapping model is no way out for a store that CloudKit mirrors.
    static func explaining<Value>(
        _ store: SourceStore, _ body: () throws(EngineError) -> Value
    ) throws(EngineError) -> Value {
        do throws(EngineError) {
            return try body()
        } catch {
            guard error.kind == .plan, !CloudKitTables.names(in: store.schema).isEmpty else { throw error }
            var error = error
            error.details.append(
                """
                CloudKit mirrors this store: steps must be inferred, without a mapping model, and only add or remove; what \
                else speaks against these is told once they can be inferred
                """)
            error.remedy = MirrorRefusals.remedy
            throw error
        }
    }

    private static func refusal(_ path: String) -> EngineError {
        EngineError(
            .sourceData,
            "\(path): CloudKit mirrors this store: its tables ANSCK… know every object by entity number and key",
            details: [
                """
                --cloudkit carry migrates it by inferred steps that only add or remove: every key stays, these tables, \
                their rows of Z_PRIMARYKEY and the history are carried whole, entity numbers in them follow; rows about \
                removed entities and relationships are left out, counted and listed as lost; plan counts the objects that \
                wait for upload or for deletion in the cloud; renames, type changes, mapping models and stages are \
                refused with the reason, since a CloudKit schema only grows
                """
            ],
            remedy: """
                look at plan --cloudkit carry first, and keep the backup: no real store has confirmed the result; or let the \
                application migrate the store
                """)
    }

    // MARK: - Counting

    private mutating func count(_ model: ManagedObjectModel) throws(SQLiteError) {
        var known: Set<RowShape.TextPair> = []
        for name in model.entities.keys {
            for relationship in model.lineage(of: name).flatMap(\.relationships) {
                known.insert(RowShape.TextPair(name, relationship.name))
            }
        }
        for table in mirrored {
            let name = table.table.name
            if let column = table.entityColumns.first { try countEntities(name, column) }
            if let columns = table.relationshipColumns {
                try countLinks(name, columns.entity, columns.relationship, known)
            }
            if !table.owners.isEmpty {
                belonging[name] = try store.connection.count("SELECT count(*) FROM \(try SQLIdentifier(name))")
            }
        }
        tables.numbers = rows.mapValues { Set($0.keys) }
        tables.strayed = Set(strays.keys)
        tables.relationships = links.mapValues { Set($0.keys) }
        // Changes that the mirror may not have sent yet: they go with their entity, as in every store.
        if let changes { try countEntities(changes, "ZENTITY") }
    }

    /// The history's table whose rows name entities.
    private var changes: String? {
        store.schema.history == nil ? nil : store.schema.table(HistoryLayout.Entity.change.table)?.name
    }

    /// In the order of their names.
    private var mirrored: [CloudKitTable] {
        tables.objects.filter { $0.kind == .table }.map(\.name).sorted().compactMap { store.schema.table($0) }
            .map { CloudKitTable($0) }
    }

    private mutating func countEntities(_ table: String, _ column: String) throws(SQLiteError) {
        var statement = try store.connection.prepare(
            "SELECT \(try SQLIdentifier(column)), count(*) FROM \(try SQLIdentifier(table)) GROUP BY 1")
        rows[table] = [:]
        while try statement.step() {
            let found = Int(clamping: statement.int64(at: 1))
            let number = statement.type(at: 0) == .integer ? Int(clamping: statement.int64(at: 0)) : 0
            if entities[number] == nil {
                strays[table, default: 0] += found
            } else {
                rows[table]?[number, default: 0] += found
            }
        }
    }

    private mutating func countLinks(
        _ table: String, _ entity: String, _ relationship: String, _ known: Set<RowShape.TextPair>
    ) throws(SQLiteError) {
        var statement = try store.connection.prepare(
            """
            SELECT \(try SQLIdentifier(entity)), \(try SQLIdentifier(relationship)), count(*) \
            FROM \(try SQLIdentifier(table)) GROUP BY 1, 2
            """)
        links[table] = [:]
        while try statement.step() {
            guard let first = try statement.string(at: 0), let second = try statement.string(at: 1) else { continue }
            let pair = RowShape.TextPair(first, second)
            if known.contains(pair) { links[table]?[pair] = Int(clamping: statement.int64(at: 2)) }
        }
    }

    // MARK: - Steps

    /// What the user should know before the run.
    var warnings: [String] {
        let counts = report.counts
        var result = [
            """
            CloudKit mirrors this store: no real one has confirmed the result yet, so keep the backup until the app has \
            opened the new store and synced
            """
        ]
        if counts.waitingForUpload + counts.waitingForDeletion > 0 {
            result.append(
                """
                \(counts.waitingForUpload) of \(counts.objects) mirrored objects wait for upload, \
                \(counts.waitingForDeletion) for deletion in the cloud: let the app sync first if you can
                """)
        }
        return result
    }

    /// Notes what a step leaves out of the mirror's tables, and goes on to the next.
    ///
    /// - Returns: a loss for each kind of row.
    /// - Throws: where something of the mirror isn't carried, or rows can't be counted.
    mutating func losses(of step: StepPlan) throws(EngineError) -> [Loss] {
        let names = Set(tables.objects.map(\.name))
        if let lost = step.lostObjects.first(where: { names.contains($0.object.name) }) {
            throw EngineError(
                .sourceData,
                """
                \(store.location.path): the \(lost.object.kind.rawValue) \(lost.object.name) of CloudKit's mirror can't be \
                carried: \(lost.reason)
                """, remedy: "let the application migrate the store")
        }
        let before = report.leftOut.count
        note(step)
        let path = store.location.path
        try EngineError.reading(path) { try noteBelonging(step) }
        tables = tables.after(step)
        return report.leftOut[before...].map(\.loss)
    }

    /// Rows about entities and relationships that go.
    private mutating func note(_ step: StepPlan) {
        let renumbered = step.renumbering
        let gone = numbers.filter { renumbered[$0.value] == nil }.keys.sorted()
        let ending = step.mapping.endedRelationships(of: step.source.model).subtracting(ended)
        for table in [changes].compactMap(\.self) + mirrored.map(\.table.name) {
            if let count = strays.removeValue(forKey: table) { add(step, table, count, .unknownEntity) }
            for number in gone {
                if let count = rows[table]?[number] { add(step, table, count, .entity, entities[number]) }
            }
            for (pair, count) in (links[table] ?? [:]).sorted(by: { $0.key.name < $1.key.name })
            where ending.contains(pair) {
                add(step, table, count, .relationship, pair.name)
            }
        }
        ended.formUnion(ending)
        numbers = numbers.compactMapValues { renumbered[$0] }
    }

    /// Rows that belong to rows which go.
    private mutating func noteBelonging(_ step: StepPlan) throws(SQLiteError) {
        for table in mirrored {
            let name = table.table.name
            guard let before = belonging[name] else { continue }
            var shape = RowShape(table: try SQLIdentifier(name))
            for owner in table.owners {
                guard let other = store.schema.table(owner.table) else { continue }
                let conditions = try conditions(on: CloudKitTable(other))
                guard !conditions.isEmpty else { continue }
                shape.conditions.append(
                    .targetMeets(
                        try SQLIdentifier(owner.column), table: try SQLIdentifier(other.name), conditions))
            }
            guard !shape.conditions.isEmpty else { continue }
            let now = try store.connection.count(shape.countSQL)
            if now < before { add(step, name, before - now, .owner) }
            belonging[name] = now
        }
    }

    /// What the store's rows that are still carried have in common.
    private func conditions(on table: CloudKitTable) throws(SQLiteError) -> [RowShape.Condition] {
        var result: [RowShape.Condition] = []
        if let column = table.entityColumns.first {
            result.append(.oneOf(try SQLIdentifier(column), numbers.keys.sorted()))
        }
        let gone = ended.filter { links[table.table.name]?[$0] != nil }
        if let columns = table.relationshipColumns, !gone.isEmpty {
            result.append(
                .isNone(
                    try SQLIdentifier(columns.entity), try SQLIdentifier(columns.relationship),
                    of: gone.sorted { $0.name < $1.name }))
        }
        return result
    }

    private mutating func add(
        _ step: StepPlan, _ table: String, _ rows: Int, _ reason: MirrorReport.LeftOut.Reason, _ subject: String? = nil
    ) {
        report.leftOut.append(
            MirrorReport.LeftOut(
                versions: step.versions, table: table, rows: rows, reason: reason, subject: subject))
    }
}

extension RowShape.TextPair {
    /// `Entity.relationship`
    fileprivate var name: String { "\(first).\(second)" }
}
