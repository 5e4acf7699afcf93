import Foundation
import Testing

/// Ctrl-C and the system's request to end, while rows are moved.
@Suite("Signals", .enabled(if: SharedStores.exist, "shared/stores is missing"))
struct SignalTests {
    @Test(
        "a signal stops the migration, the store stays as it was, and running again migrates it",
        arguments: [(SIGINT, Int32(130)), (SIGTERM, Int32(143))])
    func stop(signal: Int32, status: Int32) throws {
        let folder = try WorkFolder()
        let store = try folder.copy(
            SharedStores.path("posts-and-colors/CoreDataMigration_Example_3.sqlite"), as: "Store.sqlite")
        let before = try folder.content()["Store.sqlite"]
        let models = SharedStores.path("posts-and-colors/CoreDataMigration_Example.xcdatamodeld")
        // One row a batch: 15,990 chances to stop, and a run that takes far longer than the signal's way.
        let arguments = ["migrate", store, "--models", models, "--json", "--batch-size", "1", "--jobs", "1"]
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(ToolProcess.path))
        process.arguments = arguments
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        try process.run()
        var text = ""
        while !text.contains("passBegan") {
            let bytes = output.fileHandleForReading.availableData
            if bytes.isEmpty { break }
            text += String(decoding: bytes, as: UTF8.self)
        }
        kill(process.processIdentifier, signal)
        text += String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit)
        #expect(process.terminationStatus == status)
        #expect(text.contains("\"exitCode\":\(status)"))
        #expect(try folder.content()["Store.sqlite"] == before)
        let again = try ToolProcess(["migrate", store, "--models", models])
        #expect(again.status == 0, "\(again.errors)")
        #expect(try Set(folder.content().keys) == ["Store.sqlite", "Store.sqlite.premigration"])
    }
}
