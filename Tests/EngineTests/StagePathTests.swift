import CausewayEngine
import CausewayModel
import CausewayObjects
import CausewayPreparation
import CausewayStoreFormat
import CausewayStores
import Testing

/// Stages against the models and a store's version.
@Suite("Stages: the path of a store", .timeLimit(.minutes(60)))
struct StagePathTests {
    /// V1 to V5, each with one more attribute. V6 differs from V5 only in an index and shares its hashes.
    static func scenario() throws -> Scenario {
        func version(_ count: Int) -> String {
            model(entity("Note", (1...count).map { attribute("a\($0)") }.joined()))
        }
        return try Scenario(version(1), version(2), version(3), version(4), version(5), version(5))
    }

    let history: ModelHistory
    let scenario: Scenario

    init() throws {
        scenario = try Self.scenario()
        history = try ModelHistory(reading: scenario.models, edges: [:])
    }

    func metadata(_ version: String, hashesVersion: Int64 = 3) throws -> StoreMetadata {
        var metadata = StoreMetadata(
            uuid: Scenario.uuid, entityHashes: try history.version(named: version).hashes.entities,
            versionIdentifiers: [], frameworkVersion: 1509)
        metadata.hashesVersion = hashesVersion
        return metadata
    }

    func path(_ stages: [any MigrationStage], from: String, to: String) throws -> StagedPath {
        try StagedPath(
            try StagedMigration(stages), history: history, metadata: try metadata(from), target: to, store: "Store")
    }

    func checksum(_ version: String) throws -> String { try history.version(named: version).hashes.checksum }

    static let nothing: CustomMigrationStage.Handler = { _, _ in }
    static func custom(_ from: String, _ to: String) -> CustomMigrationStage {
        CustomMigrationStage(
            migratingFrom: .init(from), to: .init(to), willMigrate: Self.nothing, didMigrate: Self.nothing)
    }

    @Test("every version of a lightweight stage is a hop of its own")
    func everyHop() throws {
        let path = try path([LightweightMigrationStage(["V1", "V2", "V3", "V4"])], from: "V1", to: "V4")
        #expect(path.hops.map(\.to) == ["V2", "V3", "V4"])
        #expect(path.versions == ["V1", "V2", "V3", "V4"])
        #expect(path.hops.allSatisfy { $0.stage == "stage 1 “V1 → V2 → V3 → V4”" })
        #expect(path.runs.allSatisfy { $0.handlers.isEmpty })
    }

    @Test("the hop into a stage's first version is inferred; only the stage's own hop has its handlers")
    func leadingIn() throws {
        for first in [["V1"], ["V1", "V2"]] {
            let path = try path(
                [LightweightMigrationStage(first), Self.custom("V2", "V3"), LightweightMigrationStage(["V4"])],
                from: "V1", to: "V4")
            #expect(path.hops.map(\.from) == ["V1", "V2", "V3"])
            #expect(path.hops.map { $0.willMigrate != nil } == [false, true, false])
            #expect(path.hops.map { $0.didMigrate != nil } == [false, true, false])
            // willMigrate runs on the store, which is at V2 already: no copy is made for it.
            #expect(path.versions == ["V1", "V2", "V3", "V4"])
            #expect(path.runs.map { $0.handlers.map(\.moment) } == [[.willMigrate], [.didMigrate], []])
        }
    }

