// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that nobody who depends on Causeway fetches or builds what only measures it.
let package = Package(
    name: "causeway-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        // The name is needed: without it the identity is the clone's folder, which may be called anything.
        .package(name: "causeway", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        .systemLibrary(
            name: "CBenchmarkSQLite", path: "Sources/CSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        .executableTarget(
            name: "MigrationBenchmark",
            dependencies: [
                "CBenchmarkSQLite",
                .product(name: "Causeway", package: "causeway"),
                .product(name: "CausewayGenerator", package: "causeway"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .strictMemorySafety(),
                .treatAllWarnings(as: .error),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
