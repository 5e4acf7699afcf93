import CausewayCheckpoint
import CausewayMapping
import CausewayMappingFiles
import CausewayModel
import CausewayPlatform
import CausewayPlist
import CausewaySQLite
import CausewayStoreFormat

/// The inputs with which fuzzing starts, made from the project's fixtures and from code. It can write the committed
/// corpora again; findings that were added later are kept.
package struct SeedCorpus {
    /// `Fixtures` of this package.
    package let fixtures: String

    package init(fixtures: String) {
        self.fixtures = fixtures
    }

    /// A file of a corpus.
    package struct Seed: Sendable {
        package let name: String
        package let bytes: [UInt8]
    }

    /// Bytes of a seed, at most: larger ones slow every mutation down and find nothing more.
    package static let maximumBytes = 8 * 1024

    package func seeds(of target: FuzzTarget) throws -> [Seed] {
        let seeds: [Seed] =
            switch target {
            case .modelXML, .generatedSQL: try modelTexts()
            case .keyedArchive: try models().map { Seed(name: $0.0, bytes: try ModelCacheWriter.archive(of: $0.1)) }
            case .modelCache: try models().map { Seed(name: $0.0, bytes: try ModelCacheWriter.cache(of: $0.1)) }
            case .mappingModel: try mappings()
            case .metadata: try metadata()
            case .checkpoint: try checkpoints()
            case .records: texts(SeedTexts.records)
            case .expression: texts(SeedTexts.expressions)
            case .predicate: texts(SeedTexts.predicates)
            case .store: try stores()
            }
        return seeds.filter { $0.bytes.count <= Self.maximumBytes }
    }

    private func texts(_ texts: [String]) -> [Seed] {
        texts.enumerated().map { Seed(name: "seed-\($0.offset)", bytes: Array($0.element.utf8)) }
    }

    private func modelTexts() throws -> [Seed] {
        let histories = [
            "Orchard/Orchard.xcdatamodeld": ["v1", "v2"], "BookStore/BookStore.xcdatamodeld": ["v1", "v5"],
            "Tracks/Tracks.xcdatamodeld": ["v2"], "Jumps/Jumps.xcdatamodeld": ["v4"],
        ]
        var result = texts(SeedTexts.models)
        for (history, versions) in histories.sorted(by: { $0.key < $1.key }) {
            for version in versions {
                let path = "\(fixtures)/\(history)/\(version).xcdatamodel/contents"
                let name = "\(Paths.name(of: history).prefix { $0 != "." })-\(version)"
                result.append(Seed(name: name, bytes: try Files.readFile(path, limit: 1 << 20)))
            }
        }
        return result
    }

    private func models() throws -> [(String, ManagedObjectModel)] {
        try modelTexts().map { ($0.name, try ModelReader.model(source: $0.bytes)) }
    }

    private func mappings() throws -> [Seed] {
        var result = texts(SeedTexts.mappings)
        let folder = fixtures + "/ColourfulPosts"
        let path = folder + "/v2-v3.xcmappingmodel"
        let document = try Files.readFile(path + "/xcmapping.xml", limit: 1 << 20)
        result.append(Seed(name: "ColourfulPosts", bytes: document))
        // Models fill in what a mapping model leaves to defaults.
        let mapping = try MappingModelReader.read(path)
        let resolved = try mapping.resolved(from: version("v2", in: folder), to: version("v3", in: folder))
        result.append(Seed(name: "ColourfulPosts-compiled", bytes: try resolved.compiled().compiledBytes()))
        return result
    }

    private func version(_ name: String, in folder: String) throws -> VersionedModel {
        let path = "\(folder)/ColourfulPosts.xcdatamodeld/\(name).xcdatamodel/contents"
        let model = try ModelReader.model(source: Files.readFile(path, limit: 1 << 20))
        return VersionedModel(name: name, model: model)
    }

    private func metadata() throws -> [Seed] {
        let uuid = "01234567-89AB-CDEF-0123-456789ABCDEF"
        var result: [Seed] = []
        for (name, model) in try models() {
            let hashes = VersionHashes(model)
            var metadata = StoreMetadata(
                uuid: uuid, entityHashes: hashes.entities, versionIdentifiers: model.versionIdentifiers,
                frameworkVersion: 1_344)
            metadata.maximumFrameworkVersion = 1_344
            (metadata.hashesDigest, metadata.checksum) = (hashes.digest, hashes.checksum)
            metadata.other = ["app": .array([.real(0.5), .date(1), .boolean(true), .unsigned(.max), .data([1, 2])])]
            result.append(Seed(name: name, bytes: try metadata.plistBytes()))
        }
        let deep = (0..<40).reduce(PropertyList.string("end")) { inner, _ in .array([inner]) }
        result.append(Seed(name: "nested", bytes: try BinaryPropertyListWriter.bytes(of: deep)))
        return result
    }

    private func checkpoints() throws -> [Seed] {
        let identity = CheckpointIdentity(
            plan: Array(repeating: 5, count: CheckpointIdentity.digestLength),
            source: Array(repeating: 6, count: CheckpointIdentity.digestLength),
            migration: Array(repeating: 7, count: CheckpointIdentity.migrationLength))
        let columns = DeltaColumns.encode([Array(1...20), [5, -3, .max, .min, 0] + Array(repeating: 4, count: 15)])
        var fields = FieldWriter()
        fields.write(UInt64.max)
        fields.write(Int64.min)
        fields.write(42)
        fields.write(true)
        fields.write("größe")
        fields.write(bytes: [0, 255])
        fields.write(fixed: 0x0102_0304)
        let kinds: [UInt8] = [0, 1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 0, 0, 0, 0, 0]
        return [
            Seed(name: "empty", bytes: try container([], identity)),
            Seed(name: "fields-in-container", bytes: try container(fields.bytes, identity)),
            Seed(name: "zeros", bytes: try container(Array(repeating: 0, count: 100_000), identity)),
            Seed(name: "fields", bytes: kinds + fields.bytes),
            Seed(name: "segment", bytes: [2] + columns),
        ]
    }

    private func container(_ payload: [UInt8], _ identity: CheckpointIdentity) throws -> [UInt8] {
        try CheckpointContainer.encode(payload, sequence: 9, identity: identity, level: 3)
    }
}
