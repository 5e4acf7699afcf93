import Causeway
import CausewayEngine
import CausewayStores
import Foundation
import Testing

/// One step by several mapping models: the result is one store, as if they were one mapping model.
@Suite(.timeLimit(.minutes(60)))
struct SeveralMappingModelsTests {
    typealias Work = PoliciesExample.Work

    final class PatchPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
            let made = try manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance])
            try made.first?.set("label", to: sInstance.string("city"))
        }
    }

    /// A relationship to every row that an entity mapping of any mapping model makes.
    private static func link(_ name: String) -> Link {
        Link(
            name,
            """
            FUNCTION($manager, 'destinationInstancesForSourceRelationshipNamed:sourceInstances:', '\(name)', \
            $source.\(name))
            """)
    }

    private static func people(_ policy: EntityMigrationPolicy.Type?) -> SwiftMappingModel {
        SwiftMappingModel(from: "v1", to: "v2", name: "people") {
            TransformEntity("Person", policy: policy)
            AddEntity("City")
            AddEntity("Note")
        }
    }

    private static let rest = SwiftMappingModel(from: "v1", to: "v2", name: "rest") {
        TransformEntity("Team")
        TransformEntity("Tag")
    }

    private static func code(_ models: [SwiftMappingModel]) -> MigrationCode {
        var code = MigrationCode()
        for model in models { code.add(model) }
        return code
    }

    @Test(
        "entities split over two mapping models give what one mapping model gives, links between the parts included",
        arguments: [true, false], [true, false])
    func entities(hasPolicy: Bool, peopleFirst: Bool) throws {
        let office = try Office()
        let policy = hasPolicy ? PatchPolicy.self : nil
        let whole = try office.migrate(Office.code(policy), as: "whole")
        let parts = [Self.people(policy), Self.rest]
        let split = try office.migrate(Self.code(peopleFirst ? parts : parts.reversed()), as: "split")
        try Office.expectSame(split, whole)
        try Office.expectSound(split)
        #expect(
            try Office.people(split, "Z_PK, ZNAME, ZTEAM").map { $0 }
                == (1...40).map { "\($0)|secret\($0)|\($0 % 5 + 1)" })
        #expect(
            try Office.tags(split)
                == Office.rows(office.store, "Z_1PERSONS, Z_2TAGS", "FROM Z_1TAGS ORDER BY Z_1PERSONS, Z_2TAGS"))
    }

    private static let filters = [
        ("Low", "score <= 130"), ("Middle", "score > 130 AND score <= 260"), ("High", "score > 260"),
    ]

    private static func filtered(_ policy: EntityMigrationPolicy.Type?) -> SwiftMappingModel {
        SwiftMappingModel(from: "v1", to: "v2", name: "filtered") {
            for (name, filter) in filters {
                TransformEntity("Person", name: name, policy: policy) { Filter(filter) }
            }
            TransformEntity("Team")
            TransformEntity("Tag")
        }
    }

    private static func filteredParts(_ policy: EntityMigrationPolicy.Type?) -> [SwiftMappingModel] {
        filters.map { name, filter in
            SwiftMappingModel(from: "v1", to: "v2", name: name) {
                TransformEntity("Person", name: name, policy: policy) {
                    Filter(filter)
                    for relationship in ["boss", "staff", "team", "tags"] { link(relationship) }
                }
            }
        }
    }

    @Test(
        "an entity split by filters over three mappings keeps keys, values and links", arguments: [true, false],
        Work.every)
    func filters(hasPolicy: Bool, _ work: Work) throws {
        let office = try Office()
        let policy = hasPolicy ? PatchPolicy.self : nil
        let whole = try office.migrate(Office.code(policy), as: "whole")
        try Office.expectSame(try office.migrate(Self.code([Self.filtered(policy)]), as: "split", work), whole)
    }

    @Test("the same over three mapping models", arguments: [true, false], [true, false])
    func filteredModels(hasPolicy: Bool, restFirst: Bool) throws {
        let office = try Office()
        let policy = hasPolicy ? PatchPolicy.self : nil
        let whole = try office.migrate(Office.code(policy), as: "whole")
        let models =
            restFirst
            ? [Self.rest] + Self.filteredParts(policy) : Self.filteredParts(policy) + [Self.rest]
        let split = try office.migrate(Self.code(models), as: "split")
        try Office.expectSame(split, whole)
    }

    @Test("rows that match no filter are dropped and counted")
    func gap() throws {
        let office = try Office()
        var models = Self.filteredParts(nil)
        models.remove(at: 1)
        let outcome = try Migration(office.request(Self.code(models + [Self.rest]))).run()
        let result = office.folder.path("result")
        let kept = (1...40).filter { $0 <= 13 || $0 > 26 }
        #expect(
            try Office.people(result, "Z_PK, ZBOSS")
                == kept.map { "\($0)|\($0 == 1 || $0 / 2 > 13 ? "NULL" : "\($0 / 2)")" })
        #expect(outcome.rows == kept.count + 11)
        try Office.expectSound(result)
    }

    @Test("two mapping models that map the same rows are refused by name")
    func overlap() throws {
        let error = try Office().failure(Self.code([Office.mapping(nil), Self.people(nil)]))
        #expect(error.kind == .plan)
        #expect("\(error)".contains("Person → Person"), "\(error)")
    }

    /// Records when a mapping begins and ends.
    final class NotingPolicy: EntityMigrationPolicy {
        override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
            manager.userInfo["log"] = (manager.userInfo["log"] as? [String] ?? []) + ["begin \(mapping.name)"]
        }

        override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
            let log = (manager.userInfo["log"] as? [String] ?? []) + ["end \(mapping.name)"]
            manager.userInfo["log"] = log
            if log.count == 6 { throw PolicyError.nothingMade(log.joined(separator: ", ")) }
        }
    }

    @Test("the stages go over the entity mappings of all mapping models: links between the parts are found")
    func order() throws {
        let error = try Office().failure(Self.code(Self.filteredParts(NotingPolicy.self)))
        #expect(
            "\(error)".contains("begin Low, begin Middle, begin High, end Low, end Middle, end High"), "\(error)")
    }
}
