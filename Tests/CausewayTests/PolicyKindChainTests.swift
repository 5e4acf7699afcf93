import Causeway
import CausewayEngine
import CausewayPreparation
import CausewaySQLite
import Foundation
import Testing

/// Steps by policies between inferred ones, in place and into a new file.
@Suite(.timeLimit(.minutes(60)))
struct PolicyKindChainTests {
    typealias Work = PoliciesExample.Work

    /// City becomes an object.
    final class CityPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
            let made = try manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance])
            guard let person = made.first, let city = try sInstance.string("city") else { return }
            try person.set("home", to: manager.findOrInsert("City", where: "name", is: .string(city)).object)
            let note = try manager.destinationContext.insert("Note")
            try note.set("text", to: "lives in \(city)")
            try note.set("person", to: person)
        }
    }

    private func expectLast(_ store: String, people: Int = 40) throws {
        let expected = (1...people).map { key in
            let nick = key % 3 == 0 ? "NULL" : "nick\(key)"
            let home = key % 4 == 0 ? "NULL" : "\(key % 4)"
            let boss = key == 1 ? "NULL" : "\(key / 2)"
            return "\(key)|secret\(key)|\(nick)|\(key * 10)|\(home)|\(boss)|\(key % 5 + 1)|1"
        }
        #expect(try Office.people(store, "Z_PK, ZNAME, ZNICK, ZSCORE, ZHOME, ZBOSS, ZTEAM, ZISACTIVE") == expected)
        #expect(try Office.rows(store, "Z_PK, ZNAME", "FROM ZCITY ORDER BY Z_PK") == ["1|city1", "2|city2", "3|city3"])
        #expect(
            try Office.rows(store, "ZPERSON, ZBODY", "FROM ZNOTE ORDER BY Z_PK")
                == (1...people).filter { $0 % 4 != 0 }.map { "\($0)|lives in city\($0 % 4)" })
        var tags: [String] = []
        for key in 1...people {
            for tag in Set([key % 6 + 1, key * 3 % 6 + 1]).sorted() { tags.append("\(key)|\(tag)") }
        }
        #expect(try Office.tags(store) == tags)
        try Office.expectSound(store)
    }

    @Test("inferred, by policy, inferred: one run gives what three runs give", arguments: Work.every)
    func chain(_ work: Work) throws {
        let office = try Office(at: "v0")
        let code = Office.code(CityPolicy.self)
        let result = try office.migrate(code, to: "v3", as: "result", work)
        try expectLast(result)
        var store = office.store
        for target in ["v1", "v2", "v3"] {
            var request = office.request(code, to: target, as: target, work)
            request.store = store
            _ = try Migration(request).run()
            store = office.folder.path(target)
        }
        try Office.expectSame(result, store)
    }

    @Test("in place, with rows that are still in the -wal")
    func inPlace() async throws {
        let office = try Office(at: "v0", people: 39)
        // Copied while a connection holds the -wal open: the last row is only there.
        let store = office.folder.path("Wal.sqlite")
        do {
            let connection = try Connection(path: office.store, mode: .readWrite, hardening: .own)
            try connection.setJournalMode(.wal)
            try connection.execute(
                """
                PRAGMA wal_autocheckpoint = 0;
                INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZNAME, ZALIAS, ZSCORE, ZCITY, ZBOSS, ZTEAM)
                VALUES (40, 1, 1, 'secret40', 'nick40', 400, NULL, 20, 1);
                INSERT INTO Z_1TAGS (Z_1PERSONS, Z_2TAGS) VALUES (40, 5), (40, 1);
                UPDATE Z_PRIMARYKEY SET Z_MAX = 40 WHERE Z_NAME = 'Person';
                """)
            _ = try office.folder.copyStore(office.store, as: "Wal.sqlite")
        }
        let wal = try Data(contentsOf: URL(filePath: store + "-wal"))
        #expect(!wal.isEmpty)
        var options = MigrationOptions()
        options.target = "v3"
        let migrator = Migrator(
            store: store, models: office.models, options: options, code: Office.code(CityPolicy.self))
        let plan = try migrator.plan()
        #expect(plan.path == ["v0", "v1", "v2", "v3"])
        let summary = try await migrator.migrate()
        #expect(summary.backup != nil)
        #expect(summary.sourceVersion == "v0" && summary.targetVersion == "v3")
        try expectLast(store)
        #expect(try migrator.plan().isNothingToDo)
        let again = try await migrator.migrate()
        #expect(again.wasCurrent)
        // The backup is the complete original.
        let backup = try #require(summary.backup)
        #expect(try StoreRows.texts(backup, "SELECT count(*) FROM ZPERSON WHERE ZALIAS = 'nick40'") == ["1"])
    }

    @Test("into a new file; the source's bytes don't change")
    func output() async throws {
        let office = try Office(at: "v0")
        let before = try Data(contentsOf: URL(filePath: office.store))
        var options = MigrationOptions()
        options.target = "v3"
        options.output = office.folder.path("New.sqlite")
        options.fusesSteps = false
        let migrator = Migrator(
            store: office.store, models: office.models, options: options, code: Office.code(CityPolicy.self))
        let summary = try await migrator.migrate()
        #expect(summary.backup == nil)
        #expect(summary.store == office.folder.path("New.sqlite"))
        try expectLast(office.folder.path("New.sqlite"))
        #expect(try Data(contentsOf: URL(filePath: office.store)) == before)
    }
}
