// swift-tools-version: 6.0
import PackageDescription

/// Needs a Mac: Core Data itself opens what Causeway wrote. A package of its own, so that nothing of it is built, or
/// has to be, where there is no Core Data.
let package = Package(
    name: "OnAMac",
    platforms: [.macOS(.v13)],
    targets: [.executableTarget(name: "OnAMac", path: "Sources/OnAMac")]
)
