import Causeway
import CausewayGenerator
import Foundation
import Synchronization

/// A store of the first version of `Fixtures/Orchard`, and its migration in batches of a row, so that there is
/// something to stop.
final class ProgressFixture {
    static let rows = 400

    private let folder: URL
    var store: String { folder.appendingPathComponent("Store.sqlite").path }

    private static let models = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Fixtures/Orchard/Orchard.xcdatamodeld").path

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("causeway-progress-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var generation = StoreGeneration(model: Self.models, output: store, rows: Self.rows, seed: 5)
        generation.version = "v1"
        try generation.run()
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    var migrator: Migrator {
        var options = MigrationOptions()
        options.batchRows = 1
        options.jobs = 1
        options.engine = .statements
        options.checkpointInterval = 0
        return Migrator(store: store, models: Self.models, options: options)
    }

    /// A migration that stands still before its second step until `gate` is opened: who stops it isn't too late.
    func migrator(before gate: Gate) throws -> Migrator {
        var code = MigrationCode()
        code.stages = try StagedMigration {
            LightweightMigrationStage(["v1", "v2"])
            CustomMigrationStage(migratingFrom: "v2", to: "v3", willMigrate: { _, _ in gate.wait() })
        }
        return Migrator(store: store, models: Self.models, options: migrator.options, code: code)
    }

    /// What a migration's thread waits for.
    final class Gate: Sendable {
        private let isOpen = Mutex(false)

        func open() { isOpen.withLock { $0 = true } }

        func wait() {
            while !isOpen.withLock({ $0 }) { Thread.sleep(forTimeInterval: 0.005) }
        }
    }

    var version: [String] {
        get throws { try StoreInspection(store: store, models: Self.models).versions }
    }

    /// Whether nothing works on it any more and the original is kept; the store itself isn't opened, since that would
    /// drop the locks of a migration in this process.
    var isDone: Bool {
        get throws {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            return names.contains { $0.contains(".premigration-") } && !names.contains(".Store.sqlite.migration")
        }
    }

    /// Whether the work directory of an unfinished run is there.
    var isUnfinished: Bool {
        get throws { try MigrationStatus(store: store).state == .running }
    }
}
