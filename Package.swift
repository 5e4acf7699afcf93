// swift-tools-version: 6.2
import PackageDescription

/// One list for every target, so that the house has one set of rules.
let settings: [SwiftSetting] = [
    // `any` is written where a box is made: row loops must not hide one.
    .enableUpcomingFeature("ExistentialAny"),
    // A C type can't leak out of the target that imports its header.
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    // Async functions stay on the caller's executor; blocking work names its own threads.
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
    // Every pointer use and C call is marked, and so can be found and reviewed.
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

// Module names carry the product's name: an app that depends on us may have a `Model` or a `SQLite` of its own.
// Folders carry the layer's name, as in README's table of the house. Imports point downwards only; this list is the
// rule.
extension Target {
    /// A layer: module `Causeway<name>` in `Sources/<name>`.
    static func layer(
        _ name: String, _ dependencies: [Dependency] = [], settings own: [SwiftSetting] = []
    ) -> Target {
        .target(
            name: "Causeway\(name)", dependencies: dependencies, path: "Sources/\(name)", swiftSettings: settings + own)
    }

    /// A worked example's executable, beside the model history that it migrates.
    static func example(_ history: String) -> Target {
        .executableTarget(
            name: "\(history)Migrator", dependencies: ["CausewayTool", "Causeway"],
            path: "Fixtures/\(history)/Migrator", swiftSettings: settings)
    }

    /// A layer's tests: one test target a module.
    static func tests(_ name: String, _ dependencies: [Dependency]) -> Target {
        .testTarget(
            name: "Causeway\(name)Tests", dependencies: dependencies, path: "Tests/\(name)Tests",
            swiftSettings: settings)
    }
}

let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

/// Fuzz targets are linked with libFuzzer, which brings `main`: they are there only when `.ci/fuzz` asks for them.
let isFuzzing = Context.environment["CAUSEWAY_FUZZ"] != nil

let package = Package(
    name: "causeway",
    // Not iOS: its SDK has no zstd, which checkpoints and page maps are written with (article Limits).
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "Causeway", targets: ["Causeway"]),
        // Apart from `Causeway`: an app that migrates its store links no generator.
        .library(name: "CausewayGenerator", targets: ["CausewayGenerator"]),
        // Apart from `Causeway`, which needs no Foundation.
        .library(name: "CausewayFoundation", targets: ["CausewayFoundation"]),
        .library(name: "CausewayTool", targets: ["CausewayTool"]),
        .executable(name: "causeway", targets: ["CausewayMain"]),
        // Loaded into the command by the reliability harness; no part of it, and linked into nothing: its calls would take
        // the place of the C library's there.
        .library(name: "CausewayFaultShim", type: .dynamic, targets: ["CausewayFaultShim"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2")
    ],
    targets: [
        // System modules.
        .systemLibrary(
            name: "CausewayCSQLite", path: "Sources/CSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        .systemLibrary(
            name: "CausewayCCrypto", path: "Sources/CCrypto", pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"])]),
        .systemLibrary(
            name: "CausewayCZlib", path: "Sources/CZlib", pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        .systemLibrary(
            name: "CausewayCZstd", path: "Sources/CZstd", pkgConfig: "libzstd",
            providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),
        // Calls that the C library's module doesn't show to Swift.
        .target(name: "CausewayCPlatform", path: "Sources/CPlatform", cSettings: [.define("_GNU_SOURCE")]),

        // Know no Core Data.
        .layer("Platform", ["CausewayCPlatform"]),
        // Apple's systems have CryptoKit.
        .layer("Digests", [.target(name: "CausewayCCrypto", condition: .when(platforms: [.linux]))]),
        .layer("Checkpoint", ["CausewayCZstd", "CausewayDigests"]),
        .layer("SQLite", ["CausewayCSQLite"]),
        .layer("SQLiteFile", ["CausewayPlatform", "CausewayCZstd"]),
        .layer("Plist"),
        .layer("Deflate", ["CausewayCZlib"]),
        .layer("XML"),

        // What the bytes mean.
        .layer("Expressions", ["CausewayPlist"]),
        .layer("Model", ["CausewayExpressions", "CausewayPlist", "CausewayDeflate", "CausewayXML", "CausewayDigests"]),
        .layer("Evaluation", ["CausewayExpressions", "CausewayModel"]),
        .layer("Mapping", ["CausewayModel", "CausewayExpressions", "CausewayPlist", "CausewayXML"]),
        .layer(
            "StoreFormat",
            ["CausewayModel", "CausewayExpressions", "CausewayPlist", "CausewaySQLite", "CausewaySQLiteFile"]),

        // What to do, and doing it.
        .layer(
            "Planning",
            [
                "CausewayEvaluation", "CausewayExpressions", "CausewayStoreFormat", "CausewayMapping", "CausewayModel",
                "CausewaySQLite", "CausewaySQLiteFile", "CausewayPlatform",
            ]),
        .layer(
            "Objects",
            [
                "CausewayPlanning", "CausewayEvaluation", "CausewayStoreFormat", "CausewayMapping", "CausewayModel",
                "CausewayExpressions", "CausewaySQLite", "CausewaySQLiteFile",
            ],
            // A part of a text says how long it lives, so that the compiler refuses one that outlives its row.
            settings: [.enableExperimentalFeature("Lifetimes")]),
        .layer(
            "Stores",
            [
                "CausewayObjects", "CausewayEvaluation", "CausewayPlanning", "CausewayStoreFormat", "CausewayModel",
                "CausewaySQLite", "CausewaySQLiteFile", "CausewayPlatform",
            ]),
        .layer(
            "Preparation",
            [
                "CausewayStores", "CausewayObjects", "CausewayEvaluation", "CausewayExpressions", "CausewayPlanning",
                "CausewayStoreFormat", "CausewayMapping", "CausewayModel", "CausewayPlist", "CausewaySQLite",
                "CausewaySQLiteFile", "CausewayPlatform",
            ]),
        .layer(
            "Examination",
            [
                "CausewayPreparation", "CausewayStores", "CausewayExpressions", "CausewayStoreFormat", "CausewayModel",
                "CausewaySQLite", "CausewayPlatform",
            ]),
        .layer(
            "Export",
            [
                "CausewayExamination", "CausewayPreparation", "CausewayStores", "CausewayObjects",
                "CausewayEvaluation", "CausewayExpressions", "CausewayPlanning", "CausewayStoreFormat",
                "CausewayModel", "CausewayPlist", "CausewaySQLite", "CausewaySQLiteFile", "CausewayPlatform",
                "CausewayDigests",
            ]),
        .layer(
            "Comparison",
            [
                "CausewayExamination", "CausewayPreparation", "CausewayStores", "CausewayStoreFormat", "CausewayModel",
                "CausewaySQLite", "CausewayPlatform", "CausewayDigests",
            ]),
        .layer(
            "Engine",
            [
                "CausewayPreparation", "CausewayStores", "CausewayObjects", "CausewayEvaluation", "CausewayPlanning",
                "CausewayStoreFormat", "CausewayMapping", "CausewayModel", "CausewaySQLite", "CausewaySQLiteFile",
                "CausewayPlatform", "CausewayCheckpoint",
            ]),
        .layer(
            "Generation",
            [
                "CausewayStoreFormat", "CausewayModel", "CausewayExpressions", "CausewayPlist", "CausewaySQLite",
                "CausewayPlatform",
            ]),

        // The public face.
        .target(
            name: "Causeway",
            dependencies: [
                "CausewayObjects", "CausewayEvaluation", "CausewayStores", "CausewayPreparation", "CausewayExamination",
                "CausewayExport",
                "CausewayComparison",
                "CausewayEngine", "CausewayPlanning", "CausewayStoreFormat", "CausewayMapping", "CausewayModel",
                "CausewaySQLite", "CausewayPlatform",
            ],
            swiftSettings: settings),
        .layer(
            "Generator",
            [
                "Causeway", "CausewayGeneration", "CausewayPreparation", "CausewayStores", "CausewayStoreFormat",
                "CausewayModel",
            ]),
        // `Progress` for apps that have Foundation anyway.
        .layer("Foundation", ["Causeway"]),
        .target(
            name: "CausewayTool", dependencies: ["Causeway", "CausewayGenerator", "CausewayPlatform", arguments],
            // What its JSON is, for people and tests; no code reads it.
            exclude: ["Schema"], swiftSettings: settings),
        // Not `causeway`: a file system that ignores case can't hold it beside `Causeway`.
        .executableTarget(
            name: "CausewayMain", dependencies: ["CausewayTool"], path: "Sources/Main", swiftSettings: settings),

        // Worked examples: what a team with policies or stages builds for its own models.
        .example("ColourfulPosts"),
        .example("BookStore"),
        .example("Tracks"),
        .example("Staff"),

        .tests("Platform", ["CausewayPlatform"]),
        .tests("Digests", ["CausewayDigests"]),
        .tests("Checkpoint", ["CausewayCheckpoint"]),
        .tests("SQLite", ["CausewaySQLite"]),
        .tests("SQLiteFile", ["CausewaySQLiteFile", "CausewaySQLite", "CausewayPlatform"]),
        .tests("Plist", ["CausewayPlist"]),
        .tests("Deflate", ["CausewayDeflate"]),
        .tests("XML", ["CausewayXML"]),
        .tests("Expressions", ["CausewayExpressions", "CausewayPlist"]),
        .tests(
            "Model",
            [
                "CausewayModel", "CausewayExpressions", "CausewayPlist", "CausewayDeflate", "CausewayXML",
                "CausewaySQLite",
            ]),
        .tests("Evaluation", ["CausewayEvaluation", "CausewayExpressions", "CausewayModel"]),
        // Writes mapping models as Xcode does, for tests.
        .target(
            name: "CausewayMappingFiles",
            dependencies: ["CausewayMapping", "CausewayModel", "CausewayExpressions", "CausewayPlist"],
            path: "Tests/MappingFiles", swiftSettings: settings),
        .tests(
            "Mapping",
            ["CausewayMappingFiles", "CausewayMapping", "CausewayModel", "CausewayExpressions", "CausewayPlist"]),
        .tests(
            "StoreFormat",
            ["CausewayStoreFormat", "CausewayModel", "CausewayPlist", "CausewaySQLite"]),
        .tests(
            "Planning",
            [
                "CausewayPlanning", "CausewayMapping", "CausewayModel", "CausewayStoreFormat", "CausewayExpressions",
                "CausewaySQLite", "CausewaySQLiteFile",
            ]),
        .tests(
            "Objects",
            [
                "CausewayEngine", "CausewayObjects", "CausewayPlanning", "CausewayEvaluation", "CausewayModel",
                "CausewayStoreFormat", "CausewaySQLite", "CausewaySQLiteFile",
            ]),
        .tests(
            "Engine",
            [
                "CausewayObjects", "CausewayEvaluation", "CausewayStores", "CausewayPreparation", "CausewayExamination",
                "CausewayEngine", "CausewayPlanning", "CausewayMapping", "CausewayMappingFiles",
                "CausewayModel", "CausewayStoreFormat",
                "CausewayExpressions", "CausewaySQLite", "CausewaySQLiteFile", "CausewayPlatform", "CausewayPlist",
                "CausewayCheckpoint", "CausewayReliabilityKit",
            ]),
        .tests("Export", ["CausewayExport"]),
        .tests(
            "Comparison",
            ["CausewayCheckers", "Causeway", "CausewayGenerator", "CausewaySQLite"]),
        // Runs the independent tools of `shared`, for tests.
        .target(name: "CausewayCheckers", path: "Tests/Checkers", swiftSettings: settings),
        .tests(
            "Generation",
            [
                "CausewayCheckers", "CausewayGeneration", "CausewayModel", "CausewayStoreFormat", "CausewayExpressions",
                "CausewaySQLite",
            ]),
        // The whole library on real stores and on the worked examples.
        .testTarget(
            name: "CausewayTests",
            dependencies: [
                "CausewayCheckers", "Causeway", "CausewayFoundation", "CausewayGenerator", "CausewayStores",
                "CausewayStoreFormat",
                "CausewayPreparation", "CausewayEngine",
                "CausewaySQLite", "ColourfulPostsMigrator", "BookStoreMigrator", "TracksMigrator", "StaffMigrator",
            ],
            swiftSettings: settings),
        // The worked examples, in the process and as processes.
        .tests(
            "Examples",
            [
                "CausewayCheckers", "Causeway", "CausewayGenerator", "CausewaySQLite", "ColourfulPostsMigrator",
                "BookStoreMigrator",
                "TracksMigrator",
                "StaffMigrator", "CausewayMain",
            ]),
        // The command; depends on the executable so that it is built.
        .testTarget(
            name: "CausewayToolTests",
            dependencies: ["CausewayTool", "Causeway", "CausewaySQLite", "CausewayMain", "CausewayReliabilityKit"],
            exclude: ["Snapshots"], swiftSettings: settings),

        // The reliability harness: fault injection, crash explorer, kill loops; `swift run reliability --full`.
        .target(name: "CausewayFaultShim", path: "Tests/FaultShim", cSettings: [.define("_GNU_SOURCE")]),
        .target(
            name: "CausewayReliabilityKit",
            dependencies: [
                "Causeway", "CausewayGenerator", "CausewayStores", "CausewayPreparation", "CausewayEngine",
                "CausewayGeneration", "CausewayObjects", "CausewayModel",
                "CausewayStoreFormat", "CausewayCheckpoint", "CausewayPlatform", "CausewaySQLite", "CausewayDigests",
            ],
            path: "Tests/ReliabilityKit", swiftSettings: settings),
        .executableTarget(
            name: "reliability",
            dependencies: [
                "CausewayReliabilityKit", "CausewayFuzzTargets", "CausewayPreparation", "CausewayPlatform",
                "CausewayTool",
                "CausewayMain", "ColourfulPostsMigrator", "TracksMigrator", "StaffMigrator", arguments,
            ],
            path: "Tests/ReliabilityCommand", swiftSettings: settings),
        // Not in `Benchmarks/`: a package of its own sees no `package` declarations.
        .executableTarget(
            name: "micro", dependencies: ["CausewayEngine", "CausewaySQLiteFile", arguments],
            path: "Tests/MicroCommand", swiftSettings: settings),
        .tests(
            "Reliability",
            [
                "CausewayReliabilityKit", "CausewayStores", "CausewayPreparation", "CausewayEngine", "CausewayPlatform",
                "CausewaySQLite", "CausewayMain", "reliability",
            ]),

        // Rules of the house that no compiler knows.
        .tests("Tidy", []),

        // What a fuzzer calls; the ordinary tests replay the corpora.
        .target(
            name: "CausewayFuzzTargets",
            dependencies: [
                "CausewayCheckpoint", "CausewayDeflate", "CausewayStores", "CausewayEngine", "CausewayExpressions",
                "CausewayMapping", "CausewayMappingFiles", "CausewayModel", "CausewayPlatform", "CausewayPlist",
                "CausewaySQLite", "CausewayStoreFormat",
            ],
            path: "Tests/FuzzTargets", swiftSettings: settings),
        .testTarget(
            name: "CausewayFuzzTests", dependencies: ["CausewayFuzzTargets"], path: "Tests/FuzzTests",
            exclude: ["Corpora"], swiftSettings: settings),
    ]
        + (isFuzzing
            ? [
                .executableTarget(
                    name: "fuzz", dependencies: ["CausewayFuzzTargets"], path: "Tests/FuzzCommand",
                    swiftSettings: settings)
            ] : []),
    swiftLanguageModes: [.v6]
)
