import CausewayPlatform
import CausewayPreparation
import CausewayReliabilityKit
import Foundation
import Testing

/// SQLite ignores a failing fsync of the folder after it has made a journal (os_unix.c, `unixSync`), so the engine
/// makes the journals of its staging stores itself.
@Suite(
    "Journals of staging stores", .timeLimit(.minutes(60)),
    .enabled(if: ShimPresence.isThere, "the fault shim isn't built"))
struct StagingJournalTests {
    private static let journal = ".sqlite-journal"

    @Test(
        "a journal's name is durable before a page of its store changes, in every run",
        arguments: Subject.all(on: [.statements, .pages], seed: 1))
    func durable(_ subject: Subject) throws {
        let operations = try trace(of: subject)
        var (journals, grown) = (0, Set<String>())
        for (place, operation) in operations.enumerated() {
            let store = String(operation.path.dropLast("-journal".count))
            guard operation.path.contains("/step-"), operation.path.hasSuffix(Self.journal) else { continue }
            guard operation.kind == .create else { continue }
            // The first page is written on its own: without it there is no store yet.
            guard grown.contains(store) else {
                grown.insert(store)
                continue
            }
            journals += 1
            let folder = Paths.parent(of: operation.path)
            let named = operations[place...].firstIndex { $0.kind == .sync && $0.flags == 1 && $0.path == folder }
            let filled = operations[place...].firstIndex { $0.kind == .write && $0.path == operation.path }
            let changed = operations[place...].firstIndex { $0.kind == .write && $0.path == store }
            #expect(try #require(named) < (filled ?? .max), "\(operation.path), operation \(place)")
            #expect(try #require(named) < (changed ?? .max), "\(operation.path), operation \(place)")
        }
        #expect(journals > 0)
    }

    /// An undisturbed run's.
    private func trace(of subject: Subject) throws -> [TraceOperation] {
        let folder = try Folder()
        let data = folder.path + "/data"
        try Files.makeDirectory(data)
        try subject.makeStore(in: data)
        var command = ShimmedCommand(
            try subject.executable, subject.arguments(store: data + "/" + Subject.storeName), root: data,
            scratch: folder.path + "/shim")
        command.traces = true
        let ending = try command.run()
        #expect(ending.status == 0, "\(ending.errors)")
        return ending.trace.operations
    }
}
