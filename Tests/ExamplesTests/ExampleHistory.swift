import Causeway
import CausewayGenerator
import Foundation
import Testing

/// A model history in Fixtures, with the code of its executable.
struct ExampleHistory: Sendable {
    let name: String
    let versions: [String]
    /// SQL for rows that the generator can't make, by version.
    var fills: [String: String] = [:]
    var code = MigrationCode()
    /// A few hundred: many batches of 7, and every case of every step.
    static let rows = 200

    static let project = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    var folder: URL { Self.project.appending(path: "Fixtures/\(name)") }
    var models: String { folder.appending(path: "\(name).xcdatamodeld").path() }

    /// How a run works; the rows must not depend on it.
    struct Work: Sendable, CustomTestStringConvertible {
        var batchRows = 64
        var jobs = 2
        var fusesSteps = true
        var engine = EngineChoice.auto

        var testDescription: String {
            let engine = engine == .statements ? ", statements" : ""
            return "batches of \(batchRows), \(jobs) jobs\(fusesSteps ? "" : ", step by step")\(engine)"
        }

        /// Every batch size, number of workers and engine; with `CAUSEWAY_EVERY_WORK=1`, all combinations.
        static let every =
            ProcessInfo.processInfo.environment["CAUSEWAY_EVERY_WORK"] == "1"
            ? [EngineChoice.auto, .statements].flatMap { engine in
                [1, 7, 1_024].flatMap { rows in
                    (1...4).map { Work(batchRows: rows, jobs: $0, engine: engine) }
                }
            }
            : [(1, 1), (1, 3), (7, 2), (7, 4), (1_024, 1), (1_024, 4)].map { Work(batchRows: $0, jobs: $1) }
                + [(1, 4), (7, 1), (1_024, 2)].map { Work(batchRows: $0, jobs: $1, engine: .statements) }
    }

    /// A generated store at a version.
    func store(
        at version: String, rows: Int = Self.rows, in workshop: borrowing Workshop, as file: String? = nil
    ) throws -> String {
        let path = workshop.path(file ?? "\(name)-\(version).sqlite")
        var generation = StoreGeneration(model: models, output: path, rows: rows, seed: 1)
        generation.version = version
        try generation.run()
        if let sql = fills[version] { try StoreContent.execute(sql, path) }
        return path
    }

    /// Migrates into a new file.
    @discardableResult
    func migrate(
        _ store: String, to target: String, _ work: Work = Work(), in workshop: borrowing Workshop,
        as name: String? = nil, code: MigrationCode? = nil, set: (inout MigrationOptions) -> Void = { _ in },
        events: @escaping @Sendable (MigrationEvent) -> Void = { _ in }
    ) async throws -> String {
        var options = MigrationOptions()
        options.target = target
        options.output = workshop.path(name ?? "\(UUID().uuidString).sqlite")
        options.batchRows = work.batchRows
        options.jobs = work.jobs
        options.engine = work.engine
        options.fusesSteps = work.fusesSteps
        set(&options)
        let migrator = Migrator(store: store, models: models, options: options, code: code ?? self.code)
        return try await migrator.migrate(events: events).store
    }

    /// Migrates version by version, each step by itself. A chain must give the same store.
    func migrateStepByStep(
        _ store: String, through versions: [String], in workshop: borrowing Workshop,
        set: (inout MigrationOptions) -> Void = { _ in }
    ) async throws -> String {
        var path = store
        for version in versions { path = try await migrate(path, to: version, in: workshop, set: set) }
        return path
    }
}

/// A folder of a test's own.
struct Workshop: ~Copyable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "causeway-examples-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    func path(_ name: String) -> String { url.appending(path: name).path() }
}
