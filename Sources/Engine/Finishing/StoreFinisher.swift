import CausewayModel
import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// Everything after the rows: derived values, house rows, indexes, R-trees, triggers, objects of the app's own.
///
/// In two halves, so that handlers of a stage can work in between: `finishRows` leaves a store that can be searched and
/// changed, `finishSchema` adds what must not exist while rows change outside of Core Data. Triggers come last: they
/// call functions that exist only inside Core Data, so no statement may fire them.
struct StoreFinisher {
    let step: StepPlan
    /// Steps that run together with it: the first of them reads the source.
    let before: [StepPlan]
    let source: SourceStore
    let staging: StagingConnection
    let ledger: StepLedger
    let frameworkVersion: Int
    /// Entries of the app's own for the metadata.
    let metadata: [String: MetadataValue]
    /// Told the part of the indexes that is made.
    var advanced: (Double) -> Void = { _ in }

    /// Derived values, house rows, and the indexes that don't exist yet. Each is a station.
    func finishRows(besides made: Set<String>) throws(EngineError) {
        for (index, value) in step.derivedValues.enumerated() where value.source != .now {
            try ledger.once("derived value \(index)") { () throws(EngineError) in
                for sql in value.statements() { try staging.execute(sql) }
            }
        }
        try ledger.once("house rows") { () throws(EngineError) in
            try writePrimaryKeys()
            try writeMetadata()
        }
        for (index, statement) in step.indexStatements.enumerated()
        where !made.contains(statement.sql) && !step.methods.makes(index: statement.name) {
            try ledger.once("index \(index)") { () throws(EngineError) in try staging.execute(statement.sql) }
            KillPoint.reach(.indexMade)
            advanced(Double(index + 1) / Double(step.indexStatements.count))
        }
    }

    /// R-trees from the rows as they are now, triggers, objects of the app's own.
    func finishSchema() throws(EngineError) {
        let statements = step.statements
        for (index, statement) in statements.rTreeStatements.enumerated() {
            try ledger.once("R-tree \(index)") { () throws(EngineError) in
                try staging.execute(statement.sql)
                if let fill = statements.rTreeFills[statement.name] { try staging.execute(fill) }
            }
        }
        try ledger.once("triggers") { () throws(EngineError) in
            for statement in statements.triggerStatements { try staging.execute(statement.sql) }
            try carrySequences()
        }
        for (index, object) in step.appObjects.enumerated()
        where object.kind != .table && !(object.kind == .index && step.methods.makes(index: object.name)) {
            guard let sql = object.sql else { continue }
            try ledger.once("object \(index)") { () throws(EngineError) in try staging.execute(sql) }
        }
    }

    /// Z_PRIMARYKEY for the new model. Keys are never reused: Z_MAX is the source's, or the largest key where that is
    /// larger (InsideStoreFormat §2).
    private func writePrimaryKeys() throws(EngineError) {
        try EngineError.writing("Z_PRIMARYKEY") {
            var insert = try staging.connection.prepare("INSERT INTO Z_PRIMARYKEY VALUES (?, ?, ?, ?)")
            func write(_ number: Int64, _ name: String, _ parent: Int64, _ maximum: Int64) throws(SQLiteError) {
                try insert.bind(number, at: 1)
                try insert.bind(name, at: 2)
                try insert.bind(parent, at: 3)
                try insert.bind(maximum, at: 4)
                try insert.run()
            }
            for row in step.layout.primaryKeyRows {
                let maximum = row.parent == 0 ? try maximumKey(of: row.name) : 0
                try write(Int64(row.number), row.name, Int64(row.parent), maximum)
            }
            for row in source.schema.primaryKeys where row.number >= HistoryLayout.firstNumber {
                try write(row.number, row.name, row.parent, row.maximum)
            }
        }
    }

    /// The keys that AUTOINCREMENT tables of the app's own have used must not be used again.
    private func carrySequences() throws(EngineError) {
        guard source.schema.objects.contains(where: { $0.name == "sqlite_sequence" }) else { return }
        try EngineError.writing("sqlite_sequence") {
            var present = try staging.connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'")
            guard try present.step() else { return }
            var read = try source.connection.prepare("SELECT name, seq FROM sqlite_sequence")
            var write = try staging.connection.prepare("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?")
            var insert = try staging.connection.prepare(
                """
                INSERT INTO sqlite_sequence (name, seq) SELECT ?1, ?2 WHERE EXISTS \
                (SELECT 1 FROM sqlite_schema WHERE name = ?1) AND NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?1)
                """)
            while try read.step() {
                guard let name = try read.string(at: 0) else { continue }
                try write.bind(read.int64(at: 1), at: 1)
                try write.bind(name, at: 2)
                try write.run()
                try insert.bind(name, at: 1)
                try insert.bind(read.int64(at: 1), at: 2)
                try insert.run()
            }
        }
    }

    /// The source's largest keys count too, not only those of the carried rows: its Z_MAX may be too low, and fused
    /// steps must give the same result as single steps.
    private func maximumKey(of root: String) throws(SQLiteError) -> Int64 {
        guard let table = step.layout.tables.first(where: { $0.rootEntity == root }) else { return 0 }
        var maximum = max(0, try staging.connection.largestKey(of: table.name))
        let first = before.first ?? step
        for origin in step.keyOrigins(after: before)[root] ?? [] {
            guard let number = first.sourceNumbers[origin] else { continue }
            for row in source.schema.primaryKeys where row.number == Int64(number) {
                maximum = max(maximum, row.maximum)
            }
            if let table = first.source.tables.first(where: { $0.rootEntity == origin }) {
                maximum = max(maximum, try source.connection.largestKey(of: table.name))
            }
        }
        return maximum
    }

    private func writeMetadata() throws(EngineError) {
        let model = step.layout.model
        let hashes = VersionHashes(model)
        let identity = ModelIdentity(
            entityHashes: hashes.entities, digest: hashes.digest, checksum: hashes.checksum,
            versionIdentifiers: model.versionIdentifiers)
        do {
            try source.metadata.rewritten(for: identity, frameworkVersion: frameworkVersion).setting(metadata)
                .write(to: staging.connection)
            guard step.statements.houseStatements.contains(where: { $0.name == "Z_MODELCACHE" }) else { return }
            var insert = try staging.connection.prepare("INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)")
            try insert.bind(try ModelCacheWriter.cache(of: model), at: 1)
            try insert.run()
        } catch let error as SQLiteError {
            throw EngineError(writing: error, during: "Z_METADATA")
        } catch {
            if let cause = (error as? StoreFormatError)?.cause {
                throw EngineError(writing: cause, during: "Z_METADATA")
            }
            throw EngineError(.plan, "the new version's model can't be written into the store: \(error)")
        }
    }
}