    @Test("a willMigrate at the store's own version runs on a copy")
    func copy() throws {
        let path = try path([Self.custom("V1", "V2"), Self.custom("V2", "V3")], from: "V1", to: "V3")
        #expect(path.versions == ["V1", "V1", "V2", "V3"])
        #expect(
            path.runs.map { $0.handlers.map(\.moment) } == [
                [.willMigrate], [.didMigrate, .willMigrate], [.didMigrate],
            ])
        #expect(path.runs[1].handlers.map(\.number) == [0, 1])
        #expect(path.runs[1].handlers.map(\.version) == ["V2", "V2"])
        #expect(path.runs[0].handlers[0].title == "stage 1 “V1 → V2”, willMigrate at “V1”")
    }

    @Test("a store in between takes the remaining hops; one at the target takes none", arguments: ["V2", "V3", "V4"])
    func middle(_ version: String) throws {
        let stages: [any MigrationStage] = [
            Self.custom("V1", "V2"), LightweightMigrationStage(["V3"]), Self.custom("V3", "V4"),
        ]
        let path = try path(stages, from: version, to: "V4")
        #expect(path.hops.map(\.from) == ["V2", "V3", "V4"].drop { $0 != version }.dropLast())
    }

    @Test("versions after the last stage follow one by one, along the history's edges")
    func tail() throws {
        let stages = [LightweightMigrationStage(["V1"]), LightweightMigrationStage(["V2"])]
        #expect(try path(stages, from: "V1", to: "V4").hops.map(\.to) == ["V2", "V3", "V4"])
        #expect(try path(stages, from: "V1", to: "V4").hops.map { $0.stage == nil } == [false, true, true])
        let routed = try ModelHistory(reading: scenario.models, edges: ["V2": "V4"])
        let path = try StagedPath(
            try StagedMigration(stages), history: routed, metadata: try metadata("V1"), target: "V4", store: "Store")
        #expect(path.hops.map(\.to) == ["V2", "V4"])
    }

    @Test("checksums are as good as names, and both are compared")
    func checksums() throws {
        let (first, second) = (try checksum("V1"), try checksum("V2"))
        let path = try path(
            [
                LightweightMigrationStage([first, "V2"]),
                CustomMigrationStage(
                    migratingFrom: .init(second), to: .init(name: "V3", versionChecksum: try checksum("V3"))),
            ], from: "V1", to: "V3")
        #expect(path.hops.map(\.from) == ["V1", "V2"])
        let error = try failure {
            _ = try self.path(
                [CustomMigrationStage(migratingFrom: "V1", to: .init(name: "V2", versionChecksum: first))],
                from: "V1", to: "V2")
        }
        #expect(error.kind == .plan)
        #expect(error.message.contains(first) && error.message.contains(second) && error.message.contains("“V2”"))
        #expect(!error.remedy.isEmpty)
    }

    @Test("duplicates and equal ends under different names are found when the models are known")
    func hiddenDuplicates() throws {
        let first = try checksum("V1")
        for stages: [any MigrationStage] in [
            [LightweightMigrationStage(["V1", "V2", first])], [LightweightMigrationStage(["V1", "V5", "V4", "V6"])],
        ] {
            let error = try failure { _ = try path(stages, from: "V1", to: "V2") }
            #expect(error.kind == .plan)
            #expect(error.message.hasPrefix("Duplicate version checksums across stages detected"))
        }
        let error = try failure {
            _ = try path([CustomMigrationStage(migratingFrom: "V1", to: .init(first))], from: "V1", to: "V2")
        }
        #expect(error.message.contains("begins and ends with"))
    }

    @Test("of versions that share their hashes, the one that is the target is made")
    func sharedHashes() throws {
        #expect(try path([LightweightMigrationStage(["V1", "V6"])], from: "V1", to: "V5").hops.map(\.to) == ["V5"])
        #expect(
            try path([LightweightMigrationStage(["V1", try checksum("V5")])], from: "V1", to: "V5").hops.map(\.to)
                == ["V5"])
    }

    enum Wrong: CaseIterable, CustomTestStringConvertible {
        case store, target, name, checksum
        var testDescription: String { "unknown \(self)" }
    }

    @Test("a version that no stage or no model knows has Core Data's code 134504", arguments: Wrong.allCases)
    func unknown(_ wrong: Wrong) throws {
        let light = LightweightMigrationStage(["V2", "V3"])
        let error = try failure {
            switch wrong {
            case .store: _ = try path([light], from: "V1", to: "V3")
            case .target: _ = try path([light], from: "V2", to: "V1")
            case .name: _ = try path([light, LightweightMigrationStage(["V9"])], from: "V2", to: "V3")
            case .checksum:
                _ = try path([light, LightweightMigrationStage([StageCheckTests.other])], from: "V2", to: "V3")
            }
        }
        #expect(error.kind == .plan)
        #expect(error.message.contains("134504"))
        #expect(!error.remedy.isEmpty)
        switch wrong {
        case .store, .target:
            #expect(error.message.hasPrefix("Cannot use staged migration with an unknown model version."))
            #expect(error.message.contains("“V1”"))
        case .name: #expect(error.message.contains("“V9”"))
        case .checksum: #expect(error.message.contains(StageCheckTests.other))
        }
    }

    @Test("a store past the last stage is unknown to them, as in Core Data")
    func pastTheLastStage() throws {
        let error = try failure {
            _ = try path([LightweightMigrationStage(["V1", "V2"])], from: "V3", to: "V4")
        }
        #expect(error.message.contains("134504"))
        #expect(error.remedy == "name the version in a lightweight stage before the others")
    }

    @Test("a target before the store's version has Core Data's code 134506")
    func backwards() throws {
        let error = try failure {
            _ = try path([LightweightMigrationStage(["V1", "V2", "V3"])], from: "V3", to: "V1")
        }
        #expect(error.kind == .plan)
        #expect(error.message.contains("134506") && error.message.contains("cannot be migrated backwards"))
    }

    @Test("a store with invalid hashes has Core Data's code 134505", arguments: [true, false])
    func tooOld(_ hasHashes: Bool) throws {
        var metadata = try metadata("V1", hashesVersion: 2)
        if !hasHashes { (metadata.entityHashes, metadata.hashesVersion) = ([:], 3) }
        let error = try failure {
            _ = try StagedPath(
                try StagedMigration([LightweightMigrationStage(["V1", "V2"])]), history: history, metadata: metadata,
                target: "V2", store: "Store")
        }
        #expect(error.kind == .plan)
        #expect(error.message.contains("134505"))
    }

    @Test("a store without the checksum key of newer frameworks is migrated too")
    func withoutChecksumKey() throws {
        let metadata = try metadata("V1")
        #expect(metadata.checksum == nil)
        #expect(try path([LightweightMigrationStage(["V1", "V2"])], from: "V1", to: "V2").hops.count == 1)
    }
}
