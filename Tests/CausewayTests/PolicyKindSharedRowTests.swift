import Causeway
import CausewayEngine
import CausewayStores
import Foundation
import Testing

/// Rows that many source rows share.
@Suite(.timeLimit(.minutes(60)))
struct PolicyKindSharedRowTests {
    typealias Work = PoliciesExample.Work

    private static let people = 10_000

    /// One city for each remainder, found by the index with the cache.
    final class SharingPolicy: EntityMigrationPolicy {
        private var made = 0

        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            let person = try PolicyKindSharedRowTests.person(sInstance, mapping, manager)
            let city = try manager.findOrInsert(
                "City", where: "name", is: .string("place\(sInstance.objectID.key * 7 % 97)"))
            if city.isNew { made += 1 }
            try person.set("home", to: city.object)
        }

        override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
            guard made == 97 else { throw PolicyError.nothingMade("\(made) cities were new") }
        }
    }

    /// The same, found by a fetch for each row.
    final class FetchingPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            let person = try PolicyKindSharedRowTests.person(sInstance, mapping, manager)
            let name = "place\(sInstance.objectID.key * 7 % 97)"
            var request = FetchRequest("City", where: "name == $name", ["name": .string(name)])
            request.fetchLimit = 1
            let found = try manager.destinationContext.fetch(request).first
            let city = try found ?? manager.destinationContext.insert("City")
            if found == nil { try city.set("name", to: name) }
            try person.set("home", to: city)
        }
    }

    private static func person(
        _ source: ManagedObject, _ mapping: EntityMapping, _ manager: MigrationManager
    ) throws -> ManagedObject {
        let person = try manager.destinationContext.insert("Person")
        try person.set("name", to: source.string("name"))
        try manager.associate(sourceInstance: source, withDestinationInstance: person, for: mapping)
        return person
    }

    @Test("10,000 rows share 97: the same keys as by a fetch for each row")
    func tenThousand() throws {
        let office = try Office(people: Self.people)
        let shared = try office.migrate(Office.code(SharingPolicy.self), as: "shared")
        let fetched = try office.migrate(Office.code(FetchingPolicy.self), as: "fetched")
        try Office.expectSame(shared, fetched)
        #expect(
            try Office.rows(shared, "Z_PK, ZNAME", "FROM ZCITY ORDER BY Z_PK")
                == (1...97).map { "\($0)|place\($0 * 7 % 97)" })
        #expect(
            try StoreRows.texts(
                shared,
                """
                SELECT count(*) FROM ZPERSON AS p JOIN ZCITY AS c ON c.Z_PK = p.ZHOME
                WHERE c.ZNAME = 'place' || (p.Z_PK * 7 % 97)
                """) == ["\(Self.people)"])
        try Office.expectSound(shared)
    }

    @Test("shared rows don't depend on batches or workers")
    func work() throws {
        let office = try Office(people: 2_000)
        let usual = try office.migrate(Office.code(SharingPolicy.self), as: "usual")
        for work in [Work(batchRows: 1, jobs: 2), Work(batchRows: 7, jobs: 4), Work(batchRows: 1_024, jobs: 1)] {
            let result = try office.migrate(Office.code(SharingPolicy.self), as: "\(work.batchRows)", work)
            try Office.expectSame(result, usual)
        }
    }

    /// More shared rows than the cache keeps: four for each person, looked up again when all are made.
    final class ManyPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            _ = try PolicyKindSharedRowTests.person(sInstance, mapping, manager)
            for part in 0..<4 {
                let name = Value.string("place\(sInstance.objectID.key)-\(part)")
                guard try manager.findOrInsert("City", where: "name", is: name).isNew else {
                    throw PolicyError.nothingMade("a new name was found")
                }
            }
        }

        override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
            for key in [1, 2, 4_999, PolicyKindSharedRowTests.people] {
                for part in 0..<4 {
                    let found = try manager.findOrInsert("City", where: "name", is: .string("place\(key)-\(part)"))
                    guard !found.isNew, found.object.objectID.key == Int64((key - 1) * 4 + part + 1) else {
                        throw PolicyError.nothingMade("place\(key)-\(part) wasn't found again")
                    }
                }
            }
        }
    }

    @Test("shared rows that are no longer in the cache are found on disk")
    func beyondTheCache() throws {
        let office = try Office(people: Self.people)
        let result = try office.migrate(Office.code(ManyPolicy.self))
        #expect(
            try StoreRows.texts(result, "SELECT count(*) || ' ' || count(DISTINCT ZNAME) FROM ZCITY")
                == ["\(Self.people * 4) \(Self.people * 4)"])
    }

    /// Asks for a shared row by the person's nick; the user info says for which.
    class AskingPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            guard case .string(let entity)? = mapping.userInfo["entity"],
                case .string(let attribute)? = mapping.userInfo["attribute"]
            else { return }
            _ = try manager.findOrInsert(entity, where: PropertyKey(attribute), is: sInstance.value(forKey: "nick"))
        }
    }

    final class IndependentAskingPolicy: AskingPolicy {
        override class var isIndependent: Bool { true }
    }

    @Test(
        "a row that can't be shared is an error at the source's row",
        arguments: [
            ("City", "name", "/Person/p3: ", "NULL"), ("Town", "name", "/Person/p1: ", "“Town”"),
            ("City", "title", "/Person/p1: ", "title"), ("City", "people", "/Person/p1: ", "“people”"),
            ("Person", "score", "/Person/p1: ", "Person.score"),
        ])
    func refused(_ entity: String, _ attribute: String, _ row: String, _ word: String) throws {
        let error = try Office().failure(
            Office.code(AskingPolicy.self) {
                UserInfo("entity", .string(entity))
                UserInfo("attribute", .string(attribute))
            })
        #expect(error.kind == .sourceData)
        let text = "\(error)"
        for word in ["v1 → v2, PersonToPerson, x-coredata://", row, word] { #expect(text.contains(word), "\(text)") }
        #expect(!text.contains("nick1"), "a message never holds a value: \(text)")
    }

    @Test("an independent policy can't share rows; the error says what to do")
    func independent() throws {
        let error = try Office().failure(
            Office.code(IndependentAskingPolicy.self) {
                UserInfo("entity", "City")
                UserInfo("attribute", "name")
            })
        let text = "\(error)"
        for word in ["/Person/p", "independent", "dependent"] { #expect(text.contains(word), "\(text)") }
    }
}
