import Causeway
import CausewayEngine
import Foundation
import Testing

/// Kind (f): a policy with its own relationship phase. Kind (g): expressions that are rewritten at run time.
@Suite(.timeLimit(.minutes(60)))
struct PolicyKindLinkTests {
    typealias Work = PoliciesExample.Work

    /// Doesn't link where super would.
    final class UnlinkedPolicy: EntityMigrationPolicy {
        override func createRelationships(
            forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {}
    }

    @Test("with an empty createRelationships there are no links but those that other mappings make")
    func empty() throws {
        let office = try Office()
        var code = MigrationCode()
        code.add(
            SwiftMappingModel(from: "v1", to: "v2") {
                TransformEntity("Person", policy: UnlinkedPolicy.self)
                TransformEntity("Team") { Leave("members") }
                TransformEntity("Tag") { Leave("persons") }
            })
        let result = try office.migrate(code)
        #expect(try Office.people(result, "Z_PK, ZBOSS, ZTEAM") == (1...40).map { "\($0)|NULL|NULL" })
        #expect(try Office.tags(result).isEmpty)
        try Office.expectSound(result)
        // The other mappings still link their relationships, and with them Core Data's inverses.
        let linked = try office.migrate(Office.code(UnlinkedPolicy.self), as: "linked")
        #expect(try Office.people(linked, "Z_PK, ZBOSS, ZTEAM") == (1...40).map { "\($0)|NULL|\($0 % 5 + 1)" })
        #expect(
            try Office.tags(linked)
                == Office.rows(office.store, "Z_1PERSONS, Z_2TAGS", "FROM Z_1TAGS ORDER BY Z_1PERSONS, Z_2TAGS"))
    }

    /// The boss's boss, the boss's team, and the team's own tags, by every kind of look-up.
    final class GrandPolicy: EntityMigrationPolicy {
        override func createRelationships(
            forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            let sources = try manager.sourceInstances(
                forEntityMappingName: mapping.name, destinationInstances: [dInstance])
            guard sources.count == 1, let source = sources.first else {
                throw PolicyError.nothingMade(dInstance.uri)
            }
            let boss = try source.object("boss")
            if let grand = try boss?.object("boss") {
                let made = try manager.destinationInstances(
                    forEntityMappingName: mapping.name, sourceInstances: [grand])
                try dInstance.set("boss", to: made.first)
            }
            let teams = try [boss].compactMap { try $0?.object("team") }
            try dInstance.set(
                "team",
                to: manager.destinationInstances(forSourceRelationshipNamed: "team", sourceInstances: teams).first)
            let tags = try manager.destinationInstances(
                forSourceRelationshipNamed: "tags", sourceInstances: try source.objects("tags"))
            try dInstance.set("tags", to: tags.filter { $0.objectID.key != 1 })
        }
    }

