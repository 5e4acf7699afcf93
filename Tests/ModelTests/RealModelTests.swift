import CausewayExpressions
import CausewayModel
import CausewayPlist
import Foundation
import Testing

/// What a store's metadata says about its model.
struct StoreMetadata {
    let hashes: [String: [UInt8]]
    let digest: String?
    let checksum: String?

    init(_ bytes: [UInt8]) throws {
        let list = try PropertyList(parsing: bytes)
        hashes = try #require(list["NSStoreModelVersionHashes"]?.dictionary).compactMapValues(\.data)
        digest = list["NSStoreModelVersionHashesDigest"]?.string
        checksum = list["NSStoreModelVersionChecksumKey"]?.string
    }
}

@Suite("Models of real stores", .timeLimit(.minutes(60)))
struct RealModelTests {
    /// Versions without source in shared/stores; their models are read from the stores' caches.
    private static let storesWithoutSource = [
        "carekit/SampleStore2.0.sqlite", "carekit/SampleStore2.1.sqlite", "coredataplus/SampleModel2_V1.sqlite",
        "coredataplus/SampleModel2_V2.sqlite", "photos/Photos-10.15.4.sqlite", "photos/Photos-10.16.0.sqlite",
    ]

    @Test("hashes recomputed from the cache equal the metadata", arguments: SharedStores.stores)
    func cacheHashes(path: String) throws {
        let identity = try SharedStores.identity(path)
        let metadata = try StoreMetadata(identity.metadata)
        let hashes = VersionHashes(try ModelReader.model(cache: identity.cache))
        #expect(hashes.differences(from: metadata.hashes).isEmpty)
        if let digest = metadata.digest { #expect(hashes.digest == digest) }
        if let checksum = metadata.checksum { #expect(hashes.checksum == checksum) }
        #expect(hashes.unverified.isEmpty)
    }

    @Test(
        "every store but the listed ones matches a version of its own model source",
        .enabled(if: SharedStores.exist, "shared/stores is missing"))
    func sources() throws {
        var without: [String] = []
        for path in SharedStores.stores {
            let folder = path.prefix { $0 != "/" }
            let metadata = try StoreMetadata(SharedStores.identity(path).metadata)
            var isFound = false
            for source in SharedStores.sources where source.hasPrefix(folder + "/") && !isFound {
                let model = try ModelReader.model(source: SharedStores.bytes(source))
                isFound = VersionHashes(model).differences(from: metadata.hashes).isEmpty
            }
            if !isFound { without.append(path) }
        }
        #expect(without == Self.storesWithoutSource)
    }

    @Test("every source is read", arguments: SharedStores.sources)
    func readsSource(path: String) throws {
        let model = try ModelReader.model(source: SharedStores.bytes(path))
        #expect(!model.entities.isEmpty)
        #expect(model.versionIdentifiers.count == 1)
    }

    @Test("the compiler's hashes and checksums equal ours", arguments: SharedStores.bundles)
    func versionInfo(path: String) throws {
        let bundle = try ModelReader.bundle(at: SharedStores.path(path))
        #expect(bundle.failures.isEmpty)
        #expect(bundle.notices.isEmpty)
        for version in bundle.versions {
            let hashes = VersionHashes(try version.model.get())
            #expect((version.recorded != nil) == path.hasSuffix(".momd"))
            guard let recorded = version.recorded else { continue }
            #expect(hashes.differences(from: recorded.entities).isEmpty)
            if let checksum = recorded.checksum { #expect(hashes.checksum == checksum) }
        }
    }

    @Test(
        "source and compiled model are equal", .enabled(if: SharedStores.exist, "shared/stores is missing"),
        arguments: [
            ("SampleModel", "SampleModel"), ("SampleModel", "SampleModel2"), ("SampleModel", "SampleModel3"),
            ("SampleModel3", "SampleModel3"), ("SampleModel3", "SampleModel3_v2"),
            ("SampleModel3", "SampleModel3_v3"),
        ])
    func sourceEqualsCompiled(bundle: String, version: String) throws {
        let folder = "coredataplus/\(bundle)"
        let source = try #require(
            ModelReader.bundle(at: SharedStores.path("\(folder).xcdatamodeld")).version(named: version))
        let compiled = try #require(ModelReader.bundle(at: SharedStores.path("\(folder).momd")).version(named: version))
        let (left, right) = (try source.model.get(), try compiled.model.get())
        #expect(left.versionIdentifiers == right.versionIdentifiers)
        #expect(left.configurations == right.configurations)
        #expect(left.entities.keys.sorted() == right.entities.keys.sorted())
        for (name, entity) in left.entities {
            var expected = entity
            if bundle == "SampleModel", version == "SampleModel" {
                // The source names the class Color, the compiled file names none; which is older isn't known.
                for position in expected.attributes.indices where expected.attributes[position].name == "color" {
                    expected.attributes[position].valueClassName = nil
                }
            }
            let difference = try EntityDifference.between(expected, #require(right.entities[name]))
            #expect(difference == [], "\(name)")
        }
    }

    @Test(
        "a store of a current framework caches what its source compiles to",
        .enabled(if: SharedStores.exist, "shared/stores is missing"))
    func sourceEqualsCache() throws {
        let cached = try ModelReader.model(cache: SharedStores.identity("wire/store2-101-0.wiredatabase").cache)
        let source = try ModelReader.model(
            source: SharedStores.bytes("wire/zmessaging.xcdatamodeld/zmessaging2.101.0.xcdatamodel/contents"))
        for (name, entity) in source.entities {
            var expected = entity
            // The test that made the store had removed the classes from the model.
            expected.managedObjectClassName = cached.entities[name]?.managedObjectClassName
            var stored = try #require(cached.entities[name])
            // The order of implicit indexes is only that of CREATE INDEX; compound indexes are last in the cache.
            expected.fetchIndexes.sort { $0.name < $1.name }
            stored.fetchIndexes.sort { $0.name < $1.name }
            let difference = EntityDifference.between(expected, stored)
            #expect(difference == [], "\(name)")
        }
        #expect(source.versionIdentifiers == cached.versionIdentifiers)
    }

    @Test(
        "the details of an archive are read: configurations, derivation, validation, fetched properties",
        .enabled(if: SharedStores.exist, "shared/stores is missing"))
    func details() throws {
        let model = try ModelReader.model(cache: SharedStores.identity("coredataplus/SampleModel2_V2.sqlite").cache)
        #expect(model.configurations["SampleConfigurationV2Part2"] == ["Feedback"])
        #expect(model.versionIdentifiers.isEmpty)
        #expect(model.entities["GraphicNovel"]?.attributes.map(\.name) == ["isBlackAndWhite"])
        let book = try #require(model.entities["Book"])
        let derivation = try #require(book.attributes.first { $0.name == "pagesCount" }?.derivation)
        #expect(derivation.expression.predicateFormat == "count:(pages)")
        let title = try #require(book.attributes.first { $0.name == "title" })
        #expect(
            title.validations.map(\.predicate.predicateFormat) == [
                "length >= 3 AND length <= 50", "SELF CONTAINS \"title\"",
            ])
        #expect(title.validations.first?.warning == .string("Title must have a length between 3 and 50 chars."))
        let cover = try #require(book.attributes.first { $0.name == "frontCover" })
        #expect(cover.renamingIdentifier == "cover")
        #expect(cover.defaultValue == .foreign(className: "CoreDataPlus_Tests.Cover"))
        let favourites = try #require(model.entities["Author"]?.fetchedProperties.first { $0.name == "favFeedbacks" })
        #expect(favourites.fetchEntity == "Feedback")
        #expect(favourites.userInfo == ["search": .string("great")])
        #expect(model.entities["Book"]?.uniquenessConstraints == [["uniqueID"]])
    }
}
