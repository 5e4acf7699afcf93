import Causeway
import CausewayEngine
import CausewayStores
import Foundation
import Testing

/// Kind (d): expressions that call functions of policies and managers.
@Suite(.timeLimit(.minutes(60)))
struct PolicyKindFunctionTests {
    typealias Work = PoliciesExample.Work

    class HelperPolicy: EntityMigrationPolicy {
        override var functions: [String: MigrationFunction] {
            [
                "shout:": { arguments, _ in
                    guard case .string(let text)? = arguments.first else { return .string("none") }
                    return .string(text.uppercased())
                },
                "nameOf:": { arguments, manager in
                    guard case .object(let id)? = arguments.first else { return .null }
                    return .string(try manager.sourceContext.object(with: id).string("name") ?? "")
                },
                "sizeOf:": { arguments, _ in
                    guard case .collection(let members)? = arguments.first else { return .integer(-1) }
                    return .integer(Int64(members.count))
                },
                "join:with:and:": { arguments, _ in
                    .string(
                        arguments.map { value in
                            if case .string(let text) = value { text } else { "NULL" }
                        }.joined(separator: " "))
                },
            ]
        }
    }

    final class IndependentHelperPolicy: HelperPolicy {
        override class var isIndependent: Bool { true }
    }

    final class StampManager: MigrationManager {
        override var functions: [String: MigrationFunction] {
            [
                "stamp:": { arguments, manager in
                    guard case .string(let text)? = arguments.first else { return .null }
                    return .string("\(text) by \(manager.currentEntityMapping?.name ?? "?")")
                }
            ]
        }
    }

    private static func code(_ policy: HelperPolicy.Type) -> MigrationCode {
        Office.code(policy) {
            Compute("nick", "FUNCTION($entityPolicy, 'shout:', $source.nick)")
            Compute("score", "FUNCTION($entityPolicy, 'sizeOf:', $source.staff)")
            Compute("rank", "$entityMapping.userInfo.weight")
            Compute(
                "label",
                """
                FUNCTION($entityPolicy, 'join:with:and:', FUNCTION($entityPolicy, 'nameOf:', $source.boss), \
                $entityMapping.name, $propertyMapping.name)
                """)
            UserInfo("weight", .real(2.5))
        }
    }

    private static let expected = (1...40).map { key in
        let nick = key % 3 == 0 ? "none" : "NICK\(key)"
        let staff = [2 * key, 2 * key + 1].count { $0 <= 40 }
        return "\(nick)|\(staff)|2.5|\(key == 1 ? "NULL" : "secret\(key / 2)") PersonToPerson label"
    }

    @Test(
        "NULL, an object, a collection, several arguments, $entityMapping and $propertyMapping", arguments: Work.every)
    func helpers(_ work: Work) throws {
        let office = try Office()
        for (policy, name) in [(HelperPolicy.self, "a"), (IndependentHelperPolicy.self, "b")] {
            let result = try office.migrate(Self.code(policy), as: name, work)
            #expect(try Office.people(result, "ZNICK, ZSCORE, ZRANK, ZLABEL") == Self.expected)
        }
    }

    @Test("functions of a manager's subclass, with and without a policy")
    func manager() throws {
        let office = try Office()
        for (policy, name) in [(HelperPolicy.self, "a"), (nil, "b")] as [(HelperPolicy.Type?, String)] {
            var code = Office.code(policy) { Compute("label", "FUNCTION($manager, 'stamp:', $source.nick)") }
            code.managerType = StampManager.self
            let result = try office.migrate(code, as: name)
            #expect(
                try Office.people(result, "ZLABEL")
                    == (1...40).map { $0 % 3 == 0 ? "NULL" : "nick\($0) by PersonToPerson" })
        }
    }

    @Test("an unknown selector is a planning error that names mapping, property and selector")
    func unknown() throws {
        let office = try Office()
        let code = Office.code(HelperPolicy.self) {
            Compute("label", "FUNCTION($entityPolicy, 'whisper:', $source.nick)")
            Compute("nick", "FUNCTION($manager, 'stamp:', $source.nick)")
        }
        let error = try office.failure(code)
        #expect(error.kind == .plan)
        let text = "\(error)"
        for word in ["PersonToPerson", "Person.label", "whisper:", "Person.nick", "stamp:"] {
            #expect(text.contains(word), "\(text)")
        }
    }

    final class ThrowingPolicy: EntityMigrationPolicy {
        override var functions: [String: MigrationFunction] {
            [
                "check:": { arguments, _ in
                    if arguments.first == .string("nick7") { throw PolicyError.unknownEntity("seven") }
                    return .null
                }
            ]
        }
    }

    @Test("an error that a function throws names its row")
    func throwing() throws {
        let office = try Office()
        let error = try office.failure(
            Office.code(ThrowingPolicy.self) { Compute("label", "FUNCTION($entityPolicy, 'check:', $source.nick)") })
        #expect(error.kind == .sourceData)
        let text = "\(error)"
        for word in ["v1 → v2", "PersonToPerson", "/Person/p7:", "seven"] { #expect(text.contains(word), "\(text)") }
    }
}