    @Test("a policy's own relationship phase links by every kind of look-up", arguments: Work.every)
    func own(_ work: Work) throws {
        let office = try Office()
        var code = MigrationCode()
        code.add(
            SwiftMappingModel(from: "v1", to: "v2") {
                TransformEntity("Person", policy: GrandPolicy.self) { Filter("score != 80") }
                TransformEntity("Team") { Leave("members") }
                TransformEntity("Tag") { Leave("persons") }
            })
        let result = try office.migrate(code, work)
        #expect(
            try Office.people(result, "Z_PK, ZBOSS, ZTEAM")
                == (1...40).filter { $0 != 8 }.map { key in
                    let grand = key / 4
                    return "\(key)|\(grand == 0 || grand == 8 ? "NULL" : "\(grand)")"
                        + "|\(key == 1 ? "NULL" : "\(key / 2 % 5 + 1)")"
                })
        #expect(
            try Office.tags(result)
                == Office.rows(
                    office.store, "Z_1PERSONS, Z_2TAGS",
                    "FROM Z_1TAGS WHERE Z_2TAGS <> 1 AND Z_1PERSONS <> 8 ORDER BY Z_1PERSONS, Z_2TAGS"))
        try Office.expectSound(result)
    }

    @Test("a look-up with the name of a missing mapping names it")
    func unknownMapping() throws {
        final class LostPolicy: EntityMigrationPolicy {
            override func createRelationships(
                forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
            ) throws {
                _ = try manager.sourceInstances(forEntityMappingName: "Nobody", destinationInstances: [dInstance])
            }
        }
        let error = try Office().failure(Office.code(LostPolicy.self))
        let text = "\(error)"
        for word in ["v1 → v2, PersonToPerson", "/Person/p1:", "“Nobody”"] { #expect(text.contains(word), "\(text)") }
    }

    // MARK: - Rewriting

    /// Kind (g): rewrites attributes and a relationship in `begin`, and leaves one attribute alone.
    class RewritingPolicy: EntityMigrationPolicy {
        override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
            for property in mapping.attributeMappings {
                switch property.name {
                case "label": property.valueExpression = "uppercase:($source.name)"
                case "score":
                    property.valueExpression = (property.valueExpression ?? "0") + " + $entityMapping.userInfo.bonus"
                case "nick": property.valueExpression = nil
                default: break
                }
            }
            for property in mapping.relationshipMappings where property.name == "team" {
                property.valueExpression = property.valueExpression?.replacing(
                    "$source.team", with: "$source.boss.team")
            }
        }
    }

    final class IndependentRewritingPolicy: RewritingPolicy {
        override class var isIndependent: Bool { true }
    }

    @Test("expressions rewritten in begin apply to every row", arguments: Work.every)
    func rewriting(_ work: Work) throws {
        let office = try Office()
        for (policy, name) in [(RewritingPolicy.self, "a"), (IndependentRewritingPolicy.self, "b")] {
            var code = MigrationCode()
            code.add(
                SwiftMappingModel(from: "v1", to: "v2") {
                    TransformEntity("Person", policy: policy) {
                        UserInfo("bonus", 7)
                        Compute("label", "$source.nick")
                        Link(
                            "team",
                            """
                            FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', \
                            'TeamToTeam', $source.team)
                            """)
                    }
                    TransformEntity("Team") { Leave("members") }
                    TransformEntity("Tag")
                })
            let result = try office.migrate(code, as: name, work)
            #expect(
                try Office.people(result, "Z_PK, ZLABEL, ZSCORE, ZNICK, ZBOSS, ZTEAM")
                    == (1...40).map { key in
                        "\(key)|SECRET\(key)|\(key * 10 + 7)|NULL|"
                            + (key == 1 ? "NULL|NULL" : "\(key / 2)|\(key / 2 % 5 + 1)")
                    })
            try Office.expectSound(result)
        }
    }

    final class SpoilingPolicy: EntityMigrationPolicy {
        override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
            guard case .string(let text)? = mapping.userInfo["text"] else { return }
            let all = mapping.attributeMappings + mapping.relationshipMappings
            guard case .string(let name)? = mapping.userInfo["name"] else { return }
            all.first { $0.name == name }?.valueExpression = text
        }
    }

    @Test(
        "a rewritten expression that is invalid is reported at the first row that needs it",
        arguments: [
            ("label", "$source.name +", "label"), ("label", "$source.salary", "salary"),
            ("label", "FUNCTION($entityPolicy, 'nothing:', 1)", "nothing:"), ("boss", "$source.chief", "chief"),
        ])
    func spoiling(_ property: String, _ expression: String, _ word: String) throws {
        let error = try Office().failure(
            Office.code(SpoilingPolicy.self) {
                UserInfo("name", .string(property))
                UserInfo("text", .string(expression))
                Compute("label", "$source.nick")
            })
        let text = "\(error)"
        for word in ["v1 → v2, PersonToPerson, ", "/Person/p1: ", "PersonToPerson.\(property)", word] {
            #expect(text.contains(word), "\(text)")
        }
    }
}
