import CausewayGenerator
import Foundation

/// One source store, and the files of those who work on it.
struct Workplace {
    /// A little larger than any store's fixed part; the sorting of indexes and journals come on top of a store's size.
    private static let slack = 1 << 30
    /// Rows of the store from which the others' number is reckoned.
    private static let probeRows = 20_000

    let shape: Archive.Shape
    /// For models, scripts and the reference.
    let folder: URL
    /// For the source and the results: the disk that is measured.
    let disk: URL

    init(_ shape: Archive.Shape, in folder: URL, on disk: URL? = nil) {
        (self.shape, self.folder, self.disk) = (shape, folder, disk ?? folder)
    }

    var source: String { disk.appendingPathComponent("source.sqlite").path }
    /// The folder of the piece of work that runs.
    var run: URL { disk.appendingPathComponent("run") }
    /// What it works on, or makes.
    var store: String { run.appendingPathComponent("Store.sqlite").path }
    var reference: String { folder.appendingPathComponent("reference.sqlite").path }

    /// At the peak, beside everything that is there: source, reference, copy for a migration in place, its result, and
    /// the temporary files of an index's sort.
    static func room(forStoreOf bytes: Int) -> Int { bytes * 5 + slack }

    func script(_ name: String, _ task: ArchiveTask) -> String {
        folder.appendingPathComponent("\(name)-\(task.change.rawValue)-\(task.steps).sql").path
    }

    /// Writes the history if it isn't there.
    func models(_ task: ArchiveTask) throws -> String {
        try Archive(shape: shape, change: task.change, steps: task.steps)
            .write(to: folder.appendingPathComponent("models"))
    }

    /// Writes the source, of about so many bytes.
    /// - Returns: rows of its entities.
    @discardableResult
    func generate(bytes: Int) throws -> Int {
        try Scratch.check(room: Self.room(forStoreOf: bytes), in: disk)
        let probe = folder.appendingPathComponent("probe.sqlite").path
        try generate(Self.probeRows, at: probe)
        let probeBytes = try Self.size(probe)
        try FileManager.default.removeItem(atPath: probe)
        let rows = max(1, Int(Double(bytes) / Double(probeBytes) * Double(Self.probeRows)))
        say("generating \(rows) rows")
        return try generate(rows, at: source)
    }

    @discardableResult
    private func generate(_ rows: Int, at path: String) throws -> Int {
        let models = try models(ArchiveTask(change: .smallTable, steps: 1))
        var generation = StoreGeneration(model: models, output: path, rows: rows, seed: 1)
        generation.version = Archive.source
        return try generation.run().values.reduce(0, +)
    }

    static func size(_ path: String) throws -> Int {
        (try FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber)?.intValue ?? 0
    }

    /// Makes the folder for the next piece of work, empty.
    func clearRun() throws {
        let files = FileManager.default
        if files.fileExists(atPath: run.path) { try files.removeItem(at: run) }
        try files.createDirectory(at: run, withIntermediateDirectories: true)
    }

    /// Reads a file to its end, so that everybody finds it in the page cache.
    static func warm(_ path: String) throws {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? file.close() }
        while let data = try file.read(upToCount: 4 << 20), !data.isEmpty {}
    }

    /// Removes everything.
    func clear() throws {
        for folder in Set([folder, disk]) {
            for item in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            where item.lastPathComponent != "lost+found" {
                try FileManager.default.removeItem(at: item)
            }
        }
    }
}
