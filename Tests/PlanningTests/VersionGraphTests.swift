import CausewayPlanning
import Testing

@Suite("Paths between versions", .timeLimit(.minutes(60)))
struct VersionGraphTests {
    static let versions = ["V1", "V2", "V3", "V4"]

    private func path(_ start: String, _ end: String, _ edges: [String: String] = [:]) throws -> [String] {
        try VersionGraph(versions: Self.versions, edges: edges).path(from: start, to: end)
    }

    @Test("without edges the versions are a line")
    func line() throws {
        #expect(try path("V1", "V4") == Self.versions)
        #expect(try path("V2", "V3") == ["V2", "V3"])
        #expect(try path("V3", "V3") == ["V3"])
        let graph = try VersionGraph(versions: Self.versions)
        #expect(graph.next(after: "V4") == nil)
        #expect(graph.next(after: "V9") == nil)
    }

    @Test("an edge skips versions, or leads through one that isn't in the line")
    func edges() throws {
        #expect(try path("V1", "V4", ["V1": "V3"]) == ["V1", "V3", "V4"])
        #expect(try path("V1", "V3", ["V1": "V4", "V4": "V2"]) == ["V1", "V4", "V2", "V3"])
    }

    @Test("a path to an older version is refused as such")
    func backwards() {
        #expect(throws: PathError.backwards(from: "V3", to: "V1")) { try path("V3", "V1") }
        #expect(PathError.backwards(from: "V3", to: "V1").description.contains("backwards"))
    }

    @Test("a version that is skipped can't be reached, and the message says where the line ends")
    func unreachable() {
        let error = PathError.unreachable(from: "V1", to: "V2", stopsAt: "V4")
        #expect(throws: error) { try path("V1", "V2", ["V1": "V3"]) }
        #expect(error.description.contains("--next \"V4="))
    }

    @Test("a circle is shown")
    func cycle() {
        let error = PathError.cycle(["V1", "V2", "V1"])
        #expect(throws: error) { try path("V1", "V4", ["V2": "V1"]) }
        #expect(error.description.contains("V1 → V2 → V1"))
        #expect(throws: PathError.cycle(["V1", "V1"])) { try path("V1", "V4", ["V1": "V1"]) }
    }

    @Test("names that aren't versions are refused, in edges and ends")
    func unknown() {
        #expect(throws: PathError.unknownVersion("V9", known: Self.versions)) { try path("V1", "V9") }
        #expect(throws: PathError.unknownVersion("V0", known: Self.versions)) { try path("V0", "V1") }
        #expect(throws: PathError.unknownVersion("V7", known: Self.versions)) { try path("V1", "V2", ["V1": "V7"]) }
        #expect(throws: PathError.unknownVersion("V", known: [])) {
            try VersionGraph(versions: []).path(from: "V", to: "V")
        }
    }
}
