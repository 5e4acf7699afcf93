@testable import CausewayEngine
import CausewayStores
import Foundation
import Testing

@Suite("Pages of a new store that can't be read", .timeLimit(.minutes(60)))
struct StagingReadingTests {
    @Test("a failing read is the disk's fault, other bytes are damage")
    func kinds() throws {
        let scenario = try Scenario(FailureTests.from, FailureTests.to, rows: FailureTests.rows)
        let file = scenario.folder + "/noise.sqlite"
        try Data(repeating: 7, count: 8_192).write(to: URL(filePath: file))
        // A folder can be opened, and no byte of it be read.
        for (path, kind) in [(scenario.folder, EngineError.Kind.inputOutput), (file, .verification)] {
            let error = try failure { _ = try StagingFile.pages(at: path) }
            #expect(error.kind == kind && error.message.contains("its pages can't be read"), "\(error)")
        }
    }
}
