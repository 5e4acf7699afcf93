import Causeway
import CausewayCheckers
import CausewaySQLite
import Foundation
import Synchronization
import Testing

/// Real stores in stages, as their apps migrate them with `NSStagedMigrationManager` (CATALOG.md).
@Suite(.timeLimit(.minutes(60)), .enabled(if: SharedStores.isThere, "shared/stores is missing"))
struct StagedMigrationTests {
    private static func rows(_ sql: String, _ store: String) throws -> [String] {
        let connection = try Connection(path: store, mode: .readOnly, hardening: .untrusted)
        var statement = try connection.prepare(sql)
        var result: [String] = []
        while try statement.step() {
            var cells: [String] = []
            for index in 0..<statement.columnCount {
                cells.append(statement.isNull(at: index) ? "NULL" : try statement.string(at: index) ?? "")
            }
            result.append(cells.joined(separator: "|"))
        }
        return result
    }

    private static func execute(_ sql: String, _ store: String) throws {
        let connection = try Connection(path: store, mode: .readWrite, hardening: .own)
        try connection.execute(sql)
    }

    private static func migrate(
        _ store: String, _ models: String, _ stages: StagedMigration, to target: String,
        set: (inout MigrationOptions) -> Void = { _ in }
    ) async throws {
        var options = MigrationOptions()
        options.target = target
        set(&options)
        var code = MigrationCode()
        code.stages = stages
        try await Migrator(store: store, models: SharedStores.path(models), options: options, code: code).migrate()
    }

    private func expectSound(_ store: String) throws {
        let schema = try Checker.schema(store)
        #expect(schema.status == 0, "\(schema.text)")
        let hashes = try Checker.hashes(store)
        #expect(hashes.status == 0, "\(hashes.text)")
    }

    /// Expects that the store's content is unchanged, and that the run left no files. Taking over a WAL store
    /// checkpoints its -wal, so the header's bytes aren't compared.
    private func expectUntouched(_ store: String, _ original: String, in folder: borrowing TemporaryFolder) throws {
        #expect(try Checker.compare(store, original).isEmpty)
        let names = try folder.snapshot().keys.map { name in
            ["-wal", "-shm"].contains { name.hasSuffix($0) } ? String(name.dropLast(4)) : name
        }
        #expect(Set(names) == ["Store.sqlite", "Original.sqlite"])
    }

    // MARK: - SampleModel3: pets made from names

    private static let pets = "coredataplus/SampleModel3_V1.sqlite"
    /// The checksums of `SampleModel3.momd/VersionInfo.plist`.
    private static let checksums = [
        "u970QgYhRHEJGIt0zQr1UhuZL2ZJ1KxBS+B7rkAx0ik=", "rzn6eNBLyn8k3AoC3kH3yymPT0vSUPaVcgi0v2SuHS8=",
        "HFFd7j8Z9/s0tJ1vqPzVSPX/pNYEbNAlXayypitIFow=",
    ]

    static func givePets(failingAt failing: Int = .max) -> CustomMigrationStage.Handler {
        { manager, _ in
            let context = manager.context
            var done = 0
            try context.forEach(FetchRequest("User", where: "petName != nil")) { user in
                if done == failing { throw CocoaError(.coderInvalidValue) }
                let pet = try context.insert("Pet")
                try pet.set("name", to: user.string("petName"))
                try user.set("pet", to: pet)
                done += 1
            }
        }
    }

