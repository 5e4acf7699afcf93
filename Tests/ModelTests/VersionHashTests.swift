import CausewayExpressions
import CausewayModel
import Foundation
import Testing

/// Recorded hashes of models and their properties: version-hash-vectors.json in shared/reference.
private struct HashVector: Decodable {
    struct Entity: Decodable {
        struct Property: Decodable {
            let base: String
            let hash: String
        }
        let hash: String
        let properties: [String: Property]?
    }
    let model: String
    let source: String?
    let xml: String?
    let entities: [String: Entity]
    let digest: String?
    let checksum: String?

    static func all() throws -> [HashVector] {
        try JSONDecoder().decode([HashVector].self, from: Data(contentsOf: SharedStores.vectors))
    }

    /// The vector's model, from any of its places; nil if this machine doesn't have it.
    func read() throws -> ManagedObjectModel? {
        if let xml { return try ModelReader.model(source: Array(xml.utf8)) }
        if let source {
            let path = try #require(
                SharedStores.sources.first { $0.hasPrefix("colourful-posts/") && $0.hasSuffix(source) })
            return try ModelReader.model(source: SharedStores.bytes(path))
        }
        // Its source isn't published, but one of its stores has the model.
        guard model.hasPrefix("SampleModel2_V1") else { return nil }
        return try ModelReader.model(cache: SharedStores.identity("coredataplus/SampleModel2_V1.sqlite").cache)
    }
}

private func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { String(format: "%02x", $0) }.joined()
}

@Suite("Version hash vectors", .timeLimit(.minutes(60)), .enabled(if: SharedStores.exist, "shared/stores is missing"))
struct VersionHashVectorTests {
    @Test("entities, properties, digest and checksum equal the vectors")
    func vectors() throws {
        var checked = 0
        for vector in try HashVector.all() {
            let model = try #require(try vector.read(), "\(vector.model)")
            let hashes = VersionHashes(model)
            #expect(hashes.unverified.isEmpty)
            if let digest = vector.digest { #expect(hashes.digest == digest) }
            if let checksum = vector.checksum { #expect(hashes.checksum == checksum) }
            #expect(hashes.entities.keys.sorted() == vector.entities.keys.sorted())
            for (name, entity) in vector.entities {
                #expect(hexadecimal(hashes.entities[name] ?? []) == entity.hash, "\(vector.model) \(name)")
                try check(entity.properties ?? [:], of: name, in: model)
            }
            checked += 1
        }
        #expect(checked == 6)
    }

    private func check(
        _ properties: [String: HashVector.Entity.Property], of name: String, in model: ManagedObjectModel
    )
        throws
    {
        let hash = VersionHash(model)
        let computed = Dictionary(uniqueKeysWithValues: hash.hashedProperties(of: name).map { ($0.name, $0.hash) })
        for (property, expected) in properties {
            #expect(hexadecimal(computed[property] ?? []) == expected.hash)
            let base: [UInt8]
            if let attribute = model.attribute(property, of: name)?.attribute {
                base = VersionHash.base(
                    name: property, isOptional: attribute.isOptional, isTransient: attribute.isTransient,
                    versionHashModifier: attribute.versionHashModifier)
            } else {
                let relationship = try #require(model.relationship(property, of: name)).relationship
                base = VersionHash.base(
                    name: property, isOptional: relationship.isOptional, isTransient: relationship.isTransient,
                    versionHashModifier: relationship.versionHashModifier)
            }
            #expect(hexadecimal(base) == expected.base)
        }
    }
}

@Suite("Version hash rules", .timeLimit(.minutes(60)))
struct VersionHashRuleTests {
    private func model(_ change: (inout Entity) -> Void) -> ManagedObjectModel {
        var attribute = Attribute(name: "title", type: .string)
        attribute.isOptional = true
        var entity = Entity(name: "Book")
        entity.attributes = [attribute]
        entity.relationships = [Relationship(name: "related", destination: "Book")]
        change(&entity)
        return ManagedObjectModel(entities: [entity])
    }

    private func hash(_ change: (inout Entity) -> Void) -> [UInt8] {
        VersionHashes(model(change)).entities["Book"] ?? []
    }

    @Test("a change that stores depend on changes the hash")
    func changes() {
        let plain = hash { _ in }
        let changed = [
            hash { $0.isAbstract = true }, hash { $0.attributes[0].isOptional = false },
            hash { $0.attributes[0].type = .integer16 }, hash { $0.attributes[0].versionHashModifier = "1" },
            hash { $0.attributes[0].isTransient = true }, hash { $0.versionHashModifier = "1" },
            hash { $0.attributes[0].allowsExternalBinaryDataStorage = true },
            hash { $0.relationships[0].maxCount = 1 }, hash { $0.relationships[0].minCount = 1 },
            hash { $0.relationships[0].isOrdered = true }, hash { $0.uniquenessConstraints = [["title"]] },
            hash { $0.relationships[0].destination = "Page" },
        ]
        #expect(Set(changed).count == changed.count)
        #expect(!changed.contains(plain))
    }

    @Test("a change that stores don't depend on keeps the hash")
    func leavesAlone() {
        let plain = hash { _ in }
        #expect(hash { $0.attributes[0].defaultValue = .string("x") } == plain)
        #expect(hash { $0.attributes[0].valueTransformerName = "T" } == plain)
        #expect(hash { $0.attributes[0].isIndexed = true } == plain)
        #expect(hash { $0.relationships[0].deleteRule = .cascade } == plain)
        #expect(hash { $0.renamingIdentifier = "Tome" } == plain)
        #expect(hash { $0.userInfo = ["a": .integer(1)] } == plain)
        #expect(hash { $0.fetchedProperties = [FetchedProperty(name: "f")] } == plain)
        #expect(hash { $0.fetchIndexes = [FetchIndex(name: "i", elements: [.init(.property("title"))])] } == plain)
        #expect(hash { $0.managedObjectClassName = "Tome" } == plain)
    }

    @Test("a relationship that is its own inverse has none in its hash")
    func selfInverse() {
        #expect(hash { $0.relationships[0].inverse = "related" } == hash { _ in })
    }

    @Test("the hash doesn't depend on the composite's own name or the order of its elements")
    func composite() {
        func composite(_ name: String, _ elements: [String]) -> [UInt8] {
            hash { entity in
                var attribute = Attribute(name: name, type: .composite)
                attribute.elements = elements.map { Attribute(name: $0, type: .double) }
                entity.attributes = [attribute]
                entity.relationships = []
            }
        }
        #expect(composite("place", ["x", "y"]) == composite("location", ["y", "x"]))
        #expect(composite("place", ["x", "y"]) != composite("place", ["x", "z"]))
    }

    @Test("hashes by rules that no sample confirms are flagged, subentities included")
    func unverified() {
        var parent = Entity(name: "Parent")
        var derived = Attribute(name: "d", type: .string)
        derived.derivation = .init(
            expression: .function(operand: nil, name: "canonical:", arguments: [.key("name")]))
        parent.attributes = [derived]
        var child = Entity(name: "Child")
        child.parent = "Parent"
        var counted = Entity(name: "Counted")
        derived.derivation = .init(expression: .function(operand: nil, name: "count:", arguments: [.key("pages")]))
        counted.attributes = [derived]
        let model = ManagedObjectModel(entities: [parent, child, counted, Entity(name: "Größe")])
        #expect(VersionHashes(model).unverified == ["Child", "Größe", "Parent"])
    }
}
