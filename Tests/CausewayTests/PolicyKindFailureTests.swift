import Causeway
import CausewayEngine
import CausewayStores
import Foundation
import Testing

/// A policy that fails or cancels: the error names step, mapping and row, never a value, and no file is left.
@Suite(.timeLimit(.minutes(60)))
struct PolicyKindFailureTests {
    typealias Work = PoliciesExample.Work

    struct Stopped: Error, CustomStringConvertible {
        let description = "somebody stopped it"
    }

    /// Cancels in the hook that the user info names.
    class CancellingPolicy: EntityMigrationPolicy {
        private func cancel(_ hook: String, _ mapping: EntityMapping, _ manager: MigrationManager) {
            guard mapping.userInfo["hook"] == .string(hook) else { return }
            manager.cancelMigration(with: Stopped())
            // Only the first error counts.
            manager.cancelMigration(with: PolicyError.nothingMade("second"))
        }

        override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
            cancel("begin", mapping, manager)
        }

        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
            if sInstance.objectID.key == 17 { cancel("create", mapping, manager) }
        }

        override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
            cancel("endInstanceCreation", mapping, manager)
        }

        override func createRelationships(
            forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
            if dInstance.objectID.key == 18 { cancel("relate", mapping, manager) }
        }

        override func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
            cancel("endRelationshipCreation", mapping, manager)
        }

        override func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
            cancel("validate", mapping, manager)
        }

        override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
            cancel("end", mapping, manager)
        }
    }

    final class IndependentCancellingPolicy: CancellingPolicy {
        override class var isIndependent: Bool { true }
    }

    private static let hooks = [
        "begin", "create", "endInstanceCreation", "relate", "endRelationshipCreation", "validate", "end",
    ]

    @Test(
        "cancelMigration stops after the current hook with its error", arguments: hooks,
        [CancellingPolicy.self, IndependentCancellingPolicy.self])
    func cancel(_ hook: String, _ policy: CancellingPolicy.Type) throws {
        let error = try Office().failure(
            Office.code(policy) { UserInfo("hook", .string(hook)) }, Work(batchRows: 7, jobs: 3))
        #expect(error.kind == .sourceData)
        let row =
            switch hook {
            case "create": ", /Person/p17"
            case "relate": ", /Person/p18"
            default: ""
            }
        let text = "\(error)"
        #expect(
            text.replacing(#/x-coredata://[-0-9A-F]+/#, with: "")
                == "v1 → v2, PersonToPerson\(row): somebody stopped it")
        #expect(!error.remedy.isEmpty)
    }

    /// Does to person 23 what its type or the store doesn't allow.
    class ClumsyPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
            guard sInstance.objectID.key == 23, case .string(let what)? = mapping.userInfo["what"] else { return }
            let made = try manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance])
            guard let person = made.first else { throw PolicyError.nothingMade(sInstance.uri) }
            switch what {
            case "type": try person.setValue(sInstance.value(forKey: "name"), forKey: "score")
            case "property": try person.setValue(sInstance.value(forKey: "name"), forKey: "secretary")
            case "store": try person.set("boss", to: sInstance)
            case "entity": try person.set("boss", to: manager.destinationContext.insert("Note"))
            case "source": try sInstance.set("nick", to: sInstance.string("name"))
            case "insert": _ = try manager.destinationContext.insert("Nobody")
            case "read": _ = try sInstance.integer("name")
            case "associate":
                try manager.associate(sourceInstance: person, withDestinationInstance: sInstance, for: mapping)
            default: throw PolicyError.unknownEntity(what)
            }
        }
    }

    final class IndependentClumsyPolicy: ClumsyPolicy {
        override class var isIndependent: Bool { true }
    }

    @Test(
        "an error of an object names its row and never shows a value",
        arguments: ["type", "property", "store", "entity", "source", "insert", "read", "associate"],
        [ClumsyPolicy.self, IndependentClumsyPolicy.self])
    func clumsy(_ what: String, _ policy: ClumsyPolicy.Type) throws {
        let error = try Office().failure(
            Office.code(policy) { UserInfo("what", .string(what)) }, Work(batchRows: 7, jobs: 3))
        let text = "\(error)"
        #expect(text.hasPrefix("v1 → v2, PersonToPerson, x-coredata://"), "\(text)")
        #expect(text.contains("/Person/p23: "), "\(text)")
        #expect(!text.contains("secret23"), "\(text)")
    }

    @Test(
        "an expression that fails at a row names the row and never shows a value",
        arguments: ["$source.name * 2", "CAST($source.name, 'NSDate')", "FUNCTION($source.name, 'multiply:by:', 2)"],
        [true, false])
    func expression(_ expression: String, hasPolicy: Bool) throws {
        let error = try Office().failure(
            Office.code(hasPolicy ? CancellingPolicy.self : nil) { Compute("score", expression) })
        let text = "\(error)"
        #expect(!text.contains("secret"), "\(text)")
        #expect(text.contains("PersonToPerson"), "\(text)")
        // Found while planning, or at a row.
        #expect(error.kind == .plan || text.contains("/Person/p1: "), "\(text)")
    }

    @Test("a damaged page of a table that a policy reads ends the run", arguments: [EngineChoice.auto, .statements])
    func damaged(engine: EngineChoice) throws {
        let office = try Office(people: 2_000)
        let root = try #require(
            try StoreRows.texts(office.store, "SELECT rootpage FROM sqlite_schema WHERE name = 'ZPERSON'").first
                .flatMap { Int($0) })
        var bytes = try Data(contentsOf: URL(filePath: office.store))
        let (pageSize, right) = (4_096, (root - 1) * 4_096 + 8)
        let child = bytes[right..<right + 4].reduce(0) { $0 << 8 | Int($1) }
        try #require(child > 1 && child * pageSize <= bytes.count)
        bytes[(child - 1) * pageSize] = 0xee
        try bytes.write(to: URL(filePath: office.store))
        let code = Office.code(PolicyKindCreateTests.IndependentPatchPolicy.self)
        let error = try #require(
            #expect(throws: EngineError.self) {
                try office.migrate(code, Work(batchRows: 1_024, jobs: 2, engine: engine))
            })
        #expect(error.kind == .sourceData)
        #expect(try Data(contentsOf: URL(filePath: office.store)) == bytes)
    }
}
