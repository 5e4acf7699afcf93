import Causeway
import Foundation
import Testing

/// The executables as their users run them.
@Suite("The examples' executables", .timeLimit(.minutes(60)), .serialized)
struct ExampleProcessTests {
    struct Run: Sendable, CustomTestStringConvertible {
        let history: ExampleHistory
        /// The policy in the mapping models; nil where the code has stages.
        let policy: String?
        var testDescription: String { history.name }
    }

    static let runs: [Run] = [
        Run(history: ColourfulPostsTests.history, policy: "PostToSectionsPolicy"),
        Run(history: BookStoreTests.history, policy: "AuthorNamePolicy"),
        Run(history: StaffTests.history, policy: "ContactPolicy"),
    ]

    @Test("each migrates a store of the first version in place", arguments: runs)
    func migrates(_ run: Run) async throws {
        let workshop = try Workshop()
        try await expectMigration(run.history, in: workshop)
    }

    @Test("a plan says which policies stage 2 calls again", arguments: runs)
    func plansStage2(_ run: Run) throws {
        let workshop = try Workshop()
        let first = try #require(run.history.versions.first)
        let store = try run.history.store(at: first, in: workshop)
        let executable = try ChildProcess.executable("\(run.history.name)Migrator")
        let policy = try #require(run.policy)
        let plan = try ChildProcess(executable, ["plan", store, "--models", run.history.models])
        #expect(plan.status == 0, "\(plan.errors)")
        let line = "    policy: \(policy), called again for every row in stage 2 (createsRelationships)\n"
        #expect(plan.output.contains(line), "\(plan.output)")
    }

    /// Declares that it links nothing in stage 2.
    private final class DeclaringPolicy: EntityMigrationPolicy {
        override class var createsRelationships: Bool { false }
    }

    @Test("a plan says so by what the policy declares")
    func plansDeclaredPolicies() throws {
        let workshop = try Workshop()
        let history = ColourfulPostsTests.history
        let store = try history.store(at: "v2", in: workshop)
        var options = MigrationOptions()
        options.target = "v3"
        var declaring = MigrationCode()
        declaring.register(DeclaringPolicy.self, as: "PostToSectionsPolicy")
        for (code, isCalled) in [(history.code, true), (declaring, false)] {
            let plan = try Migrator(store: store, models: history.models, options: options, code: code).plan()
            let mappings = plan.steps.flatMap(\.passes).compactMap(\.mapping)
            #expect(mappings.filter { $0.policy == nil }.allSatisfy { !$0.createsRelationships })
            #expect(mappings.filter { $0.policy != nil }.map(\.createsRelationships) == [isCalled])
        }
    }

    @Test("Tracks migrates by its stages")
    func migratesByStages() async throws {
        let workshop = try Workshop()
        try await expectMigration(try TracksTests.history.get(), in: workshop)
    }

    @Test("Jumps and Detour need no code: the plain command migrates them", arguments: JumpsTests.histories)
    func migratesWithoutCode(_ history: ExampleHistory) async throws {
        let workshop = try Workshop()
        try await expectMigration(history, executable: "causeway", in: workshop)
    }

    @Test("Detour: the version that can't be read is listed with the reason, and refused as a target")
    func brokenVersion() throws {
        let workshop = try Workshop()
        let (detour, causeway) = (JumpsTests.detour, try ChildProcess.executable("causeway"))
        let listed = try ChildProcess(causeway, ["models", detour.models])
        #expect(listed.status == 78, "\(listed.errors)")
        #expect(listed.output.contains("line 8, Trip.stops:"), "\(listed.output)")
        #expect(listed.output.contains("v3 → v4: not compared"), "\(listed.output)")
        let store = try detour.store(at: "v1", in: workshop)
        for arguments in [["--to", "v3"], ["--next", "v2=v3"]] {
            let refused = try ChildProcess(causeway, ["migrate", store, "--models", detour.models] + arguments)
            #expect(refused.status == 78, "\(arguments): \(refused.output)")
        }
    }

    private func expectMigration(
        _ history: ExampleHistory, executable: String? = nil, in workshop: borrowing Workshop
    ) async throws {
        let first = try #require(history.versions.first)
        let last = try #require(history.versions.last)
        let store = try history.store(at: first, in: workshop)
        let executable = try ChildProcess.executable(executable ?? "\(history.name)Migrator")
        let files = try StoreContent.externalFiles(store)
        let process = try ChildProcess(executable, ["migrate", store, "--models", history.models])
        #expect(process.status == 0, "\(process.errors)")
        #expect(process.output.contains("\(first) → \(last)"), "\(process.output)")
        let names = try FileManager.default.contentsOfDirectory(
            atPath: URL(filePath: store).deletingLastPathComponent().path())
        let backup = URL(filePath: store).lastPathComponent + ".premigration-"
        #expect(names.filter { $0.hasPrefix(backup) && $0.count == backup.count + 8 }.count == 1)
        #expect(try StoreContent.externalFiles(store) == files)
        // The process writes the same store as the library.
        let source = try history.store(at: first, in: workshop, as: "again.sqlite")
        let result = try await history.migrate(source, to: last, in: workshop)
        StoreContent.expectSame(try StoreContent.dump(store), try StoreContent.dump(result), "process and library")
        let again = try ChildProcess(executable, ["plan", store, "--models", history.models])
        #expect(again.status == 0, "\(again.errors)")
    }

    @Test("a policy that isn't registered stops the plan, and is named", arguments: runs)
    func unknownPolicy(_ run: Run) throws {
        let policy = try #require(run.policy)
        let workshop = try Workshop()
        let copy = workshop.url.appending(path: "models")
        try FileManager.default.copyItem(at: run.history.folder, to: copy)
        for file in try FileManager.default.contentsOfDirectory(at: copy, includingPropertiesForKeys: nil)
        where file.pathExtension == "xcmappingmodel" {
            let xml = file.appending(path: "xcmapping.xml")
            let text = try String(contentsOf: xml, encoding: .utf8)
            try text.replacing(policy, with: "Mistyped\(policy)").write(to: xml, atomically: true, encoding: .utf8)
        }
        let store = try run.history.store(at: try #require(run.history.versions.first), in: workshop)
        let before = try Data(contentsOf: URL(filePath: store))
        let process = try ChildProcess(
            try ChildProcess.executable("\(run.history.name)Migrator"),
            ["migrate", store, "--models", copy.appending(path: "\(run.history.name).xcdatamodeld").path()])
        #expect(process.status == 78, "\(process.output)")
        #expect(process.errors.contains("Mistyped\(policy)"), "\(process.errors)")
        #expect(try Data(contentsOf: URL(filePath: store)) == before)
    }
}
