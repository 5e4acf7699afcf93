import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat

/// Compares a finished staging store with its source, through stock SQLite and not through the code that wrote it.
///
/// Counted: every table's rows, every entity's rows. Checked: the structure of every page and row, the metadata's hashes
/// against the model, the model cache against both.
struct Verification {
    let step: StepPlan
    let source: SourceStore
    let written: WrittenRows
    let frameworkVersion: Int

    func check(_ path: String) throws(EngineError) {
        var findings: [String] = []
        do {
            let result = try Connection(path: path, mode: .readOnly, hardening: .untrusted)
            findings += try structure(result)
            findings += try sourceCounts()
            if let stage = written.stage {
                findings += expectedBeforeHandlers(stage.before)
                findings += stage.findings(
                    step.layout,
                    found: try StoreCounts(step.layout) { sql throws(SQLiteError) in try result.prepare(sql) })
            } else {
                findings += try tableCounts(result)
                findings += try entityCounts(result)
            }
            findings += try identity(result)
            try result.close()
        } catch let error as SQLiteError {
            throw EngineError(reading: error, during: "verification of \(path)")
        } catch {
            throw EngineError(.verification, "verification of \(path): \(error)")
        }
        guard findings.isEmpty else {
            throw EngineError(
                .verification, "\(path): the new store doesn't verify; nothing was swapped", details: findings,
                remedy: "please report this with the plan (causeway plan --json); it holds no row content")
        }
    }

    private func structure(_ result: borrowing Connection) throws(SQLiteError) -> [String] {
        var statement = try result.prepare("PRAGMA quick_check(20)")
        var findings: [String] = []
        while try statement.step() { findings.append(try statement.string(at: 0) ?? "") }
        return findings == ["ok"] ? [] : findings
    }

    /// Rows in each destination table against what was read for it.
    private func tableCounts(_ result: borrowing Connection) throws(SQLiteError) -> [String] {
        var findings: [String] = []
        for (table, expected) in passCounts.sorted(by: { $0.key < $1.key }) {
            let found = try Self.count("SELECT count(*) FROM \(try SQLIdentifier(table))", in: result)
            if found != expected { findings.append("\(table): \(expected) rows were written, \(found) are there") }
        }
        return findings
    }

    /// Rows that passes have written, by table; join tables that policies write to as well aren't theirs alone.
    private var passCounts: [String: Int] {
        var result: [String: Int] = [:]
        for count in written.passes where !(written.hasObjects && count.pass.kind == .links) {
            result[count.pass.destinationTable, default: 0] += count.written
        }
        return result
    }

    /// What handlers found must be what was written.
    private func expectedBeforeHandlers(_ counts: StoreCounts) -> [String] {
        var findings: [String] = []
        for (table, expected) in passCounts.sorted(by: { $0.key < $1.key }) {
            guard let found = counts.tables[table], found != expected else { continue }
            findings.append("\(table): \(expected) rows were written, the handlers found \(found)")
        }
        for (entity, expected) in written.entities.sorted(by: { $0.key < $1.key }) {
            let found = step.layout.entityNumbers[entity].flatMap { counts.entities[$0] } ?? 0
            if found != expected {
                findings.append("\(entity): \(expected) rows were made, the handlers found \(found)")
            }
        }
        return findings
    }

    /// Rows of the source against what was read.
    private func sourceCounts() throws(SQLiteError) -> [String] {
        var findings: [String] = []
        for count in written.passes where count.pass.elsewhere.isEmpty {
            let read = try Self.count(count.pass.select.countSQL, in: source.connection)
            if read != count.written + count.dropped {
                findings.append(
                    "\(count.pass.title): \(read) rows in the source, \(count.written) written, \(count.dropped) dropped"
                )
            }
        }
        return findings
    }

    /// Rows of each entity in the source and in the result.
    private func entityCounts(_ result: borrowing Connection) throws(SQLiteError) -> [String] {
        let before = try Self.entityCounts(
            step.source.tables.map(\.name), in: source.connection)
        let after = try Self.entityCounts(step.layout.tables.map(\.name), in: result)
        var findings: [String] = []
        var expected: [String: Int] = written.entities
        for mapping in step.mapping.entityMappings where !written.hasObjects {
            guard let to = mapping.destination else { continue }
            expected[to, default: 0] += mapping.source.flatMap { step.sourceNumbers[$0] }.flatMap { before[$0] } ?? 0
        }
        for (entity, rows) in expected.sorted(by: { $0.key < $1.key }) {
            let found = step.layout.entityNumbers[entity].flatMap { after[$0] } ?? 0
            if rows != found { findings.append("\(entity): \(rows) rows in the source, \(found) in the result") }
        }
        let unknown = after.keys.filter { $0 < 1 || $0 > step.layout.entities.count }
        if !unknown.isEmpty {
            findings.append("rows of entities that the model doesn't have: Z_ENT \(unknown.sorted())")
        }
        return findings
    }

    private static func entityCounts(
        _ tables: [String], in connection: borrowing Connection
    ) throws(SQLiteError) -> [Int: Int] {
        var result: [Int: Int] = [:]
        for table in tables {
            var statement = try connection.prepare(
                "SELECT Z_ENT, count(*) FROM \(try SQLIdentifier(table)) GROUP BY Z_ENT")
            while try statement.step() {
                result[Int(statement.int64(at: 0)), default: 0] += Int(statement.int64(at: 1))
            }
        }
        return result
    }

    /// What the result says about its model must be the destination's, in every place.
    private func identity(_ result: borrowing Connection) throws -> [String] {
        let metadata = try StoreMetadata(reading: result)
        let hashes = VersionHashes(step.layout.model)
        var findings: [String] = []
        if metadata.entityHashes != hashes.entities { findings.append("Z_METADATA: the version hashes differ") }
        if let digest = metadata.hashesDigest, digest != hashes.digest {
            findings.append("Z_METADATA: the digest differs")
        }
        if let checksum = metadata.checksum, checksum != hashes.checksum {
            findings.append("Z_METADATA: the checksum differs")
        }
        if metadata.uuid != source.metadata.uuid { findings.append("Z_METADATA: the store's UUID differs") }
        guard step.statements.houseStatements.contains(where: { $0.name == "Z_MODELCACHE" }) else { return findings }
        var statement = try result.prepare("SELECT Z_CONTENT FROM Z_MODELCACHE")
        let content = try statement.step() ? statement.bytes(at: 0) : nil
        let cached = VersionHashes(try ModelReader.model(cache: content))
        if cached.entities != hashes.entities { findings.append("Z_MODELCACHE: its model has other hashes") }
        return findings
    }

    private static func count(_ sql: String, in connection: borrowing Connection) throws(SQLiteError) -> Int {
        var statement = try connection.prepare(sql)
        return try statement.step() ? Int(statement.int64(at: 0)) : 0
    }
}
