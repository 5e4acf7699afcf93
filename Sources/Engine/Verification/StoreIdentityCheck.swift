import CausewayModel
import CausewayPlanning
import CausewayPreparation
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// Compares everything that the new store says about itself with the destination: schema, metadata, model cache,
/// Z_PRIMARYKEY.
struct StoreIdentityCheck {
    let step: StepPlan
    let uuid: String
    /// Of the source: those of Core Data's own entities are carried.
    let sourceKeys: [StoreSchema.PrimaryKeyRow]
    /// Entries of the app's own that the metadata must have.
    let entries: [String: MetadataValue]

    func findings(_ result: borrowing Connection) throws -> [String] {
        try schema(result) + metadata(result) + primaryKeys(result)
    }

    /// Every object that was planned is there, in the planned text.
    private func schema(_ result: borrowing Connection) throws -> [String] {
        var found: [String: String] = [:]
        var statement = try result.prepare("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
        while try statement.step() { found[try statement.string(at: 0) ?? ""] = try statement.string(at: 1) ?? "" }
        let history = step.hasHistory ? step.statements.historyStatements : []
        let lost = step.appObjects.filter { $0.sql != nil && found[$0.name] == nil }
        let missing = lost.map { "\($0.name) is missing in the schema" }
        return missing
            + (step.statements.inOrder + history).compactMap { (planned) -> String? in
                guard let sql = found[planned.name] else { return "\(planned.name) is missing in the schema" }
                return sql == planned.sql ? nil : "\(planned.name) isn't what was planned"
            }
    }

    private func metadata(_ result: borrowing Connection) throws -> [String] {
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
        if metadata.uuid != uuid { findings.append("Z_METADATA: the store's UUID differs") }
        findings += metadata.keys(lackedOf: entries).map { "Z_METADATA: \($0) isn't what was to be set" }
        guard step.statements.houseStatements.contains(where: { $0.name == "Z_MODELCACHE" }) else { return findings }
        var statement = try result.prepare("SELECT Z_CONTENT FROM Z_MODELCACHE")
        let content = try statement.step() ? statement.bytes(at: 0) : nil
        let cached = VersionHashes(try ModelReader.model(cache: content))
        if cached.entities != hashes.entities { findings.append("Z_MODELCACHE: its model has other hashes") }
        return findings
    }

    /// Numbers, names and parents are the layout's, and no key above Z_MAX is taken: Core Data gives Z_MAX + 1 next.
    private func primaryKeys(_ result: borrowing Connection) throws -> [String] {
        let schema = try StoreSchema(reading: result)
        let rows = Dictionary(schema.primaryKeys.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
        var findings: [String] = []
        for planned in step.layout.primaryKeyRows {
            guard let row = rows[Int64(planned.number)], row.name == planned.name, row.parent == Int64(planned.parent)
            else {
                findings.append("Z_PRIMARYKEY: the row of \(planned.name) (\(planned.number)) isn't the model's")
                continue
            }
            guard planned.parent == 0, let table = step.layout.table(of: planned.name) else { continue }
            let largest = try result.largestKey(of: table.name)
            if row.maximum < largest {
                findings.append("Z_PRIMARYKEY: Z_MAX of \(planned.name) is below the key p\(largest)")
            }
        }
        // History's and CloudKit's.
        for carried in sourceKeys where carried.number >= HistoryLayout.firstNumber && rows[carried.number] != carried {
            findings.append("Z_PRIMARYKEY: the row of \(carried.name) (\(carried.number)) isn't the source's")
        }
        return findings
    }
}