    private func expectPets(_ result: String) throws {
        try expectSound(result)
        #expect(
            try Self.rows("SELECT * FROM Z_PRIMARYKEY", result) == ["1|Pet|0|12", "2|User|0|12"])
        let before = try Self.rows(
            "SELECT Z_PK, ZNAME, ZPETNAME FROM ZUSER ORDER BY Z_PK",
            SharedStores.path(Self.pets))
        // Every user kept its key and has the pet of its old name, whose owner it is.
        let after = try Self.rows(
            """
            SELECT u.Z_PK, u.ZNAME, p.ZNAME FROM ZUSER u JOIN ZPET p ON u.ZPET = p.Z_PK AND p.ZOWNER = u.Z_PK \
            WHERE u.Z_ENT = 2 AND p.Z_ENT = 1 ORDER BY u.Z_PK
            """, result)
        #expect(after == before)
        #expect(after.count == 12)
        #expect(
            try Self.rows("SELECT (SELECT count(*) FROM ZUSER), (SELECT count(*) FROM ZPET)", result) == ["12|12"])
        // Saved once with the handler's insert, and changed once by it.
        #expect(
            try Self.rows("SELECT DISTINCT Z_OPT FROM ZPET UNION ALL SELECT DISTINCT Z_OPT FROM ZUSER", result) == [
                "1", "2",
            ])
    }

    @Test(
        "SampleModel3 v1 → v3: every user gets a pet of the old petName",
        arguments: ["coredataplus/SampleModel3.xcdatamodeld", "coredataplus/SampleModel3.momd"], [true, false])
    func sampleModel(_ models: String, byChecksum: Bool) async throws {
        let folder = try TemporaryFolder()
        let store = try folder.copyStore(SharedStores.path(Self.pets), as: "Store.sqlite")
        let (first, second, third) = ("SampleModel3", "SampleModel3_v2", "SampleModel3_v3")
        let stages = try StagedMigration {
            CustomMigrationStage(
                migratingFrom: .init(name: first, versionChecksum: byChecksum ? Self.checksums[0] : nil),
                to: byChecksum ? .init(Self.checksums[1]) : .init(second), label: "pets",
                didMigrate: Self.givePets())
            LightweightMigrationStage([byChecksum ? Self.checksums[2] : third], label: "no more pet names")
        }
        try await Self.migrate(store, models, stages, to: third)
        try expectPets(store)
    }

    @Test("a handler that fails half-way leaves the store unchanged; the next run starts the stage over")
    func again() async throws {
        let folder = try TemporaryFolder()
        let store = try folder.copyStore(SharedStores.path(Self.pets), as: "Store.sqlite")
        let original = try folder.copyStore(SharedStores.path(Self.pets), as: "Original.sqlite")
        func stages(failingAt failing: Int = .max) throws -> StagedMigration {
            try StagedMigration([
                CustomMigrationStage(
                    migratingFrom: "SampleModel3", to: "SampleModel3_v2", label: "pets",
                    didMigrate: Self.givePets(failingAt: failing)),
                LightweightMigrationStage(["SampleModel3_v2", "SampleModel3_v3"]),
            ])
        }
        let models = "coredataplus/SampleModel3.xcdatamodeld"
        let failing = try stages(failingAt: 5)
        let error = try await #require(throws: MigrationError.self) {
            try await Self.migrate(store, models, failing, to: "SampleModel3_v3")
        }
        #expect(error.code == .sourceData)
        #expect(error.message.hasPrefix("stage 1 “pets”, didMigrate at “SampleModel3_v2”: "))
        #expect(!error.storeIsNew)
        try expectUntouched(store, original, in: folder)
        try await Self.migrate(store, models, try stages(), to: "SampleModel3_v3")
        try expectPets(store)
    }

    @Test("the rows don't depend on batch size or workers", arguments: [1, 7, 1_024], [1, 4])
    func batches(_ rows: Int, jobs: Int) async throws {
        let folder = try TemporaryFolder()
        let store = try folder.copyStore(SharedStores.path(Self.pets), as: "Store.sqlite")
        let stages = try StagedMigration([
            CustomMigrationStage(
                migratingFrom: "SampleModel3", to: "SampleModel3_v2", didMigrate: Self.givePets()),
            LightweightMigrationStage(["SampleModel3_v3"]),
        ])
        try await Self.migrate(store, "coredataplus/SampleModel3.momd", stages, to: "SampleModel3_v3") {
            $0.batchRows = rows
            $0.jobs = jobs
        }
        #expect(
            try Self.rows("SELECT Z_PK, ZOWNER FROM ZPET ORDER BY Z_PK", store) == (1...12).map { "\($0)|\($0)" })
        try expectPets(store)
    }

    // MARK: - Students: JSON is read before its attribute is removed

    private static let students = "students/OldStudentsStore.sqlite"
    private static let studentModels = "students/TestModel.xcdatamodeld"

    private struct Student: Decodable {
        var id: Int64
        var firstName: String
        var lastName: String
    }

    private static let decode: CustomMigrationStage.Handler = { manager, _ in
        try manager.context.forEach(FetchRequest("Student")) { row in
            let data = try row.data("data")
            let student = data.flatMap { try? JSONDecoder().decode(Student.self, from: Data($0)) }
            try row.set("firstName", to: student?.firstName)
            try row.set("lastName", to: student?.lastName)
            try row.set("id", to: .integer(student?.id ?? -1))
            try row.set("data", to: .null)
            try row.set("isMigrated", to: true)
        }
    }

    static func studentStages() throws -> StagedMigration {
        try StagedMigration {
            LightweightMigrationStage(["Model"], label: "room for names")
            CustomMigrationStage(
                migratingFrom: "Model2", to: "Model3", label: "JSON becomes attributes", willMigrate: decode)
            LightweightMigrationStage(["Model4"])
        }
    }

    /// Row 10 can't be decoded; row 9 has no JSON.
    private func studentStore(in folder: borrowing TemporaryFolder) throws -> String {
        let store = try folder.copyStore(SharedStores.path(Self.students), as: "Store.sqlite")
        try Self.execute(
            """
            UPDATE ZSTUDENT SET ZDATA = x'7B22' WHERE Z_PK = 10;
            UPDATE ZSTUDENT SET ZDATA = NULL WHERE Z_PK = 9;
            """, store)
        return store
    }

    private static let decoded = [
        "1|4|Stan|Marsh", "2|7|Tina|Belcher", "3|3|Eric|Cartman", "4|6|Kenny|McCormick", "5|9|Louise|Belcher",
        "6|0|Bart|Simpson", "7|2|Maggie|Simpson", "8|5|Kyle|Broflovski", "9|-1|NULL|NULL", "10|-1|NULL|NULL",
    ]

    @Test("Students v1 → v4: names and numbers are read from the JSON before its attribute is removed")
    func studentsToTheEnd() async throws {
        let folder = try TemporaryFolder()
        let store = try studentStore(in: folder)
        try await Self.migrate(store, Self.studentModels, try Self.studentStages(), to: "Model4")
        try expectSound(store)
        #expect(
            try Self.rows("SELECT Z_PK, ZID, ZFIRSTNAME, ZLASTNAME FROM ZPERSON ORDER BY Z_PK", store) == Self.decoded)
        #expect(try Self.rows("SELECT DISTINCT Z_ENT FROM ZPERSON", store) == ["2"])
        #expect(
            try Self.rows("SELECT Z_NAME FROM Z_PRIMARYKEY", store)
                == ["Person", "Student", "Teacher", "School", "TestSubject"])
        #expect(try Self.rows("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Person'", store) == ["10"])
    }

    @Test("Students v1 → v3 has what the stage set; v3 → v4 continues from there")
    func studentsHalfWay() async throws {
        let folder = try TemporaryFolder()
        let store = try studentStore(in: folder)
        try await Self.migrate(store, Self.studentModels, try Self.studentStages(), to: "Model3")
        try expectSound(store)
        #expect(
            try Self.rows("SELECT Z_PK, ZID, ZFIRSTNAME, ZLASTNAME FROM ZPERSON ORDER BY Z_PK", store) == Self.decoded)
        #expect(try Self.rows("SELECT DISTINCT ZISMIGRATED FROM ZPERSON", store) == ["1"])
        _ = try StoreBackup(store: store).purge()
        // The stage isn't run again: the store is at a later version.
        try await Self.migrate(store, Self.studentModels, try Self.studentStages(), to: "Model4")
        try expectSound(store)
        #expect(
            try Self.rows("SELECT Z_PK, ZID, ZFIRSTNAME, ZLASTNAME FROM ZPERSON ORDER BY Z_PK", store) == Self.decoded)
    }

    @Test("Students v2 → v4: a willMigrate at the store's own version works on a copy")
    func studentsFromTheStage() async throws {
        let folder = try TemporaryFolder()
        let store = try studentStore(in: folder)
        try await Self.migrate(
            store, Self.studentModels, try StagedMigration([LightweightMigrationStage(["Model", "Model2"])]),
            to: "Model2")
        _ = try StoreBackup(store: store).purge()
        let original = try folder.copyStore(store, as: "Original.sqlite")
        let failing = try StagedMigration([
            CustomMigrationStage(
                migratingFrom: "Model2", to: "Model3",
                willMigrate: { manager, stage in
                    try Self.decode(manager, stage)
                    throw CocoaError(.coderInvalidValue)
                })
        ])
        await #expect(throws: MigrationError.self) {
            try await Self.migrate(store, Self.studentModels, failing, to: "Model3")
        }
        try expectUntouched(store, original, in: folder)
        try await Self.migrate(store, Self.studentModels, try Self.studentStages(), to: "Model4")
        try expectSound(store)
        #expect(
            try Self.rows("SELECT Z_PK, ZID, ZFIRSTNAME, ZLASTNAME FROM ZPERSON ORDER BY Z_PK", store) == Self.decoded)
    }

    @Test("handlers run in the order of the stages, each on the store at its version")
    func order() async throws {
        let folder = try TemporaryFolder()
        let store = try studentStore(in: folder)
        let seen = Mutex<[String]>([])
        let note: @Sendable (String) -> CustomMigrationStage.Handler = { name in
            { manager, _ in
                let count = try manager.context.count(FetchRequest("Student"))
                seen.withLock { $0.append("\(name) \(manager.versionName) \(count)") }
            }
        }
        let stages = try StagedMigration {
            CustomMigrationStage(
                migratingFrom: "Model", to: "Model2", willMigrate: note("will 1"), didMigrate: note("did 1"))
            CustomMigrationStage(
                migratingFrom: "Model2", to: "Model3", willMigrate: note("will 2"), didMigrate: note("did 2"))
            CustomMigrationStage(migratingFrom: "Model3", to: "Model4", didMigrate: note("did 3"))
        }
        try await Self.migrate(store, Self.studentModels, stages, to: "Model4")
        #expect(
            seen.withLock { $0 } == [
                "will 1 Model 10", "did 1 Model2 10", "will 2 Model2 10", "did 2 Model3 10", "did 3 Model4 10",
            ])
    }

    @Test("a store at no stage's version, and an older target, are refused as by Core Data, before a byte is written")
    func refused() async throws {
        let folder = try TemporaryFolder()
        let store = try studentStore(in: folder)
        let before = try folder.snapshot()
        for (stages, target, code) in [
            (try StagedMigration([LightweightMigrationStage(["Model2", "Model3"])]), "Model3", "134504"),
            (try StagedMigration([LightweightMigrationStage(["Model2", "Model3", "Model"])]), "Model2", "134506"),
        ] {
            let error = try await #require(throws: MigrationError.self) {
                try await Self.migrate(store, Self.studentModels, stages, to: target)
            }
            #expect(error.code == .plan)
            #expect(error.message.contains(code))
            #expect(!error.remedy.isEmpty)
        }
        #expect(try folder.snapshot() == before)
    }
}
