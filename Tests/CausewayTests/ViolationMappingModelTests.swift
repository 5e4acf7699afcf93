import Causeway
import CausewayEngine
import Foundation
import Testing

/// `--on-violation` from end to end, on a step with a mapping model.
@Suite(.timeLimit(.minutes(60)))
struct ViolationMappingModelTests {
    /// Sets ranks over 100 from person 34 on; removes the name where 13 divides the key.
    final class BreakingPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
            let made = try manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance])
            if sInstance.objectID.key % 13 == 0, mapping.userInfo["names"] == .boolean(true) {
                try made.first?.set("name", to: Value.null)
            }
        }
    }

    private static func code(names: Bool = true) -> MigrationCode {
        Office.code(BreakingPolicy.self) {
            Compute("rank", "$source.score / 3.0 - 10")
            UserInfo("names", .boolean(names))
        }
    }

    /// Migrates in place through the public interface.
    private func migrate(
        _ office: Office, _ code: MigrationCode, to target: String = "v2", _ choice: OnViolation
    ) async throws -> MigrationSummary {
        try await migrator(office, code, to: target, choice).migrate()
    }

    private func migrator(
        _ office: Office, _ code: MigrationCode, to target: String = "v2", _ choice: OnViolation
    ) -> Migrator {
        var options = MigrationOptions()
        options.target = target
        options.onViolation = choice
        if choice == .reject { options.rejects = office.folder.path("rejects.jsonl") }
        return Migrator(store: office.store, models: office.models, options: options, code: code)
    }

    private func error(
        _ office: Office, _ code: MigrationCode, to target: String = "v2", _ choice: OnViolation
    ) async throws -> MigrationError {
        let (before, rows) = (try office.folder.snapshot(), try Office.dump(office.store))
        let error = await #expect(throws: MigrationError.self) {
            try await migrate(office, code, to: target, choice)
        }
        let after = try office.folder.snapshot()
        // Taking over a WAL store checkpoints its -wal, so the content is compared instead of the bytes.
        let own = { (path: String) in !path.hasPrefix("Store.sqlite") || path == "Store.sqlite" }
        #expect(after.keys.filter(own).sorted() == before.keys.filter(own).sorted())
        for path in before.keys where !path.hasPrefix("Store.sqlite") { #expect(after[path] == before[path]) }
        #expect(try Office.dump(office.store) == rows)
        return try #require(error)
    }

    private func expectDone(_ office: Office, _ code: MigrationCode, _ choice: OnViolation) throws {
        try Office.expectSound(office.store)
        let again = try migrator(office, code, choice).plan()
        #expect(again.isNothingToDo)
        #expect(again.sourceVersion == "v2")
    }

    @Test("stop lists the rows by entity, property and URI, and leaves the store unchanged")
    func stop() async throws {
        let office = try Office()
        let error = try await error(office, Self.code(), .stop)
        #expect(error.code == .sourceData)
        #expect(!error.storeIsNew)
        let uuid = try #require(try StoreRows.texts(office.store, "SELECT Z_UUID FROM Z_METADATA").first)
        // Ranks under 0 for persons 1 and 2, over 100 from 34 on; no names for 13, 26 and 39.
        #expect(error.message.contains("12 violations"), "\(error)")
        #expect(error.details.contains { $0.hasPrefix("Person.rank: x-coredata://\(uuid)/Person/p1: ") }, "\(error)")
        #expect(error.details.contains { $0.hasPrefix("Person.rank: x-coredata://\(uuid)/Person/p40: ") }, "\(error)")
        #expect(error.details.contains { $0.hasPrefix("Person.name: x-coredata://\(uuid)/Person/p13: ") }, "\(error)")
        #expect(!"\(error)".contains("secret"))
        #expect(error.remedy.contains("--on-violation"))
    }

    @Test("default replaces values whose attribute has a default, counts them, and leaves the rest alone")
    func useDefault() async throws {
        let office = try Office()
        let code = Self.code(names: false)
        let summary = try await migrate(office, code, .useDefault)
        #expect(summary.violations == 9)
        #expect(summary.defaultedValues == 9)
        #expect(summary.rejectedRows == 0)
        #expect(summary.rows == 51)
        #expect(
            try Office.people(office.store, "Z_PK, CAST(ZRANK * 1000 AS INTEGER)")
                == (1...40).map { key in
                    let rank = Double(key * 10) / 3 - 10
                    return "\(key)|\(rank < 0 || rank > 100 ? 1_000 : Int(rank * 1_000))"
                })
        try expectDone(office, code, .useDefault)
    }

    @Test("default stops where the attribute has no default")
    func noDefault() async throws {
        let office = try Office()
        let error = try await error(office, Self.code(), .useDefault)
        #expect(error.details.count == 3, "\(error)")
        #expect(error.details.allSatisfy { $0.hasPrefix("Person.name: ") }, "\(error)")
    }

    private struct Reject: Decodable {
        var uri: String
        var entity: String
        var key: Int
        var property: String
        var code: Int
        var reason: String
    }

    @Test("reject leaves out rows and links to them, and writes each row to the rejects file")
    func reject() async throws {
        let office = try Office()
        let summary = try await migrate(office, Self.code(), .reject)
        let rejected = (1...40).filter { $0 < 3 || $0 > 33 || $0 % 13 == 0 }
        #expect(summary.rejectedRows == rejected.count)
        #expect(summary.rows == 51 - rejected.count)
        let text = try String(contentsOfFile: office.folder.path("rejects.jsonl"), encoding: .utf8)
        let lines = try text.split(separator: "\n").map { try JSONDecoder().decode(Reject.self, from: Data($0.utf8)) }
        #expect(lines.map(\.key).sorted() == rejected)
        #expect(
            lines.allSatisfy { $0.entity == "Person" && $0.uri.hasSuffix("/Person/p\($0.key)") && !$0.reason.isEmpty })
        #expect(lines.filter { $0.property == "name" }.map(\.key).sorted().contains(13))
        #expect(lines.filter { $0.property == "rank" }.map(\.key).sorted().contains(1))
        let kept = (1...40).filter { !rejected.contains($0) }
        #expect(
            try Office.people(office.store, "Z_PK, ZBOSS")
                == kept.map { "\($0)|\(kept.contains($0 / 2) ? "\($0 / 2)" : "NULL")" })
        #expect(try Office.tags(office.store).allSatisfy { kept.contains(Int($0.split(separator: "|")[0]) ?? 0) })
        #expect(try StoreRows.texts(office.store, "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Person'") == ["40"])
        try expectDone(office, Self.code(), .reject)
    }

    /// Fails in a later step.
    final class FailingPolicy: EntityMigrationPolicy {
        override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
            throw PolicyError.nothingMade("in the next step")
        }
    }

    @Test("the rejects file is removed where a later step fails, and an existing one is kept")
    func rejectThenFail() async throws {
        let office = try Office()
        var code = Self.code()
        code.add(
            SwiftMappingModel(from: "v2", to: "v3") {
                TransformEntity("Person", policy: FailingPolicy.self)
                TransformEntity("Team")
                TransformEntity("Tag")
                TransformEntity("City")
                TransformEntity("Note")
            })
        let failed = try await error(office, code, to: "v3", .reject)
        #expect(failed.message.contains("v2 → v3"), "\(failed)")
        #expect(!FileManager.default.fileExists(atPath: office.folder.path("rejects.jsonl")))
        try Data("mine".utf8).write(to: URL(filePath: office.folder.path("rejects.jsonl")))
        let refused = try await error(office, Self.code(), .reject)
        #expect(refused.code == .cannotCreate)
        #expect(try String(contentsOfFile: office.folder.path("rejects.jsonl"), encoding: .utf8) == "mine")
    }

    @Test("reject without a rejects file is a usage error")
    func noFile() async throws {
        let office = try Office()
        var options = MigrationOptions()
        options.target = "v2"
        options.onViolation = .reject
        let migrator = Migrator(store: office.store, models: office.models, options: options, code: Self.code())
        let error = await #expect(throws: MigrationError.self) { try await migrator.migrate() }
        #expect(error?.code == .usage)
    }
}
