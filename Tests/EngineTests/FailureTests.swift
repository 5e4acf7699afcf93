import CausewayEngine
import CausewayPreparation
import CausewaySQLite
import CausewayStores
import Foundation
import Testing

/// Every failure leaves the store as it was.
@Suite("Failures leave every byte untouched", .timeLimit(.minutes(60)))
struct FailureTests {
    static let from = model(entity("Thing", attribute("text")))
    static let to = model(entity("Thing", attribute("text"), attribute("more")))
    static let rows = "INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZTEXT) VALUES (1, 1, 1, 'a'), (2, 1, 1, 'a');"

    struct Damage: Sendable, CustomTestStringConvertible {
        let name: String
        let kind: EngineError.Kind
        let message: String
        let make: @Sendable (_ path: String) throws -> Void
        var testDescription: String { name }
    }

    static let damages = [
        Damage(name: "an empty file", kind: .sourceData, message: "empty") { path in
            try Data().write(to: URL(filePath: path))
        },
        Damage(name: "no database", kind: .sourceData, message: "not an SQLite database") { path in
            try Data(repeating: 0x41, count: 5000).write(to: URL(filePath: path))
        },
        Damage(name: "too short", kind: .sourceData, message: "too short") { path in
            try truncate(path) { _ in 50 }
        },
        Damage(name: "a truncated file", kind: .sourceData, message: "truncated") { path in
            try truncate(path) { $0 - 4096 }
        },
        Damage(name: "a file cut inside a page", kind: .sourceData, message: "truncated") { path in
            try truncate(path) { $0 - 7 }
        },
        Damage(name: "a view in a table's place", kind: .sourceData, message: "ZTHING") { path in
            try Scenario.execute(
                "ALTER TABLE ZTHING RENAME TO x; CREATE VIEW ZTHING AS SELECT * FROM x", path)
        },
        Damage(name: "a missing table", kind: .sourceData, message: "ZTHING") { path in
            try Scenario.execute("DROP TABLE ZTHING", path)
        },
        Damage(name: "a missing column", kind: .sourceData, message: "ZTEXT") { path in
            try Scenario.execute("ALTER TABLE ZTHING DROP COLUMN ZTEXT", path)
        },
        Damage(name: "no metadata", kind: .sourceData, message: "Z_METADATA") { path in
            try Scenario.execute("DROP TABLE Z_METADATA", path)
        },
        Damage(name: "empty metadata", kind: .sourceData, message: "Z_METADATA") { path in
            try Scenario.execute("DELETE FROM Z_METADATA", path)
        },
        Damage(name: "a row of an unknown entity", kind: .sourceData, message: "in 1 row (p2)") { path in
            try Scenario.execute("UPDATE ZTHING SET Z_ENT = 9 WHERE Z_PK = 2", path)
        },
        Damage(name: "a row without entity", kind: .sourceData, message: "in 1 row (p2)") { path in
            try Scenario.execute("UPDATE ZTHING SET Z_ENT = NULL WHERE Z_PK = 2", path)
        },
        Damage(name: "a damaged page", kind: .sourceData, message: "damaged") { path in
            let root = try Database.rows("SELECT rootpage FROM sqlite_schema WHERE name = 'ZTHING'", in: path)
            let offset = ((Int(root[0]) ?? 2) - 1) * 4096
            let file = try FileHandle(forUpdating: URL(filePath: path))
            try file.seek(toOffset: UInt64(offset))
            try file.write(contentsOf: Data(repeating: 0x55, count: 100))
            try file.close()
        },
    ]

    private static func truncate(_ path: String, to size: (UInt64) -> UInt64) throws {
        let file = try FileHandle(forUpdating: URL(filePath: path))
        try file.truncate(atOffset: size(try file.seekToEnd()))
        try file.close()
    }

    @Test("a damaged store is refused with the reason", arguments: damages)
    func damaged(_ damage: Damage) throws {
        let scenario = try Scenario(Self.from, Self.to, rows: Self.rows)
        try damage.make(scenario.store)
        let before = try snapshot(scenario.folder)
        let error = try failure { try scenario.migrate() }
        #expect(error.kind == damage.kind)
        #expect(error.description.contains(damage.message), "\(error)")
        #expect(error.state == .untouched)
        #expect(try snapshot(scenario.folder) == before)
    }

    @Test("a folder, a missing file and a missing folder are refused")
    func notAStore() throws {
        let scenario = try Scenario(Self.from, Self.to)
        for path in [scenario.folder, scenario.store + "x", scenario.folder + "/none/Store.sqlite"] {
            var request = scenario.request(to: "V2")
            request.store = path
            let error = try failure { _ = try Migration(request).run() }
            #expect(error.kind == .missing, "\(path): \(error)")
        }
    }

    @Test("for a version that neither the models nor the cache know, the nearest version is named")
    func unknownVersion() throws {
        let scenario = try Scenario(Self.from, Self.to, rows: Self.rows)
        let other = model(entity("Thing", attribute("text"), attribute("other")), entity("Alien"))
        try FileManager.default.removeItem(atPath: scenario.store)
        try Scenario.makeStore(at: scenario.store, model: other)
        try Scenario.execute("DELETE FROM Z_MODELCACHE", scenario.store)
        let before = try snapshot(scenario.folder)
        let error = try failure { try scenario.migrate() }
        #expect(error.kind == .plan)
        #expect(error.details.contains { $0.contains("nearest is") })
        #expect(error.details.contains { $0.contains("Alien") })
        #expect(try snapshot(scenario.folder) == before)
    }

