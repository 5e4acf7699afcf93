import CausewayGeneration
import CausewayModel
import CausewaySQLite
import CausewayStoreFormat
import Foundation
import Testing

@Suite("The committed store Fixtures/Orchard/Orchard-v1.sqlite", .timeLimit(.minutes(60)))
struct CommittedStoreTests {
    private static let store = Places.fixtures.appendingPathComponent("Orchard/Orchard-v1.sqlite")

    /// Bytes of the header that name the SQLite library that wrote the file.
    private static let libraryVersion = 96..<100

    @Test("it is what the command in Fixtures/README.md gives")
    func reproducible() throws {
        let model = try ModelCase.fixture("Orchard/v1")
        let made = try GeneratedStore(model, GenerationOptions(rows: 360, seed: 1), frameworkVersion: 1145)
        defer { made.remove() }
        var (expected, found) = (try made.bytes(), try Data(contentsOf: Self.store))
        for position in Self.libraryVersion {
            expected[position] = 0
            found[position] = 0
        }
        #expect(found == expected, "make the store anew as Fixtures/README.md says, and commit it")

        let folder = Places.fixtures.appendingPathComponent("Orchard/.Orchard-v1_SUPPORT/_EXTERNAL_DATA").path
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(try names.sorted() == FileManager.default.contentsOfDirectory(atPath: made.externalData.path).sorted())
        for name in names {
            #expect(
                FileManager.default.contentsEqual(
                    atPath: folder + "/" + name, andPath: made.externalData.path + "/" + name))
        }
    }
}
