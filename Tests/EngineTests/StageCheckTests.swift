import CausewayObjects
import Testing

/// Errors in stages that are found before any model is known.
@Suite("Stages: checks on construction", .timeLimit(.minutes(60)))
struct StageCheckTests {
    static let checksum = "u970Qgh0Zb7oSuPiRVLGkiAMlZ3mNqqVAAAAAAAAAik="
    static let other = "kk8XL4OkE7gYLFHTrH6W+EhTw8w14uq1klkVRPiuiAk="

    static func light(_ versions: String...) -> any MigrationStage { LightweightMigrationStage(versions) }
    static func custom(_ from: String, _ to: String) -> any MigrationStage {
        CustomMigrationStage(migratingFrom: .init(from), to: .init(to))
    }

    @Test(
        "a version in two places is refused, however it is named",
        arguments: [
            [light("A", "A")], [light("A", "B", "A")], [light("A", "B"), light("A")],
            [light("A"), light("B"), light("A")],
            [custom("A", "B"), custom("A", "C")], [custom("A", "B"), light("C"), custom("B", "D")],
            [custom("B", "C"), light("A"), light("C")], [light(checksum, "B"), light(checksum)],
            [custom("A", "B"), custom("B", "A")],
        ])
    func duplicates(_ stages: [any MigrationStage]) throws {
        let error = try #require(throws: StagedMigrationError.self) { try StagedMigration(stages) }
        #expect(error.code == .duplicateVersions)
        #expect(error.message.hasPrefix("Duplicate version checksums across stages detected"))
        #expect(error.code.coreDataCode == nil)
    }

    @Test(
        "a custom stage leads from one version to another",
        arguments: [
            (ManagedObjectModelReference("A"), ManagedObjectModelReference("A")),
            (.init(checksum), .init(checksum)),
            (.init(name: "A", versionChecksum: checksum), .init(name: "B", versionChecksum: checksum)),
            (.init(name: "A", versionChecksum: checksum), .init("A")),
        ])
    func equalEnds(_ from: ManagedObjectModelReference, _ to: ManagedObjectModelReference) throws {
        let error = try #require(throws: StagedMigrationError.self) {
            try StagedMigration([CustomMigrationStage(migratingFrom: from, to: to)])
        }
        #expect(error.code == .equalEnds)
        #expect(error.remedy == "give it the version that it leads to")
    }

    @Test("no stages, and stages without versions, are refused", arguments: [[], [light()], [light("A"), light()]])
    func empty(_ stages: [any MigrationStage]) throws {
        let error = try #require(throws: StagedMigrationError.self) { try StagedMigration(stages) }
        #expect(error.code == .empty)
    }

    @Test(
        "a stage may begin where the last one ended, or with the next version",
        arguments: [
            [light("A"), custom("B", "C")], [light("A", "B"), custom("B", "C"), light("C", "D")],
            [custom("A", "B"), custom("B", "C"), light("D")], [custom("A", "B"), custom("C", "D")],
            [light("A"), light("A", "B")], [light(checksum), custom("B", other)],
        ])
    func orders(_ stages: [any MigrationStage]) throws {
        #expect(try StagedMigration(stages).stages.count == stages.count)
    }

    @Test("44 characters of base64 are a checksum, any other text is a name")
    func references() {
        #expect(ManagedObjectModelReference(Self.checksum).versionChecksum == Self.checksum)
        #expect(ManagedObjectModelReference(Self.checksum).name == nil)
        let name: ManagedObjectModelReference = "Model 2"
        #expect(name.name == "Model 2")
        #expect(name.versionChecksum == nil)
        for text in ["", "=", String(Self.checksum.dropLast()), Self.checksum + "=", String(repeating: "é", count: 22)]
        {
            #expect(ManagedObjectModelReference(text).name == text)
        }
    }

    @Test("stages can be listed as statements")
    func builder() throws {
        let isLong = true
        let stages = try StagedMigration {
            LightweightMigrationStage(["A", "B"], label: "first")
            CustomMigrationStage(migratingFrom: "B", to: "C", didMigrate: { _, _ in })
            if isLong { LightweightMigrationStage(["D"]) }
            for name in ["E", "F"] { LightweightMigrationStage([name]) }
        }
        #expect(stages.stages.map(\.label) == ["first", nil, nil, nil, nil])
    }

    @Test("errors have Core Data's codes beside ours")
    func codes() {
        let codes: [StagedMigrationError.Code] = [
            .modelReferenceNotFound, .frameworkVersionMismatch, .backwardMigration,
        ]
        #expect(codes.map(\.coreDataCode) == [134_504, 134_505, 134_506])
    }
}
