import CausewayDeflate
import CausewayExpressions
import CausewayModel
import CausewayPlist
import CausewaySQLite
import Foundation
import Testing

@Suite("Writing the model cache", .timeLimit(.minutes(60)))
struct ModelCacheTests {
    /// The app's own default values can't be written, because their content isn't known.
    private func withoutForeignDefaults(_ model: ManagedObjectModel) -> ManagedObjectModel {
        var model = model
        for (name, entity) in model.entities {
            for position in entity.attributes.indices {
                if case .foreign = entity.attributes[position].defaultValue {
                    model.entities[name]?.attributes[position].defaultValue = nil
                }
            }
        }
        return model
    }

    private func expectRoundTrip(_ model: ManagedObjectModel) throws {
        let cache = try ModelCacheWriter.cache(of: model)
        let read = try ModelReader.model(cache: cache)
        let expected = withoutForeignDefaults(model)
        #expect(read.entities.keys.sorted() == expected.entities.keys.sorted())
        for (name, entity) in expected.entities {
            let difference = try EntityDifference.between(entity, #require(read.entities[name]))
            #expect(difference == [], "\(name)")
        }
        #expect(read.configurations == expected.configurations)
        #expect(read.versionIdentifiers == expected.versionIdentifiers)
        #expect(VersionHashes(read) == VersionHashes(model))
        #expect(try ModelCacheWriter.cache(of: read) == cache)
    }

    @Test("a store's model is read back from our cache", arguments: SharedStores.stores)
    func stores(path: String) throws {
        try expectRoundTrip(ModelReader.model(cache: SharedStores.identity(path).cache))
    }

    @Test("a model from source is read back from our cache", arguments: SharedStores.sources)
    func sources(path: String) throws {
        try expectRoundTrip(ModelReader.model(source: SharedStores.bytes(path)))
    }

    /// The names of each class's fields. The class is named with its ancestors.
    private func shapes(_ archive: KeyedArchive) throws -> [String: Set<String>] {
        var shapes: [String: Set<String>] = [:]
        var stack = [archive.root]
        var seen: Set<KeyedArchive.Reference> = [archive.root]
        while let reference = stack.popLast() {
            let kind = try #require(archive.archivedClass(of: reference))
            for name in archive.fieldNames(of: reference) {
                let value = try archive.field(name, of: reference)
                shapes[kind.hierarchy.joined(separator: " "), default: []].insert(name)
                var targets: [ArchivedValue] = value.map { [$0] } ?? []
                if case .list? = value { targets = try archive.array(value) ?? [] }
                for target in targets.compactMap(\.reference) where seen.insert(target).inserted {
                    stack.append(target)
                }
            }
        }
        return shapes
    }

    @Test(
        "classes and keys are those of Core Data's own cache",
        .enabled(if: SharedStores.exist, "shared/stores is missing"),
        arguments: [
            "wire/store2-101-0.wiredatabase", "coredataplus/SampleModel2_V2.sqlite", "photos/Photos-10.16.0.sqlite",
        ])
    func shape(path: String) throws {
        let cache = try #require(SharedStores.identity(path).cache)
        let original = try KeyedArchive(parsing: RawDeflate.inflate(cache, limit: 1 << 26))
        let ours = try KeyedArchive(parsing: ModelCacheWriter.archive(of: ModelReader.model(cache: cache)))
        let (left, right) = (try shapes(original), try shapes(ours))
        // Not carried, as documented: sort descriptors and the app's own classes. Strings are written in one form.
        let dropped = [
            "NSSortDescriptor NSObject", "CoreDataPlus_Tests.Cover NSObject", "NSMutableString NSString NSObject",
        ]
        for (kind, fields) in left where !dropped.contains(kind) {
            #expect(right[kind] == fields, "\(kind)")
        }
        for kind in right.keys { #expect(left[kind] != nil, "\(kind)") }
    }

    @Test("the private summary bits equal Core Data's", arguments: SharedStores.stores)
    func summaryBits(path: String) throws {
        let cache = try #require(SharedStores.identity(path).cache)
        let original = try KeyedArchive(parsing: RawDeflate.inflate(cache, limit: 1 << 26))
        let ours = try KeyedArchive(parsing: ModelCacheWriter.archive(of: ModelReader.model(cache: cache)))
        let (left, right) = (try bits(original), try bits(ours))
        #expect(!left.isEmpty)
        for (property, value) in left { #expect(right[property] == value, "\(property)") }
    }

    private func bits(_ archive: KeyedArchive) throws -> [String: Int64] {
        var bits: [String: Int64] = [:]
        for (name, entity) in try archive.dictionary(archive.field("NSEntities", of: archive.root)) ?? [] {
            let reference = try #require(entity.reference)
            for (property, value) in try archive.dictionary(archive.field("NSProperties", of: reference)) ?? [] {
                let target = try #require(value.reference)
                if let value = try archive.integer(archive.field("_P", of: target)) {
                    bits["\(name).\(property)"] = value
                }
            }
        }
        return bits
    }

    private static let python: String? = ["/usr/bin/python3", "/usr/local/bin/python3"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    @Test(
        "an independent reader finds our cache and our hashes in a store",
        .enabled(if: python != nil && SharedStores.exist, "python3 or shared/stores is missing"),
        arguments: [
            "wire/store2-101-0.wiredatabase", "coredataplus/SampleModel2_V2.sqlite", "photos/Photos-10.16.0.sqlite",
        ])
    func independentReader(path: String) throws {
        let model = try ModelReader.model(cache: SharedStores.identity(path).cache)
        let hashes = VersionHashes(model)
        let metadata = PropertyList.dictionary([
            "NSStoreModelVersionHashes": .dictionary(hashes.entities.mapValues { .data($0) })
        ])
        try TemporaryFolder.with { folder in
            let file = folder.appending(path: "store.sqlite").path
            let connection = try Connection(path: file, mode: .create, hardening: .own)
            try connection.execute("CREATE TABLE Z_METADATA (Z_PLIST BLOB); CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)")
            try insert(BinaryPropertyListWriter.bytes(of: metadata), "Z_METADATA", connection)
            try insert(ModelCacheWriter.cache(of: model), "Z_MODELCACHE", connection)
            try connection.close()
            let tool = Process()
            tool.executableURL = URL(filePath: try #require(Self.python))
            tool.arguments = [SharedStores.hashTool.path, "store", file]
            let output = Pipe()
            tool.standardOutput = output
            try tool.run()
            let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            tool.waitUntilExit()
            #expect(tool.terminationStatus == 0)
            #expect(text.contains("digest \(hashes.digest)"))
            #expect(text.contains("checksum \(hashes.checksum)"))
        }
    }

    private func insert(_ bytes: [UInt8], _ table: String, _ connection: borrowing Connection) throws {
        var statement = try connection.prepare("INSERT INTO \(table) VALUES (?)")
        try statement.bind(bytes, at: 1)
        try statement.run()
    }
}
