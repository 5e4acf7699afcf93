import Causeway
import CausewayGenerator
import CausewaySQLite
import Foundation

/// The stores and tools in `shared`. Tests that need them are skipped where they are missing.
enum SharedStores {
    private static let project = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let folder = project.deletingLastPathComponent().appending(path: "shared/stores")
    static let isThere = FileManager.default.fileExists(atPath: folder.path(percentEncoded: false))

    static func path(_ relative: String) -> String { folder.appending(path: relative).path(percentEncoded: false) }
}

/// A folder with stores for one test.
struct StoreFolder: ~Copyable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "causeway-compare-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    func path(_ name: String) -> String { url.appending(path: name).path(percentEncoded: false) }

    /// Everything that a comparison looks at: attributes of several classes, external data, a hierarchy, a to-one to
    /// it, an ordered to-many, an ordered many-to-many, a to-many without inverse.
    private static let model = """
        <entity name="Author"><attribute name="name" attributeType="String" optional="YES"/>
        <attribute name="score" attributeType="Double" optional="YES"/>
        <relationship name="works" toMany="YES" optional="YES" ordered="YES" deletionRule="Nullify" \
        destinationEntity="Work" inverseName="author" inverseEntity="Work"/></entity>
        <entity name="Novel" parentEntity="Work"><attribute name="plot" attributeType="String" optional="YES"/></entity>
        <entity name="Shelf"><attribute name="room" attributeType="Integer 32" optional="YES"/>
        <relationship name="favourite" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Work"/>
        <relationship name="tools" toMany="YES" optional="YES" deletionRule="Nullify" destinationEntity="Tool"/></entity>
        <entity name="Tag"><attribute name="label" attributeType="String" optional="YES"/>
        <relationship name="works" toMany="YES" optional="YES" deletionRule="Nullify" destinationEntity="Work" \
        inverseName="tags" inverseEntity="Work"/></entity>
        <entity name="Tool"><attribute name="name" attributeType="String" optional="YES"/></entity>
        <entity name="Work"><attribute name="cover" attributeType="Binary" optional="YES" \
        allowsExternalBinaryDataStorage="YES"/><attribute name="pages" attributeType="Integer 32" optional="YES"/>
        <attribute name="title" attributeType="String" optional="YES"/>
        <relationship name="author" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Author" \
        inverseName="works" inverseEntity="Author"/>
        <relationship name="tags" toMany="YES" optional="YES" ordered="YES" deletionRule="Nullify" \
        destinationEntity="Tag" inverseName="works" inverseEntity="Tag"/></entity>
        """

    /// Writes a version of the model, with more entities or attributes of them.
    func makeModel(_ name: String = "Books", more: String = "", replacing text: String = "", by other: String = "")
        throws
    {
        let folder = path(name + ".xcdatamodel")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let entities = text.isEmpty ? Self.model : Self.model.replacingOccurrences(of: text, with: other)
        let content = """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">\(entities)\(more)</model>
            """
        try Data(content.utf8).write(to: URL(filePath: folder + "/contents"))
    }

    /// A generated store of the model.
    func generate(_ name: String = "a.sqlite", model: String = "Books", rows: Int = 120, seed: UInt64 = 7) throws {
        let generation = StoreGeneration(
            model: path(model + ".xcdatamodel"), output: path(name), rows: rows, seed: seed)
        try generation.run()
    }

    /// `a.sqlite`, and `b.sqlite`, a copy of it with its external data.
    func twins() throws {
        try makeModel()
        try generate()
        try copy("a", to: "b")
    }

    func copy(_ store: String, to other: String) throws {
        try FileManager.default.copyItem(atPath: path(store + ".sqlite"), toPath: path(other + ".sqlite"))
        let support = path(".\(store)_SUPPORT")
        if FileManager.default.fileExists(atPath: support) {
            try FileManager.default.copyItem(atPath: support, toPath: path(".\(other)_SUPPORT"))
        }
    }

    /// Changes a store.
    func change(_ sql: String, in store: String = "b.sqlite") throws {
        try Connection(path: path(store), mode: .readWrite, hardening: .own).execute(sql)
    }

    /// The first value of the first row.
    func value(_ sql: String, in store: String = "b.sqlite") throws -> String {
        let connection = try Connection(path: path(store), mode: .readOnly, hardening: .own)
        var statement = try connection.prepare(sql)
        return try statement.step() ? try statement.string(at: 0) ?? "" : ""
    }

    func compare(isModuloKeys: Bool = false) throws -> StoreComparison {
        try StoreComparison(path("a.sqlite"), path("b.sqlite"), isModuloKeys: isModuloKeys)
    }

    /// Copies one of the shared stores, with its -wal, writable.
    func copyShared(_ source: String, as name: String) throws -> String {
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: SharedStores.path(source) + suffix) {
            try FileManager.default.copyItem(atPath: SharedStores.path(source) + suffix, toPath: path(name) + suffix)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path(name) + suffix)
        }
        return path(name)
    }
}

extension StoreComparison {
    /// What differs: `Entity.property`, or `Entity` for rows; relationships and tables by their names.
    var places: Set<String> {
        var places: Set<String> = []
        for entity in entities {
            if entity.onlyInA.count + entity.onlyInB.count > 0 { places.insert(entity.name) }
            if entity.linksOnlyInA.count + entity.linksOnlyInB.count > 0 { places.insert("\(entity.name) links") }
            for property in entity.properties {
                places.insert("\(entity.name).\(property.name)\(property.kind == .place ? " place" : "")")
            }
        }
        return places.union(relationships.filter(\.differs).map(\.name)).union(tables.filter(\.differs).map(\.name))
    }
}
