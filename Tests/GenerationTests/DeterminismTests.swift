import CausewayGeneration
import CausewayModel
import Foundation
import Testing

@Suite("Determinism of generated stores", .timeLimit(.minutes(60)))
struct DeterminismTests {
    @Test("the same seed gives the same bytes, external files included", arguments: ModelCase.fixtures)
    func sameSeed(_ model: ModelCase) throws {
        let options = GenerationOptions(rows: 400, seed: 7)
        let (first, second) = (try GeneratedStore(model.model, options), try GeneratedStore(model.model, options))
        defer {
            first.remove()
            second.remove()
        }
        #expect(try first.bytes() == second.bytes())
        let files = FileManager.default
        let names = (try? files.contentsOfDirectory(atPath: first.externalData.path).sorted()) ?? []
        #expect(names == (try? files.contentsOfDirectory(atPath: second.externalData.path).sorted()) ?? [])
        for name in names {
            let (a, b) = (first.externalData, second.externalData)
            #expect(files.contentsEqual(atPath: a.path + "/" + name, andPath: b.path + "/" + name))
        }
    }

    @Test("another seed gives other rows and another store UUID")
    func otherSeed() throws {
        let model = try ModelCase.fixture("Orchard/v1")
        let first = try GeneratedStore(model, GenerationOptions(rows: 100, seed: 1))
        let second = try GeneratedStore(model, GenerationOptions(rows: 100, seed: 2))
        defer {
            first.remove()
            second.remove()
        }
        #expect(try first.texts("SELECT Z_UUID FROM Z_METADATA") != second.texts("SELECT Z_UUID FROM Z_METADATA"))
        #expect(try first.texts("SELECT ZNOTES FROM ZPLANT") != second.texts("SELECT ZNOTES FROM ZPLANT"))
    }
}
