import Causeway
import CausewayEngine
import Foundation
import Testing

/// Stage 1 by policies: super, then a patch; by hand; no rows or two rows of one; on rows with links.
@Suite(.timeLimit(.minutes(60)))
struct PolicyKindCreateTests {
    typealias Work = PoliciesExample.Work

    /// Kind (a): super, then patch.
    class PatchPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
            let made = try manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance])
            guard made.count == 1, let person = made.first else { throw PolicyError.nothingMade(sInstance.uri) }
            try person.set("label", to: (person.string("nick") ?? "-") + "!")
            try person.set("score", to: .integer((sInstance.integer("score") ?? 0) + 1))
        }
    }

    final class IndependentPatchPolicy: PatchPolicy {
        override class var isIndependent: Bool { true }
    }

    @Test(
        "super then patch: patched cells differ, everything else is what the mapping model alone gives",
        arguments: [PatchPolicy.self, IndependentPatchPolicy.self])
    func patch(_ policy: PatchPolicy.Type) throws {
        let office = try Office()
        let plain = try office.migrate(Office.code(nil), as: "plain")
        let result = try office.migrate(Office.code(policy))
        let carried = "Z_PK, Z_ENT, Z_OPT, ZNAME, ZNICK, ZBOSS, ZTEAM, ZHOME, ZRANK"
        #expect(try Office.people(result, carried) == Office.people(plain, carried))
        #expect(
            try Office.people(result, "ZLABEL, ZSCORE")
                == (1...40).map { "\($0 % 3 == 0 ? "-" : "nick\($0)")!|\($0 * 10 + 1)" })
        #expect(try Office.people(plain, "ZLABEL, ZSCORE") == (1...40).map { "NULL|\($0 * 10)" })
        #expect(try Office.tags(result) == Office.tags(plain))
        #expect(
            try Office.tags(result)
                == Office.rows(office.store, "Z_1PERSONS, Z_2TAGS", "FROM Z_1TAGS ORDER BY Z_1PERSONS, Z_2TAGS"))
        try Office.expectSound(result)
    }

    /// Kind (b): makes rows by hand, two of each row with an even key, none where 5 divides the key.
    class TwinPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            let key = sInstance.objectID.key
            guard key % 5 != 0 else { return }
            for label in key % 2 == 0 ? ["first", "twin"] : ["only"] {
                let person = try manager.destinationContext.insert("Person")
                try person.set("name", to: sInstance.string("name"))
                try person.set("label", to: label)
                try manager.associate(sourceInstance: sInstance, withDestinationInstance: person, for: mapping)
            }
        }
    }

    final class IndependentTwinPolicy: TwinPolicy {
        override class var isIndependent: Bool { true }
    }

    private static let kept = (1...40).filter { $0 % 5 != 0 }
    private static let twins = kept.filter { $0 % 2 == 0 }

    private static func links(of key: Int) -> String {
        let boss = key / 2
        return "\(boss == 0 || boss % 5 == 0 ? "NULL" : "\(boss)")|\(key % 5 + 1)"
    }

    @Test(
        "by hand: the first result keeps its key, the second gets the next free one in the source's order",
        arguments: [TwinPolicy.self, IndependentTwinPolicy.self])
    func byHand(_ policy: TwinPolicy.Type) throws {
        let office = try Office()
        let result = try office.migrate(Office.code(policy))
        let first = Self.kept.map { "\($0)|secret\($0)|\($0 % 2 == 0 ? "first" : "only")|\(Self.links(of: $0))" }
        let second = Self.twins.enumerated().map { "\(41 + $0)|secret\($1)|twin|\(Self.links(of: $1))" }
        #expect(try Office.people(result, "Z_PK, ZNAME, ZLABEL, ZBOSS, ZTEAM") == first + second)
        // Both results have the source row's tags.
        let tags = try Office.tags(result)
        for (index, key) in Self.twins.enumerated() {
            #expect(
                tags.filter { $0.hasPrefix("\(41 + index)|") }.map { $0.split(separator: "|")[1] }
                    == tags.filter { $0.hasPrefix("\(key)|") }.map { $0.split(separator: "|")[1] })
        }
        #expect(Set(tags.compactMap { Int($0.split(separator: "|")[0]) }).count == first.count + second.count)
        #expect(try StoreRows.texts(result, "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Person'") == ["56"])
        try Office.expectSound(result)
    }

    @Test("by hand: the rows don't depend on batches, workers or independence", arguments: Work.every)
    func byHandWork(_ work: Work) throws {
        let office = try Office()
        let usual = try office.migrate(Office.code(TwinPolicy.self), as: "usual")
        try Office.expectSame(try office.migrate(Office.code(TwinPolicy.self), as: "a", work), usual)
        try Office.expectSame(try office.migrate(Office.code(IndependentTwinPolicy.self), as: "b", work), usual)
    }

    @Test("thousands of rows become the same pages for any batches and workers, and the same rows as by statements")
    func manyByHand() throws {
        let office = try Office(people: 9_000)
        let code = Office.code(IndependentTwinPolicy.self)
        func bytes(_ work: Work, _ name: String) throws -> Data {
            try Data(contentsOf: URL(filePath: office.migrate(code, as: name, work)))
        }
        let usual = try bytes(.usual, "usual")
        for work in [Work(batchRows: 7, jobs: 1), Work(batchRows: 300, jobs: 4), Work(batchRows: 4_096, jobs: 3)] {
            #expect(try bytes(work, work.testDescription) == usual, "\(work)")
        }
        let statements = Work(batchRows: 1_024, jobs: 2, engine: .statements)
        try Office.expectSame(office.folder.path("usual"), try office.migrate(code, as: "statements", statements))
    }

    /// Kind (c): leaves out every third row.
    class DropPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            guard sInstance.objectID.key % 3 != 0 else { return }
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        }
    }

    final class IndependentDropPolicy: DropPolicy {
        override class var isIndependent: Bool { true }
    }

    @Test(
        "drop: links to dropped rows end and are counted", arguments: [false, true], Work.every)
    func drop(isIndependent: Bool, _ work: Work) throws {
        let office = try Office()
        let policy = isIndependent ? IndependentDropPolicy.self : DropPolicy.self
        let outcome = try Migration(office.request(Office.code(policy), work)).run()
        let result = office.folder.path("result")
        let kept = (1...40).filter { $0 % 3 != 0 }
        #expect(
            try Office.people(result, "Z_PK, ZNAME, ZBOSS, ZTEAM")
                == kept.map { key in
                    let boss = key / 2
                    return "\(key)|secret\(key)|\(boss == 0 || boss % 3 == 0 ? "NULL" : "\(boss)")|\(key % 5 + 1)"
                })
        #expect(
            try Office.tags(result)
                == Office.rows(
                    office.store, "Z_1PERSONS, Z_2TAGS",
                    "FROM Z_1TAGS WHERE Z_1PERSONS % 3 <> 0 ORDER BY Z_1PERSONS, Z_2TAGS"))
        #expect(outcome.dropped == 13)
        #expect(outcome.rows == kept.count + 11)
        #expect(outcome.createdRows == kept.count + 11)
        // A new person doesn't get a key that was used before.
        #expect(try StoreRows.texts(result, "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Person'") == ["40"])
        try Office.expectSound(result)
    }

    /// Leaves out every row.
    final class NobodyPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {}
    }

    @Test("a policy may leave every row out")
    func nobody() throws {
        let office = try Office()
        let outcome = try Migration(office.request(Office.code(NobodyPolicy.self))).run()
        #expect(outcome.dropped == 40)
        let result = office.folder.path("result")
        #expect(try Office.people(result, "Z_PK").isEmpty)
        #expect(try Office.tags(result).isEmpty)
        #expect(try StoreRows.texts(result, "SELECT count(*) FROM ZTEAM") == ["5"])
        try Office.expectSound(result)
    }
}
