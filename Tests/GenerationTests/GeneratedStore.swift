import CausewayGeneration
import CausewayModel
import CausewaySQLite
import CausewayStoreFormat
import Foundation
import Testing

/// A store that a test has generated, in a folder of its own.
struct GeneratedStore {
    let folder: URL
    let path: String
    let layout: StoreLayout
    let counts: [String: Int]

    static let frameworkVersion = 1526

    init(_ model: ManagedObjectModel, _ options: GenerationOptions, frameworkVersion: Int = frameworkVersion) throws {
        layout = try StoreLayout(model: model, frameworkVersion: frameworkVersion)
        let generator = try StoreGenerator(layout: layout, options: options)
        counts = generator.counts
        folder = try GeneratedStore.makeFolder()
        path = folder.appendingPathComponent("Store.sqlite").path
        try generator.generate(at: path)
    }

    static func makeFolder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("generation-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    func remove() {
        try? FileManager.default.removeItem(at: folder)
    }

    var externalData: URL { folder.appendingPathComponent(".Store_SUPPORT/_EXTERNAL_DATA") }

    /// The first column of every row as text; nil for NULL.
    func texts(_ sql: String) throws -> [String?] {
        let connection = try Connection(path: path, mode: .readOnly, hardening: .own)
        var statement = try connection.prepare(sql)
        var result: [String?] = []
        while try statement.step() { result.append(try statement.string(at: 0)) }
        return result
    }

    /// The first column of the first row.
    func number(_ sql: String) throws -> Int64 {
        let connection = try Connection(path: path, mode: .readOnly, hardening: .own)
        var statement = try connection.prepare(sql)
        return try statement.step() ? statement.int64(at: 0) : -1
    }

    func bytes() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }
}

/// One model to generate stores for, named as its bundle and version.
struct ModelCase: Sendable, CustomTestStringConvertible {
    let name: String
    let model: ManagedObjectModel

    var testDescription: String { name }

    /// Every version of a bundle that can be read.
    static func versions(of bundle: String) throws -> [ModelCase] {
        let read = try ModelReader.bundle(at: bundle)
        return read.models.map { ModelCase(name: read.name + "/" + $0.name, model: $0.model) }
    }

    /// The project's own histories.
    static let fixtures: [ModelCase] = ["ColourfulPosts", "BookStore", "Orchard"].flatMap { name in
        let cases = try? versions(of: Places.fixtures.appendingPathComponent("\(name)/\(name).xcdatamodeld").path)
        return cases ?? []
    }

    static func fixture(_ name: String) throws -> ManagedObjectModel {
        guard let found = fixtures.first(where: { $0.name == name }) else { throw CocoaError(.fileNoSuchFile) }
        return found.model
    }

    /// Every model of shared/stores that can be laid out, and the models that are only in stores.
    static let shared: [ModelCase] = {
        let paths = FileManager.default.enumerator(atPath: Places.sharedStores.path)?.compactMap { $0 as? String } ?? []
        var cases: [ModelCase] = []
        for path in paths.sorted() {
            let full = Places.sharedStores.appendingPathComponent(path).path
            if path.hasSuffix(".xcdatamodeld") || path.hasSuffix(".momd") {
                cases += (try? versions(of: full)) ?? []
            } else if path.hasPrefix("photos/"), path.hasSuffix(".sqlite"), let model = try? cached(full) {
                cases.append(ModelCase(name: path, model: model))
            }
        }
        return cases.filter { (try? StoreLayout(model: $0.model, frameworkVersion: 1526)) != nil }
    }()

    private static func cached(_ path: String) throws -> ManagedObjectModel {
        let folder = try GeneratedStore.makeFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let copy = folder.appendingPathComponent("copy.sqlite").path
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path + suffix) {
            try Data(contentsOf: URL(fileURLWithPath: path + suffix)).write(to: URL(fileURLWithPath: copy + suffix))
        }
        let connection = try Connection(path: copy, mode: .readWrite, hardening: .untrusted)
        var statement = try connection.prepare("SELECT Z_CONTENT FROM Z_MODELCACHE")
        guard try statement.step() else { throw CocoaError(.fileReadCorruptFile) }
        return try ModelReader.model(cache: statement.bytes(at: 0))
    }
}

enum Places {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    static let fixtures = root.appendingPathComponent("Fixtures")
    static let sharedStores = root.appendingPathComponent("../shared/stores").standardizedFileURL

    static var hasSharedStores: Bool { FileManager.default.fileExists(atPath: sharedStores.path) }
}
