import Causeway
import Foundation
import Testing

/// Other apps' stores by their own policies and stages, killed at any event and run again.
@Suite(
    "Real stores: a killed run that is resumed gives the undisturbed run's store", .timeLimit(.minutes(60)),
    .enabled(if: SharedStores.isThere, "shared/stores is missing"))
struct CrashGoldenTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let example: PoliciesExample
        var edits = ""
        var batchRows = 7
        var jobs = 2
        var fusesSteps = true
        var isOutput = false

        var testDescription: String { "\(example.name)\(isOutput ? ", to an output" : "")" }
    }

    private static func staged(
        _ name: String, _ store: String, _ models: String, to target: String, _ stages: StagedMigration
    ) -> PoliciesExample {
        var code = MigrationCode()
        code.stages = stages
        return PoliciesExample(name: name, store: store, models: models, target: target, code: code)
    }

    static let cases = Result {
        let moody = MappingModelMoodyTests.Step(from: 1, to: 6).example
        var colors = MappingModelPostsTests.colors
        colors.name += ", 300 of them"
        return [
            Case(example: MappingModelPostsTests.colourful, batchRows: 1),
            Case(example: MappingModelPostsTests.independent, batchRows: 1, jobs: 4, isOutput: true),
            Case(example: colors, edits: "DELETE FROM ZPOST WHERE Z_PK > 300", batchRows: 50),
            Case(example: moody, batchRows: 20),
            Case(example: moody, batchRows: 20, fusesSteps: false, isOutput: true),
            Case(example: MappingModelMoodyTests.Step(from: 5, to: 6).example),
            Case(example: MappingModelCarsTests.compiled),
            Case(example: MappingModelCareKitTests.example, batchRows: 1),
            Case(
                example: staged(
                    "SampleModel3 v1 → v3", "coredataplus/SampleModel3_V1.sqlite",
                    "coredataplus/SampleModel3.xcdatamodeld", to: "SampleModel3_v3",
                    try StagedMigration([
                        CustomMigrationStage(
                            migratingFrom: "SampleModel3", to: "SampleModel3_v2",
                            didMigrate: StagedMigrationTests.givePets()),
                        LightweightMigrationStage(["SampleModel3_v2", "SampleModel3_v3"]),
                    ])), batchRows: 1),
            Case(
                example: staged(
                    "Students v1 → v4", "students/OldStudentsStore.sqlite", "students/TestModel.xcdatamodeld",
                    to: "Model4", try StagedMigrationTests.studentStages()), batchRows: 1),
        ]
    }

    @Test("at sampled events, or at all of them", arguments: (try? cases.get()) ?? [])
    func killed(_ test: Case) async throws {
        let folder = try TemporaryFolder()
        let stores = folder.url.appending(path: "stores")
        try FileManager.default.createDirectory(at: stores, withIntermediateDirectories: true)
        let example = test.example
        let store = try folder.copyStore(StoreRows.shared(example.store), as: "stores/Store.sqlite")
        if !test.edits.isEmpty { try StoreRows.execute(store, test.edits) }
        var options = MigrationOptions()
        options.target = example.target
        options.mappingModels = example.mappings.map { StoreRows.shared($0) }
        options.frameworkVersion = example.frameworkVersion
        options.batchRows = test.batchRows
        options.jobs = test.jobs
        options.fusesSteps = test.fusesSteps
        options.checkpointInterval = 0
        if test.isOutput { options.output = folder.path("stores/Result.sqlite") }
        let crash = CrashSnapshots(
            name: test.testDescription, models: StoreRows.shared(example.models), code: example.code, options: options,
            random: Set(example.random))
        #expect(try await crash.check(store, in: stores) > 0)
    }

    @Test("all cases are there")
    func complete() throws {
        #expect(try Self.cases.get().count == 10)
    }
}
