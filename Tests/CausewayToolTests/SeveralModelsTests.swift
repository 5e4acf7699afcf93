import Causeway
import Foundation
import Testing

/// `--models` given several times: parts of one model, versions in several places, stores.
@Suite("A model in several files", .timeLimit(.minutes(60)))
struct SeveralModelsTests {
    private static let name = ModelFolder.attribute("name")
    private static let book = ModelFolder.entity("Book", name)
    private static let moreBook = ModelFolder.entity("Book", name, ModelFolder.attribute("year", "Integer 16"))
    private static let user = ModelFolder.entity("User", name)
    private static let moreUser = ModelFolder.entity("User", name, ModelFolder.attribute("age", "Integer 16"))

    private static let bothParts = ["--models", "Books.xcdatamodel", "--models", "Users.xcdatamodel"]

    private static func report(_ models: ModelFolder, _ paths: String...) throws -> ModelsReport {
        try ModelsReport(models: paths.map { models.path($0) })
    }

    // MARK: - Parts

    @Test("models without a common entity are merged, and a store of all their entities has that version")
    func parts() throws {
        let models = try ModelFolder()
        _ = try models.model("Books", [Self.book])
        _ = try models.model("Users", [Self.user])
        try models.bundle("Whole", [("V1", [Self.book, Self.user])])
        let store = try models.store("Store.sqlite", of: "Whole.xcdatamodeld", version: "V1")
        let whole = try Self.report(models, "Whole.xcdatamodeld")
        let merged = try Self.report(models, "Books.xcdatamodel", "Users.xcdatamodel")
        #expect(merged.versions.map(\.name) == ["Books + Users"])
        #expect(merged.versions.map(\.entityHashes) == whole.versions.map(\.entityHashes))
        #expect(merged.versions.map(\.checksum) == whole.versions.map(\.checksum))
        for command in [["inspect", store], ["verify", store], ["compare", store, store]] {
            let run = try ToolProcess(command + Self.bothParts, in: models.folder.url)
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.output.contains("Books + Users"), "\(command)")
        }
        for options in [[], ["--salvage"]] {
            let output = models.path("Out\(options.count)")
            let run = try ToolProcess(
                ["export", store, "--output", output, "--json"] + options + Self.bothParts, in: models.folder.url)
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.output.contains("\"Books + Users\""), "\(run.output)")
        }
    }

    @Test("parts with versions of the same names are merged version by version, and a store goes from one to the next")
    func histories() throws {
        let models = try ModelFolder()
        try models.bundle("Books", [("V1", [Self.book]), ("V2", [Self.moreBook])], current: "V2")
        try models.bundle("Users", [("V1", [Self.user]), ("V2", [Self.moreUser])], current: "V2")
        _ = try models.model("Tags", [ModelFolder.entity("Tag", Self.name)])
        try models.bundle("Whole", [("W", [Self.book, Self.user, ModelFolder.entity("Tag", Self.name)])])
        let store = try models.store("Store.sqlite", of: "Whole.xcdatamodeld", version: "W")
        let given = ["Books.xcdatamodeld", "Users.xcdatamodeld", "Tags.xcdatamodel"].flatMap { ["--models", $0] }
        let run = try ToolProcess(["migrate", store] + given, in: models.folder.url)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("V1 → V2, 20 rows"))
        let inspection = try StoreInspection(
            store: store,
            models: ["Books.xcdatamodeld", "Users.xcdatamodeld", "Tags.xcdatamodel"].map { models.path($0) })
        #expect(inspection.versions == ["V2"])
        let list = try ToolProcess(["backups", store] + given, in: models.folder.url)
        #expect(list.status == 0 && list.output.contains("  premigration  V1  "), "\(list.output) \(list.errors)")
    }

    @Test("an entity in two parts is one where the hashes are equal, and named with both files where they aren't")
    func sharedEntity() throws {
        let models = try ModelFolder()
        let tag = ModelFolder.entity("Tag", Self.name)
        _ = try models.model("Books", [Self.book, tag])
        _ = try models.model("Users", [Self.user, tag])
        let merged = try Self.report(models, "Books.xcdatamodel", "Users.xcdatamodel")
        #expect(merged.versions.first?.entityHashes.keys.sorted() == ["Book", "Tag", "User"])
        _ = try models.model("Users", [Self.user, ModelFolder.entity("Tag", ModelFolder.attribute("text"))])
        let run = try models.run("models", "Books.xcdatamodel", "Users.xcdatamodel")
        #expect(run.status == 78)
        for word in ["Tag", "Books.xcdatamodel", "Users.xcdatamodel", "different hashes"] {
            #expect(run.errors.contains(word), "\(run.errors)")
        }
    }

    @Test("parts whose versions have different names are refused with the lists of both")
    func ambiguous() throws {
        let models = try ModelFolder()
        try models.bundle("Books", [("V1", [Self.book]), ("V2", [Self.moreBook])])
        try models.bundle("Users", [("U1", [Self.user]), ("U2", [Self.moreUser])])
        let run = try models.run("models", "Books.xcdatamodeld", "Users.xcdatamodeld")
        #expect(run.status == 78)
        #expect(run.errors.contains("V1, V2"))
        #expect(run.errors.contains("U1, U2"))
        #expect(run.errors.contains("belong together"))
    }

    // MARK: - Versions

    @Test("versions in files of their own follow each other as given")
    func singleVersions() throws {
        let models = try ModelFolder()
        _ = try models.model("Zebra", [Self.book])
        _ = try models.model("Ape", [Self.moreBook])
        let report = try Self.report(models, "Zebra.xcdatamodel", "Ape.xcdatamodel")
        #expect(report.versions.map(\.name) == ["Zebra", "Ape"])
        #expect(report.currentVersion == "Ape")
        #expect(report.steps.map(\.isInferable) == [true])
    }

    @Test("a version that two bundles have under two names is one, and a notice says which name counts")
    func twoNames() throws {
        let models = try ModelFolder()
        try models.bundle("old/App", [("App", [Self.book]), ("App 2", [Self.moreBook])])
        try models.bundle("new/App", [("V2", [Self.moreBook])])
        let report = try ModelsReport(models: ["old", "new"].map { models.path($0 + "/App.xcdatamodeld") })
        #expect(report.versions.map(\.name) == ["App", "App 2"])
        #expect(
            report.notices.contains {
                $0.hasPrefix("“V2” of ") && $0.hasSuffix("and “App 2” counts, because it was given first")
            })
    }

    @Test("two bundles with a version in common make one line, in whatever order they are given")
    func overlapping() throws {
        let models = try ModelFolder()
        let last = ModelFolder.entity("Book", Self.name, ModelFolder.attribute("pages", "Integer 32"))
        try models.bundle("old/App", [("App", [Self.book]), ("App 2", [Self.moreBook])], current: "App 2")
        try models.bundle("new/App", [("App 2", [Self.moreBook]), ("App 3", [last])], current: "App 3")
        for paths in [["old", "new"], ["new", "old"]] {
            let report = try ModelsReport(models: paths.map { models.path($0 + "/App.xcdatamodeld") })
            #expect(report.versions.map(\.name) == ["App", "App 2", "App 3"])
            #expect(report.currentVersion == "App 3")
        }
        try models.bundle("odd/App", [("App 3", [last]), ("App 4", [Self.book])])
        let circle = try models.run("models", "old/App.xcdatamodeld", "new/App.xcdatamodeld", "odd/App.xcdatamodeld")
        #expect(circle.status == 78)
        #expect(circle.errors.contains("different orders"))
    }

    @Test("two versions of the same name are told apart by their files")
    func sameName() throws {
        let models = try ModelFolder()
        _ = try models.model("1/App", [Self.book])
        _ = try models.model("2/App", [Self.moreBook])
        let run = try models.run("models", "1/App.xcdatamodel", "2/App.xcdatamodel", "--json")
        let report = try JSONDecoder().decode(ModelsReport.self, from: Data(run.output.utf8))
        #expect(report.versions.map(\.name) == ["App", "App (2/App.xcdatamodel)"])
    }

    // MARK: - Stores

    @Test("stores make a path in the order given, and a store is migrated along it")
    func stores() throws {
        let models = try ModelFolder()
        let last = ModelFolder.entity("Book", Self.name, ModelFolder.attribute("pages", "Integer 32"))
        try models.bundle("App", [("V1", [Self.book]), ("V2", [Self.moreBook]), ("V3", [last])])
        for version in ["V1", "V2", "V3"] {
            _ = try models.store("\(version).sqlite", of: "App.xcdatamodeld", version: version)
        }
        let report = try Self.report(models, "V1.sqlite", "V2.sqlite", "V3.sqlite")
        #expect(report.versions.map(\.name) == ["V1.sqlite", "V2.sqlite", "V3.sqlite"])
        #expect(report.steps.count == 2)
        let run = try models.run(
            "migrate", "V1.sqlite", "--models", "V1.sqlite", "--models", "V2.sqlite", "--models", "V3.sqlite")
        #expect(run.status == 0, "\(run.errors)")
        #expect(
            try StoreInspection(store: models.path("V1.sqlite"), models: models.path("App.xcdatamodeld")).versions == [
                "V3"
            ])
    }

    @Test("a store that shares nothing with the models beside it is refused")
    func foreignStore() throws {
        let models = try ModelFolder()
        try models.bundle("App", [("V1", [Self.book])])
        try models.bundle("Other", [("V1", [Self.user])])
        _ = try models.store("Other.sqlite", of: "Other.xcdatamodeld", version: "V1")
        let run = try models.run("models", "App.xcdatamodeld", "Other.sqlite")
        #expect(run.status == 78)
        #expect(run.errors.contains("never a part of a model"))
    }

    @Test(
        "real stores: three caches of Wire make a path that the oldest is planned along",
        .enabled(if: SharedStores.exist))
    func wire() throws {
        let folder = try WorkFolder()
        var paths: [String] = []
        for version in ["2-75-0", "2-77-0", "2-78-0"] {
            paths.append(
                try folder.copy(SharedStores.path("wire/store\(version).wiredatabase"), as: "\(version).sqlite"))
        }
        let report = try ModelsReport(models: paths)
        #expect(report.versions.count == 3)
        let plan = try ToolProcess(["plan", paths[0], "--json"] + paths.flatMap { ["--models", $0] })
        #expect(plan.status == 0, "\(plan.errors)")
        let decoded = try JSONDecoder().decode(MigrationPlan.self, from: Data(plan.output.utf8))
        #expect(decoded.path == report.versions.map(\.name))
    }
}
