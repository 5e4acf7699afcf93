import Causeway
import Foundation
import Testing

/// Jumps and Detour v1 → v6, as Fixtures/README.md says. They need no code.
@Suite("Jumps and Detour: versions that follow each other by a list of edges", .timeLimit(.minutes(60)))
struct JumpsTests {
    static let jumps = ExampleHistory(name: "Jumps", versions: ["v1", "v2", "v3", "v4", "v5", "v6"])
    static let detour = ExampleHistory(name: "Detour", versions: ["v1", "v2", "v4", "v5", "v6"])
    static let histories = [jumps, detour]

    /// v3 keeps the start in a column of doubles, all others in one for which SQLite makes 9.0 an integer.
    private static let carried = "Z_PK, ZNUMBER, CAST(ZSTART AS REAL)"
    private static let stops = "SELECT Z_PK, ZPLACE, ZTRIP, Z_FOK_TRIP FROM ZSTOP"

    @Test("v1, v2 and v3 → v4: a jump over the versions between", arguments: ["v1", "v2", "v3"])
    func jump(from version: String) async throws {
        let workshop = try Workshop()
        let source = try Self.jumps.store(at: version, in: workshop)
        let result = try await Self.jumps.migrate(source, to: "v4", in: workshop)
        let title = version == "v1" ? "ZNAME" : "ZTITLE"
        let category = version == "v3" ? "ZCATEGORY" : "NULL"
        #expect(
            try StoreContent.rows(
                "SELECT \(Self.carried), ZTITLE, ZDISTANCE, ZCATEGORY, ZRATING FROM ZTRIP", result)
                == StoreContent.rows("SELECT \(Self.carried), \(title), ZDISTANCE, \(category), 3 FROM ZTRIP", source))
        #expect(try StoreContent.count("ZSTOP", result) == 0)
    }

    @Test("v4 → v5: distance becomes kilometres, stops keep their order")
    func kilometres() async throws {
        let workshop = try Workshop()
        let source = try Self.jumps.store(at: "v4", in: workshop)
        let result = try await Self.jumps.migrate(source, to: "v5", in: workshop)
        let others = "\(Self.carried), ZTITLE, ZCATEGORY, ZRATING"
        #expect(
            try StoreContent.rows("SELECT \(others), ZKILOMETRES FROM ZTRIP", result)
                == StoreContent.rows("SELECT \(others), ZDISTANCE FROM ZTRIP", source))
        #expect(try StoreContent.rows(Self.stops, result) == StoreContent.rows(Self.stops, source))
        #expect(try StoreContent.count("ZSTOP WHERE ZTRIP IS NOT NULL", result) > 0)
    }

    @Test("v5 → v6: a trip without category is a general one")
    func categories() async throws {
        let workshop = try Workshop()
        let source = try Self.jumps.store(at: "v5", in: workshop)
        let result = try await Self.jumps.migrate(source, to: "v6", in: workshop)
        let others = "\(Self.carried), ZTITLE, ZKILOMETRES, ZRATING"
        #expect(
            try StoreContent.rows("SELECT \(others), ZCATEGORY FROM ZTRIP", result)
                == StoreContent.rows("SELECT \(others), coalesce(ZCATEGORY, 'General') FROM ZTRIP", source))
        #expect(try StoreContent.rows(Self.stops, result) == StoreContent.rows(Self.stops, source))
        #expect(try StoreContent.rows("SELECT DISTINCT ZNOTE FROM ZSTOP", result) == ["NULL"])
    }

    @Test("the whole chain from every version", arguments: ["v1", "v2", "v3", "v4"], [true, false])
    func chain(from version: String, fusesSteps: Bool) async throws {
        let workshop = try Workshop()
        let source = try Self.jumps.store(at: version, in: workshop)
        let result = try await Self.jumps.migrate(source, to: "v6", .init(fusesSteps: fusesSteps), in: workshop)
        let hadCategory = ["v3", "v4"].contains(version)
        #expect(
            try StoreContent.rows(
                "SELECT \(Self.carried), ZTITLE, ZKILOMETRES, ZRATING, ZCATEGORY FROM ZTRIP", result)
                == StoreContent.rows(
                    """
                    SELECT \(Self.carried), \(version == "v1" ? "ZNAME" : "ZTITLE"), ZDISTANCE, \
                    \(version == "v4" ? "ZRATING" : "3"), \(hadCategory ? "coalesce(ZCATEGORY, 'General')" : "'General'") \
                    FROM ZTRIP
                    """, source))
        if version == "v4" {
            #expect(try StoreContent.rows(Self.stops, result) == StoreContent.rows(Self.stops, source))
        } else {
            #expect(try StoreContent.count("ZSTOP", result) == 0)
        }
    }

    @Test("v1 → v2 → v4 gives what the jump v1 → v4 gives")
    func stepByStep() async throws {
        let workshop = try Workshop()
        let source = try Self.jumps.store(at: "v1", in: workshop)
        let jump = try await Self.jumps.migrate(source, to: "v4", in: workshop)
        let steps = try await Self.jumps.migrate(source, to: "v4", in: workshop) { $0.next = ["v1": "v2"] }
        StoreContent.expectSame(try StoreContent.dump(jump), try StoreContent.dump(steps), "jump and steps")
    }

    @Test("there is no path to v2 and v3", arguments: ["v2", "v3"])
    func noPath(to version: String) async throws {
        let workshop = try Workshop()
        let source = try Self.jumps.store(at: "v1", in: workshop)
        try await expectRefusal(Self.jumps, source, to: version, in: workshop)
    }

    @Test("without its mapping model v3 → v4 is refused: a number can't become a date by inference")
    func withoutMapping() throws {
        let workshop = try Workshop()
        let copy = workshop.url.appending(path: "models")
        try FileManager.default.copyItem(at: Self.jumps.folder, to: copy)
        try FileManager.default.removeItem(at: copy.appending(path: "v3-v4.xcmappingmodel"))
        let source = try Self.jumps.store(at: "v3", in: workshop)
        let error = try #require(throws: MigrationError.self) {
            try Migrator(store: source, models: copy.appending(path: "Jumps.xcdatamodeld").path()).plan()
        }
        #expect(error.code == .plan)
        #expect(error.description.contains("Trip.start"))
    }

    @Test("v2 → v3 is refused: a date can't become a number by inference")
    func uninferable() async throws {
        let workshop = try Workshop()
        let source = try Self.jumps.store(at: "v2", in: workshop)
        let error = try await expectRefusal(Self.jumps, source, to: "v3", in: workshop) { $0.next = ["v2": "v3"] }
        #expect(error.description.contains("Trip.start"))
    }

    // MARK: - Detour

    @Test("around the version that can't be read, as Jumps has it", arguments: ["v1", "v2", "v4", "v5"])
    func around(from version: String) async throws {
        let workshop = try Workshop()
        let source = try Self.detour.store(at: version, in: workshop)
        let result = try await Self.detour.migrate(source, to: "v6", in: workshop)
        let same = try Self.jumps.store(at: version, in: workshop)
        let jump = try await Self.jumps.migrate(same, to: "v6", in: workshop)
        let tables = ["ZTRIP", "ZSTOP", "Z_PRIMARYKEY"]
        StoreContent.expectSame(
            try StoreContent.dump(result).filter { tables.contains($0.key) },
            try StoreContent.dump(jump).filter { tables.contains($0.key) }, "Detour and Jumps from \(version)")
    }

    @Test(
        "each version has its own path",
        arguments: [
            (jumps, ["v1", "v4", "v5", "v6"]), (jumps, ["v2", "v4", "v5", "v6"]),
            (jumps, ["v3", "v4", "v5", "v6"]),
            (detour, ["v1", "v2", "v4", "v5", "v6"]), (detour, ["v2", "v4", "v5", "v6"]),
        ])
    func path(_ history: ExampleHistory, path: [String]) throws {
        let workshop = try Workshop()
        let source = try history.store(at: path[0], in: workshop)
        #expect(try Migrator(store: source, models: history.models).plan().path == path)
    }

    @Test("the broken version is no target", arguments: [[:], ["v2": "v3"]])
    func brokenTarget(next: [String: String]) async throws {
        let workshop = try Workshop()
        let source = try Self.detour.store(at: "v2", in: workshop)
        try await expectRefusal(Self.detour, source, to: next.isEmpty ? "v3" : "v6", in: workshop) { $0.next = next }
    }

    @Test("a store of the broken version is recognised by its own model, and refused")
    func brokenSource() async throws {
        let workshop = try Workshop()
        let source = try Self.jumps.store(at: "v3", in: workshop)
        let error = try await expectRefusal(Self.detour, source, to: "v6", in: workshop)
        #expect(error.description.contains("v3"))
    }

    @discardableResult
    private func expectRefusal(
        _ history: ExampleHistory, _ source: String, to version: String, in workshop: borrowing Workshop,
        set: (inout MigrationOptions) -> Void = { _ in }
    ) async throws -> MigrationError {
        let before = try Data(contentsOf: URL(filePath: source))
        var refusal: MigrationError?
        do {
            try await history.migrate(source, to: version, in: workshop, as: "refused.sqlite", set: set)
        } catch let error as MigrationError {
            refusal = error
        }
        let error = try #require(refusal)
        #expect(error.code == .plan, "\(error)")
        #expect(try Data(contentsOf: URL(filePath: source)) == before)
        #expect(!FileManager.default.fileExists(atPath: workshop.path("refused.sqlite")))
        return error
    }
}
