import CausewayEngine
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

@Suite("Room on the disk", .timeLimit(.minutes(60)))
struct DiskRoomTests {
    private final class Warnings {
        var texts: [String] = []
    }

    private let folder = FileManager.default.temporaryDirectory.path

    /// MiB of a store and of its reserve.
    private static let reserves: [(Int, Int)] = [(0, 4), (32, 4), (80, 10), (512, 64), (1_000_000, 64)]

    @Test("the reserve is an eighth of the store, within bounds", arguments: reserves)
    func reserve(store: Int, expected: Int) {
        #expect(PreparedMigration.reserve(storeBytes: store << 20) == expected << 20)
    }

    @Test("a small store asks for little more than it needs")
    func smallStore() throws {
        let scenario = try Scenario(
            model(entity("Note", attribute("text"))), model(entity("Note", attribute("text"), attribute("new"))))
        let store = try SourceStore.reading(try StoreLocation(existing: scenario.store))
        defer { store.release() }
        let prepared = try PreparedMigration(
            scenario.request(to: "V2", jobs: 2, engine: .pages),
            history: try ModelHistory(reading: scenario.models, edges: [:]), store: store)
        #expect(prepared.diskBytes < 5 << 20)
    }

    @Test("too little room is refused with what is missing, and a warning where that is wanted")
    func refusal() throws {
        let warnings = Warnings()
        func room(isIgnored: Bool) -> DiskRoom {
            DiskRoom(reserve: 1 << 20, isIgnored: isIgnored) { warnings.texts.append($0) }
        }
        let error = #expect(throws: EngineError.self) { try room(isIgnored: false).require(.max, at: folder) }
        #expect(error?.kind == .inputOutput)
        #expect(error?.message.hasPrefix("\(folder): not enough room: the migration needs about ") == true)
        #expect(error?.remedy.contains("--ignore-space") == true)
        #expect(warnings.texts.isEmpty)
        try room(isIgnored: true).require(.max, at: folder)
        #expect(warnings.texts.count == 1)
        #expect(warnings.texts.first?.hasSuffix("are free; running anyway (--ignore-space)") == true)
    }

    @Test("a disk with room gives no warning; one that doesn't tell is refused, or a warning")
    func unknown() throws {
        let warnings = Warnings()
        let strict = DiskRoom(reserve: 1, isIgnored: false) { warnings.texts.append($0) }
        try strict.require(1, at: folder)
        #expect(warnings.texts.isEmpty)
        #expect(throws: EngineError.self) { try strict.require(1, at: "/no/such/place") }
        try DiskRoom(reserve: 1, isIgnored: true) { warnings.texts.append($0) }.require(1, at: "/no/such/place")
        #expect(warnings.texts.count == 1)
    }
}
