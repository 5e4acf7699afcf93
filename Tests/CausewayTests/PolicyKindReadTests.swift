import Causeway
import CausewayEngine
import CausewayStores
import Foundation
import Testing

/// Policies that read other source rows, and what independent ones may not do.
@Suite(.timeLimit(.minutes(60)))
struct PolicyKindReadTests {
    typealias Work = PoliciesExample.Work

    /// Reads the bosses up to the top, the staff below, and teams and tags.
    class ReadingPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            var chain: [String] = []
            var next: ManagedObject? = sInstance
            while let person = next {
                chain.append("\(person.objectID.key)")
                next = try person.object("boss")
            }
            let staff = try sInstance.objects("staff").flatMap { try $0.objects("staff") }.map(\.objectID.key)
            let tags =
                try sInstance.object("team")?.objects("members").flatMap { try $0.objects("tags") }
                .compactMap { try $0.string("name") } ?? []
            let count = try manager.sourceContext.count(
                FetchRequest("Person", where: "city == $city", ["city": sInstance.value(forKey: "city")]))
            let person = try manager.destinationContext.insert("Person")
            try person.set("name", to: sInstance.string("name"))
            try person.set("label", to: "\(chain.joined(separator: "<")) \(staff) \(Set(tags).sorted())")
            try person.set("score", to: .integer(Int64(count)))
            for text in Set(tags).sorted().prefix(2) {
                let note = try manager.destinationContext.insert("Note")
                try note.set("text", to: text)
                try person.add(note, to: "notes")
            }
            try manager.associate(sourceInstance: sInstance, withDestinationInstance: person, for: mapping)
        }
    }

    final class IndependentReadingPolicy: ReadingPolicy {
        override class var isIndependent: Bool { true }
    }

    @Test("related source rows are found at any depth, by dependent and independent policies", arguments: Work.every)
    func deep(_ work: Work) throws {
        let office = try Office()
        let result = try office.migrate(Office.code(ReadingPolicy.self), as: "a", work)
        let cities = ["city1", "city2", "city3"]
        let expected = (1...40).map { key in
            let chain = sequence(first: key) { $0 > 1 ? $0 / 2 : nil }.map { "\($0)" }.joined(separator: "<")
            let staff = [4 * key, 4 * key + 1, 4 * key + 2, 4 * key + 3].filter { $0 <= 40 }
            let members = (1...40).filter { $0 % 5 == key % 5 }
            let tags = Set(members.flatMap { ["tag\($0 % 6 + 1)", "tag\($0 * 3 % 6 + 1)"] }).sorted()
            return "\(key)|\(chain) \(staff) \(tags)|\(key % 4 == 0 ? 10 : cities.isEmpty ? 0 : 10)"
        }
        #expect(try Office.people(result, "Z_PK, ZLABEL, ZSCORE") == expected)
        #expect(
            try Office.rows(result, "Z_PK, ZPERSON", "FROM ZNOTE ORDER BY Z_PK")
                == (0..<80).map { "\($0 + 1)|\($0 / 2 + 1)" })
        try Office.expectSound(result)
        try Office.expectSame(
            try office.migrate(Office.code(IndependentReadingPolicy.self), as: "b", work), result,
            "declared independent")
    }

    // MARK: - What an independent policy may not do

    final class PeekingPolicy: EntityMigrationPolicy {
        override class var isIndependent: Bool { true }

        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
            guard case .string(let what)? = mapping.userInfo["what"] else { return }
            guard let boss = try sInstance.object("boss") else { return }
            do {
                switch what {
                case "fetch": _ = try manager.destinationContext.fetch(FetchRequest("Person"))
                case "count": _ = try manager.destinationContext.count(FetchRequest("Person"))
                case "mapping":
                    _ = try manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [boss])
                case "relationship":
                    _ = try manager.destinationInstances(forSourceRelationshipNamed: "boss", sourceInstances: [boss])
                case "sources":
                    _ = try manager.sourceInstances(
                        forEntityMappingName: mapping.name,
                        destinationInstances: manager.destinationInstances(
                            forEntityMappingName: mapping.name, sourceInstances: [sInstance]))
                default: _ = try manager.findOrInsert("City", where: "name", is: "somewhere")
                }
            } catch let error as ObjectError {
                guard error.code == .detached else { throw PolicyError.nothingMade("another code: \(error)") }
                throw error
            }
        }
    }

    @Test(
        "an independent policy that asks for what it can't read gets an error at its row",
        arguments: ["fetch", "count", "mapping", "relationship", "sources", "findOrInsert"])
    func detached(_ what: String) throws {
        let error = try Office().failure(
            Office.code(PeekingPolicy.self) { UserInfo("what", .string(what)) },
            Work(batchRows: 7, jobs: 3))
        #expect(error.kind == .sourceData)
        let text = "\(error)"
        for word in ["v1 → v2, PersonToPerson, x-coredata://", "/Person/p", "independent"] {
            #expect(text.contains(word), "\(text)")
        }
    }
}
