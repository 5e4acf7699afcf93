import Causeway
import CausewayEngine
import Foundation
import Testing

/// Kind (e): hooks with state over all three stages, and files that a policy opens on the side.
@Suite(.timeLimit(.minutes(60)))
struct PolicyKindStageTests {
    typealias Work = PoliciesExample.Work

    /// Counts in every hook. Writes the counts into rows and into a file that it opened in `begin`.
    final class CountingPolicy: EntityMigrationPolicy {
        private var file: FileHandle?
        private var created: [Int64] = []
        private var related = 0

        private func write(_ line: String) throws {
            guard let file else { throw PolicyError.nothingMade("no file") }
            // Several mappings write to it.
            try file.seekToEnd()
            try file.write(contentsOf: Data((line + "\n").utf8))
        }

        override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
            guard file == nil, case .string(let path)? = mapping.userInfo["file"] else {
                throw PolicyError.nothingMade("begin comes once, with its user info")
            }
            if !FileManager.default.fileExists(atPath: path) { try Data().write(to: URL(filePath: path)) }
            file = FileHandle(forWritingAtPath: path)
            let instances = manager.userInfo["instances"] as? Int ?? 0
            manager.userInfo["instances"] = instances + 1
            try write("\(mapping.name) begin, instance \(instances + 1)")
        }

        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            created.append(sInstance.objectID.key)
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        }

        override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
            try write("\(mapping.name) made \(created.count), in order \(created == created.sorted())")
            // A row that isn't made of a source row gets the next key.
            let city = try manager.destinationContext.insert("City")
            try city.set("name", to: "\(mapping.name) \(created.count)")
        }

        override func createRelationships(
            forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            related += 1
            try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
        }

        override func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
            try write("\(mapping.name) related \(related) of \(created.count)")
        }

        override func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
            let linked = try manager.destinationContext.count(FetchRequest("Person", where: "boss != nil"))
            try write("\(mapping.name) validates, \(linked) with a boss")
        }

        override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
            let instances = manager.userInfo["instances"] as? Int ?? 0
            try write("\(mapping.name) ends after \(created.count) and \(related) of \(instances) instances")
            try file?.close()
            file = nil
        }
    }

    private static func code(_ file: String) -> MigrationCode {
        var code = MigrationCode()
        code.add(
            SwiftMappingModel(from: "v1", to: "v2") {
                TransformEntity("Person", name: "Low", policy: CountingPolicy.self) {
                    Filter("score <= 150")
                    UserInfo("file", .string(file))
                }
                TransformEntity("Person", name: "High", policy: CountingPolicy.self) {
                    Filter("score > 150")
                    UserInfo("file", .string(file))
                }
                TransformEntity("Team")
                TransformEntity("Tag")
                AddEntity("City")
            })
        return code
    }

    private static let lines = [
        "Low begin, instance 1", "Low made 15, in order true", "High begin, instance 2", "High made 25, in order true",
        "Low related 15 of 15", "High related 25 of 25", "Low validates, 39 with a boss",
        "Low ends after 15 and 15 of 2 instances", "High validates, 39 with a boss",
        "High ends after 25 and 25 of 2 instances",
    ]

    @Test(
        "one instance a mapping keeps its state and file; the manager's user info is shared", arguments: Work.every)
    func state(_ work: Work) throws {
        let office = try Office()
        let file = office.folder.path("log.txt")
        let result = try office.migrate(Self.code(file), work)
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text.split(separator: "\n").map(String.init) == Self.lines)
        #expect(try Office.rows(result, "Z_PK, ZNAME", "FROM ZCITY ORDER BY Z_PK") == ["1|Low 15", "2|High 25"])
        try Office.expectSound(result)
        let plain = try office.migrate(Office.code(nil), as: "plain")
        let columns = "Z_PK, ZNAME, ZNICK, ZSCORE, ZBOSS, ZTEAM"
        #expect(try Office.people(result, columns) == Office.people(plain, columns))
        #expect(try Office.tags(result) == Office.tags(plain))
    }

    /// Sets, makes and links rows after stage 2.
    final class LatePolicy: EntityMigrationPolicy {
        override func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
            try manager.destinationContext.forEach(FetchRequest("Person", where: "staff.@count = 2")) { person in
                try person.set("label", to: "has two")
                let note = try person.context.insert("Note")
                try note.set("text", to: "made late")
                try note.set("person", to: person)
            }
        }
    }

    @Test("late hooks change, make and link rows", arguments: Work.every)
    func late(_ work: Work) throws {
        let office = try Office()
        let result = try office.migrate(Office.code(LatePolicy.self), as: "result", work)
        #expect(
            try Office.people(result, "Z_PK, ZLABEL, ZBOSS")
                == (1...40).map { "\($0)|\($0 < 20 ? "has two" : "NULL")|\($0 == 1 ? "NULL" : "\($0 / 2)")" })
        #expect(
            try Office.rows(result, "Z_PK, ZPERSON, ZTEXT", "FROM ZNOTE ORDER BY Z_PK")
                == (1...19).map { "\($0)|\($0)|made late" })
        try Office.expectSound(result)
    }

    /// Deletes every person without a boss, which is person 1; and in stage 1 a row that it has just made.
    final class DeletingPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            let extra = try manager.destinationContext.insert("Note")
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
            try extra.delete()
        }

        override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
            let alone = try manager.destinationContext.fetch(FetchRequest("Person", where: "boss = nil"))
            for person in alone { try person.delete() }
        }
    }

    @Test("late hooks delete rows, and links to these end", arguments: Work.every)
    func deleting(_ work: Work) throws {
        let office = try Office()
        let outcome = try Migration(office.request(Office.code(DeletingPolicy.self), work)).run()
        let result = office.folder.path("result")
        // 2 and 3 lose their boss.
        #expect(
            try Office.people(result, "Z_PK, ZBOSS")
                == (2...40).map { "\($0)|\($0 < 4 ? "NULL" : "\($0 / 2)")" })
        #expect(try !Office.tags(result).contains { $0.hasPrefix("1|") })
        #expect(try StoreRows.texts(result, "SELECT count(*) FROM ZNOTE") == ["0"])
        #expect(outcome.rows == 50)
        try Office.expectSound(result)
    }
}