    @Test("a store of one configuration is refused by its name, not widened to the whole model")
    func configuration() throws {
        let cloud = "<configuration name=\"Cloud\"><memberEntity name=\"Thing\"/></configuration>"
        let scenario = try Scenario(
            model(entity("Thing", attribute("text")), entity("Other"), cloud),
            model(entity("Thing", attribute("text"), attribute("more")), entity("Other"), cloud))
        try FileManager.default.removeItem(atPath: scenario.store)
        try Scenario.makeStore(at: scenario.store, model: model(entity("Thing", attribute("text"))))
        let error = try failure { try scenario.migrate() }
        #expect(error.kind == .plan)
        #expect(error.message.contains("only the entities of the configuration “Cloud” of \"V1\""))
    }

    @Test("a version that only the store's own cache knows is migrated in one step")
    func versionFromCache() throws {
        let scenario = try Scenario(Self.from, Self.to)
        let other = model(entity("Thing", attribute("text"), attribute("other")))
        try FileManager.default.removeItem(atPath: scenario.store)
        try Scenario.makeStore(
            at: scenario.store, model: other,
            rows: "INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZTEXT, ZOTHER) VALUES (1, 1, 1, 'a', 'o');")
        let outcome = try scenario.migrate()
        #expect(try scenario.rows("SELECT Z_PK, ZTEXT, ZMORE FROM ZTHING") == ["1|'a'|NULL"])
        #expect(outcome.warnings.contains { $0.contains("cache") })
    }

    @Test("backwards and unknown targets are refused")
    func path() throws {
        let scenario = try Scenario(Self.from, Self.to)
        try scenario.migrate()
        let before = try snapshot(scenario.folder)
        #expect(try failure { _ = try Migration(scenario.request(to: "V1")).run() }.kind == .plan)
        #expect(try failure { _ = try Migration(scenario.request(to: "V9")).run() }.kind == .plan)
        #expect(try snapshot(scenario.folder) == before)
    }

    @Test("a new mandatory attribute without default stops where there are rows, and passes where there are none")
    func mandatoryWithoutDefault() throws {
        let to = model(entity("Thing", attribute("text"), attribute("must", optional: false)))
        let full = try Scenario(Self.from, to, rows: Self.rows)
        let before = try snapshot(full.folder)
        let error = try failure { try full.migrate() }
        #expect(error.kind == .sourceData)
        #expect(error.details.contains { $0.contains("V2: Thing.must") && $0.contains("p1, p2") })
        #expect(try snapshot(full.folder) == before)
        try Scenario(Self.from, to).migrate()
    }

    @Test("an attribute that becomes mandatory without default stops at NULLs and names their rows")
    func tightened() throws {
        let to = model(entity("Thing", attribute("text", optional: false)))
        let full = try Scenario(
            Self.from, to,
            rows: Self.rows + "INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT) VALUES (7, 1, 1);")
        let error = try failure { try full.migrate() }
        #expect(error.kind == .sourceData)
        #expect(error.details.contains { $0.contains("Thing.text") && $0.contains("p7") && !$0.contains("p1") })
        try Scenario(Self.from, to, rows: Self.rows).migrate()
    }

    @Test("rules of a version in between apply in fused steps as in single ones", arguments: [true, false])
    func obligationInBetween(fuses: Bool) throws {
        let tight = model(entity("Thing", attribute("text", optional: false)))
        let scenario = try Scenario(
            Self.from, tight, model(entity("Thing", attribute("title", was: "text"))),
            rows: "INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT) VALUES (7, 1, 1);")
        let error = try failure { try scenario.migrate(fuses: fuses) }
        #expect(error.kind == .sourceData)
        #expect(error.details.contains { $0.contains("V2: Thing.text") && $0.contains("p7") })
    }

    @Test("duplicate rows stop a new unique constraint")
    func duplicates() throws {
        let to = model(
            entity(
                "Thing", attribute("text"),
                "<uniquenessConstraints><uniquenessConstraint><constraint value=\"text\"/></uniquenessConstraint>"
                    + "</uniquenessConstraints>"))
        let scenario = try Scenario(Self.from, to, rows: Self.rows)
        let before = try snapshot(scenario.folder)
        let error = try failure { try scenario.migrate() }
        #expect(error.kind == .sourceData)
        #expect(try snapshot(scenario.folder) == before)
    }

    @Test("an invalid or unreadable model isn't reported as a bad store")
    func models() throws {
        let scenario = try Scenario(Self.from, Self.to)
        try Data("<model".utf8).write(to: URL(filePath: scenario.models + "/V2.xcdatamodel/contents"))
        #expect(try failure { try scenario.migrate() }.kind == .plan)
        var request = scenario.request()
        request.models = [scenario.folder + "/none.momd"]
        #expect(try failure { _ = try Migration(request).run() }.kind == .missing)
    }

    @Test("a store that is mirrored to CloudKit is refused")
    func cloudKit() throws {
        let scenario = try Scenario(
            Self.from, Self.to, rows: "CREATE TABLE ANSCKRECORDMETADATA (Z_PK INTEGER PRIMARY KEY, ZENTITYID INTEGER);")
        let error = try failure { try scenario.migrate() }
        #expect(error.kind == .sourceData)
        #expect(error.message.contains("CloudKit"))
    }
}
