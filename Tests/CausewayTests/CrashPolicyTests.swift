import Causeway
import CausewayEngine
import CausewayStores
import Foundation
import Testing

/// Policies and managers of every kind, killed at any event and run again: with rejected rows and a key map, with state
/// and without.
@Suite("Policies: a killed run that is resumed gives the undisturbed run's store", .timeLimit(.minutes(60)))
struct CrashPolicyTests {
    /// Makes two people of each row with an even key. Breaks v2's rules: some ranks are over 100, some names are
    /// missing.
    class TwinPolicy: EntityMigrationPolicy {
        override class var isResumable: Bool { true }

        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            let key = sInstance.objectID.key
            guard key % 11 != 0 else { return }
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
            let made = try manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance])
            try made.first?.set("rank", to: key % 5 == 0 ? 200.0 : 50.0)
            guard key % 2 == 0 else { return }
            let twin = try manager.destinationContext.insert("Person")
            if key % 8 != 0 { try twin.set("name", to: sInstance.string("name")) }
            try manager.associate(sourceInstance: sInstance, withDestinationInstance: twin, for: mapping)
        }
    }

    final class IndependentTwinPolicy: TwinPolicy {
        override class var isIndependent: Bool { true }
    }

    /// Shares cities, makes a note in its hooks, links in stage 2, and deletes some of the rows that it made.
    final class SharingPolicy: EntityMigrationPolicy {
        override class var isResumable: Bool { true }

        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
            let made = try manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance])
            guard let person = made.first, let city = try sInstance.string("city") else { return }
            let found = try manager.findOrInsert("City", where: "name", is: .string(city))
            try person.set("home", to: found.object)
            let note = try manager.destinationContext.insert("Note")
            try note.set("text", to: "of \(city)")
            try note.set("person", to: person)
        }

        override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
            try manager.destinationContext.insert("City").set("name", to: "nobody's")
        }

        override func createRelationships(
            forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
            if dInstance.objectID.key % 7 == 0 { try dInstance.delete() }
        }

        override func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
            for note in try manager.destinationContext.fetch(FetchRequest("Note", where: "person == nil")) {
                try note.set("text", to: "left alone")
            }
        }
    }

    /// Counts its rows. It can't be resumed: a new instance would begin again at 1.
    final class CountingPolicy: EntityMigrationPolicy {
        private var count = 0

        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            count += 1
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
            let made = try manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance])
            try made.first?.set("label", to: "number \(count)")
        }
    }

    /// Keeps state in the manager, which can't be resumed either.
    final class RememberingManager: MigrationManager {
        override func associate(
            sourceInstance sInstance: ManagedObject, withDestinationInstance dInstance: ManagedObject,
            for mapping: EntityMapping
        ) throws {
            try super.associate(sourceInstance: sInstance, withDestinationInstance: dInstance, for: mapping)
            let number = (userInfo["number"] as? Int ?? 0) + 1
            userInfo["number"] = number
            if dInstance.entityName == "Person" { try dInstance.set("label", to: "number \(number)") }
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let code: MigrationCode
        var from = "v1"
        var to = "v2"
        var isResumable = true
        var rejects = false
        var batchRows = 7
        var jobs = 2
        var isOutput = false
        var people = 40
        var testDescription: String { name }
    }

    private static func remembering() -> MigrationCode {
        var code = Office.code(nil)
        code.managerType = RememberingManager.self
        return code
    }

    static let cases = [
        Case(name: "twins, rejects and a key map", code: Office.code(TwinPolicy.self), rejects: true),
        Case(
            name: "twins row by row, to an output", code: Office.code(TwinPolicy.self), rejects: true, batchRows: 1,
            isOutput: true),
        Case(name: "twins on all workers", code: Office.code(IndependentTwinPolicy.self), rejects: true, jobs: 4),
        // So many that leaves are packed, and twins wait in segments, before the last row is read.
        Case(
            name: "thousands of twins on all workers", code: Office.code(IndependentTwinPolicy.self), rejects: true,
            people: 16_000),
        Case(
            name: "twins between two inferred steps", code: Office.code(TwinPolicy.self), from: "v0", to: "v3",
            rejects: true, isOutput: true),
        Case(name: "shared cities, deleted people", code: Office.code(SharingPolicy.self), batchRows: 3),
        Case(name: "a mapping model without policies", code: Office.code(nil), batchRows: 1, isOutput: true),
        Case(
            name: "a policy that counts", code: Office.code(CountingPolicy.self), isResumable: false, rejects: true),
        Case(name: "a manager that remembers", code: remembering(), from: "v0", to: "v3", isResumable: false),
    ]

    @Test("at sampled events, or at all of them", arguments: cases)
    func killed(_ test: Case) async throws {
        let office = try Office(at: test.from, people: test.people)
        let stores = office.folder.url.appending(path: "stores")
        try FileManager.default.createDirectory(at: stores, withIntermediateDirectories: true)
        let store = try office.folder.copyStore(office.store, as: "stores/Store.sqlite")
        var options = MigrationOptions()
        options.target = test.to
        options.batchRows = test.batchRows
        options.jobs = test.jobs
        options.checkpointInterval = 0
        if test.isOutput { options.output = office.folder.path("stores/Result.sqlite") }
        var crash = CrashSnapshots(
            name: test.name, models: office.models, code: test.code, options: options, isResumable: test.isResumable)
        if test.rejects {
            crash.options.onViolation = .reject
            crash.options.rejects = office.folder.path("stores/rejects.jsonl")
            crash.options.keyMap = office.folder.path("stores/keys.jsonl")
            crash.sideFiles = ["rejects.jsonl", "keys.jsonl"]
        }
        #expect(try await crash.check(store, in: stores) > 0)
    }

    @Test("the twin policies break rules and change keys, so that their side files have lines")
    func sideFiles() async throws {
        let office = try Office()
        var options = MigrationOptions()
        options.target = "v2"
        options.onViolation = .reject
        options.rejects = office.folder.path("rejects.jsonl")
        options.keyMap = office.folder.path("keys.jsonl")
        let code = Office.code(TwinPolicy.self)
        let summary = try await Migrator(store: office.store, models: office.models, options: options, code: code)
            .migrate()
        #expect(summary.rejectedRows > 5)
        for file in ["rejects.jsonl", "keys.jsonl"] {
            #expect(
                try String(contentsOfFile: office.folder.path(file), encoding: .utf8).split(separator: "\n").count > 5)
        }
    }

    /// Says that it can be resumed, but makes an object in `begin`, which is called once in each run.
    final class PrematurePolicy: EntityMigrationPolicy {
        override class var isResumable: Bool { true }

        override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
            try manager.destinationContext.insert("City").set("name", to: "too early")
        }
    }

    /// Makes an object in `begin` too, but says that it can't be resumed.
    final class AdmittingPolicy: EntityMigrationPolicy {
        override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
            try manager.destinationContext.insert("City").set("name", to: "in time")
        }
    }

    @Test("a resumable policy may not make objects in begin; one that isn't resumable may")
    func begin() throws {
        let office = try Office()
        let error = try office.failure(Office.code(PrematurePolicy.self))
        #expect(error.kind == .plan)
        #expect(error.message.contains("begin(_:with:)"))
        #expect(error.remedy.contains("isResumable"))
        let result = try office.migrate(Office.code(AdmittingPolicy.self))
        #expect(try StoreRows.texts(result, "SELECT ZNAME FROM ZCITY") == ["in time"])
    }
}
