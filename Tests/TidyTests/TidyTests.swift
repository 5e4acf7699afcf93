import Foundation
import Testing

/// Rules of the house that no compiler knows.
@Suite("The house is tidy", .timeLimit(.minutes(2)))
struct TidyTests {
    private static let longestFile = 400
    private static let longestFunction = 60

    @Test("no file is longer than 400 lines")
    func files() throws {
        let tree = try SourceTree(["Sources", "Tests", "Benchmarks", "Fixtures"])
        #expect(tree.files.count > 500)
        for file in tree.files {
            #expect(file.lines.count <= Self.longestFile, "\(file.path): \(file.lines.count) lines")
        }
    }

    @Test("no function is longer than 60 lines")
    func functions() throws {
        let tree = try SourceTree(["Sources", "Tests", "Benchmarks", "Fixtures"])
        var count = 0
        for file in tree.files {
            for (name, line, length) in Functions(file).all {
                count += 1
                #expect(length <= Self.longestFunction, "\(file.path):\(line): \(name): \(length) lines")
            }
        }
        #expect(count > 3_000)
    }

    @Test("files and types are named for what they are")
    func names() throws {
        let tree = try SourceTree(["Sources", "Tests", "Benchmarks", "Fixtures"])
        let words = ["Review", "Manager", "Helper", "Utils", "Utilities", "Misc"]
        for file in tree.files {
            let name = file.parts.last ?? ""
            // `NSMigrationManager` is Core Data's name for the object that policies are given.
            for word in words where name.contains(word) && !name.contains("MigrationManager") {
                Issue.record("\(file.path): “\(word)” names nothing")
            }
        }
    }

    @Test("folders of the engine use each other in one direction")
    func arrows() throws {
        let rooms = [
            "Run", "Steps", "Verification", "Finishing", "Loading/Objects", "Loading/Statements", "Swap", "Progress",
            "Loading/Rows", "Recovery", "Events",
        ]
        let arrows = try Arrows(of: "Sources/Engine", rooms: rooms)
        #expect(arrows.uses.count > 100)
        #expect(arrows.unknown.isEmpty, "files in no room")
        for use in arrows.upward { Issue.record("\(use)") }
    }
}
