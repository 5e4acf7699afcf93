import CausewayExpressions
import CausewayModel
import CausewayPlist
import CausewayXML
import Foundation
import Testing

@Suite("Model source before Xcode 4", .timeLimit(.minutes(60)))
struct EditorModelTests {
    private typealias Property = EditorArchive.Property
    private typealias Setting = EditorArchive.Setting

    private static func attribute(_ name: String, _ type: Int64, _ settings: [(String, Setting)] = []) -> Property {
        Property(name: name, settings: [("XD_PAttK_attributeType", .number(type))] + settings)
    }

    private static func relationship(
        _ name: String, _ destination: String, inverse: String, _ settings: [(String, Setting)]
    ) -> Property {
        Property(
            kind: "XDPMRelationship", name: name,
            settings: [
                ("XD_PRK_destination", .entity(destination)),
                ("XD_PRK_inverseRelationship", .relationship(entity: destination, name: inverse)),
            ] + settings)
    }

    static let entities = [
        EditorArchive.Entity(
            name: "Animal",
            settings: [
                ("XD_PSK_entityClassName", .text("Animal")), ("XD_PSK_isAbstract", .flag(true)),
                ("XD_PSK_userInfo", .info([("key with.dots", .string("value"))])),
                ("XDPMCompoundIndexes", .lists([["name", "born"]])),
            ],
            properties: [
                attribute(
                    "name", 700,
                    [
                        ("XD_PAttK_defaultValueAsString", .text("Nobody")), ("XD_PAttK_minValueString", .text("2")),
                        ("XD_PAttK_regularExpressionString", .text("[A-Z].*")), ("XD_PPSK_isIndexed", .flag(true)),
                    ]),
                attribute("born", 900, [("XD_PPSK_isOptional", .flag(true))]),
                relationship(
                    "keeper", "Keeper", inverse: "animals",
                    [("XD_PRK_minCount", .number(1)), ("XD_PRK_maxCount", .number(1))]),
            ]),
        EditorArchive.Entity(
            name: "Keeper", settings: [("XD_PSK_elementID", .text("Warden"))],
            properties: [
                attribute("paws", 100, [("XD_PAttK_defaultValueAsString", .text("NO"))]),
                attribute(
                    "photo", 1800,
                    [
                        ("XD_PAttK_valueTransformerName", .text("ImageTransformer")),
                        ("XD_PPSK_versionHashModifier", .text("2")), ("XD_PPSK_isTransient", .flag(false)),
                    ]),
                relationship(
                    "animals", "Animal", inverse: "keeper",
                    [
                        ("XD_PRK_isToMany", .flag(true)), ("XD_PRK_maxCount", .number(0)),
                        ("XD_PRK_deleteRule", .number(2)), ("XD_PPSK_isOptional", .flag(true)),
                        ("XD_PPSK_elementID", .text("beasts")),
                    ]),
            ]),
        EditorArchive.Entity(
            name: "Tiger", parent: "Animal", settings: [("XDPMUniquenessConstraints", .lists([["stripes"]]))],
            properties: [attribute("stripes", 200, [("XD_PPSK_isTransient", .flag(true))])]),
    ]

    private static let xml = source(
        """
        <entity name="Animal" representedClassName="Animal" isAbstract="YES">
            <attribute name="name" attributeType="String" defaultValueString="Nobody" minValueString="2"
                regularExpressionString="[A-Z].*" indexed="YES"/>
            <attribute name="born" optional="YES" attributeType="Date"/>
            <relationship name="keeper" minCount="1" maxCount="1" deletionRule="Nullify" destinationEntity="Keeper"
                inverseName="animals" inverseEntity="Keeper"/>
            <compoundIndexes><compoundIndex><index value="name"/><index value="born"/></compoundIndex></compoundIndexes>
            <userInfo><entry key="key with.dots" value="value"/></userInfo>
        </entity>
        <entity name="Keeper" elementID="Warden">
            <attribute name="paws" attributeType="Integer 16" defaultValueString="NO"/>
            <attribute name="photo" attributeType="Transformable" valueTransformerName="ImageTransformer"
                versionHashModifier="2"/>
            <relationship name="animals" optional="YES" toMany="YES" deletionRule="Cascade" destinationEntity="Animal"
                inverseName="keeper" inverseEntity="Animal" elementID="beasts"/>
        </entity>
        <entity name="Tiger" parentEntity="Animal">
            <attribute name="stripes" transient="YES" attributeType="Integer 32"/>
            <uniquenessConstraints><uniquenessConstraint><constraint value="stripes"/></uniquenessConstraint></uniquenessConstraints>
        </entity>
        <configuration name="Cloud"><memberEntity name="Animal"/><memberEntity name="Tiger"/></configuration>
        """, identifier: "1.5")

    @Test("the editor's objects mean what the XML of the same model means")
    func meaning() throws {
        let bytes = try EditorArchive.bytes(
            Self.entities, identifier: "1.5", configurations: [("Cloud", ["Animal", "Tiger"])])
        #expect(try ModelReader.model(compiled: bytes) == ModelReader.model(source: Self.xml))
    }

    @Test("a history may have versions of both forms; contents counts where one has both")
    func bundle() throws {
        let old = try EditorArchive.bytes(Self.entities)
        try TemporaryFolder.with { folder in
            try TemporaryFolder.write(
                [
                    "Zoo.xcdatamodeld/Zoo.xcdatamodel/elements": old,
                    "Zoo.xcdatamodeld/Zoo.xcdatamodel/layout": [],
                    "Zoo.xcdatamodeld/Zoo 2.xcdatamodel/contents": source("<entity name='Cage'/>"),
                    "Zoo.xcdatamodeld/Zoo 2.xcdatamodel/elements": old,
                ], in: folder)
            let history = try ModelReader.bundle(at: folder.appending(path: "Zoo.xcdatamodeld").path)
            #expect(history.failures.isEmpty)
            #expect(try history.versions[0].model.get().entities.keys.sorted() == ["Animal", "Keeper", "Tiger"])
            #expect(try history.versions[1].model.get().entities.keys.sorted() == ["Cage"])
            let one = try ModelReader.bundle(
                at: folder.appending(path: "Zoo.xcdatamodeld/Zoo.xcdatamodel").path)
            #expect(one.kind == .source)
            #expect(one.versions[0].name == "Zoo")
        }
    }

    @Test("a fetched property is there, though its request isn't known")
    func fetched() throws {
        let property = Property(
            kind: "XDPMFetchedProperty", name: "recent", settings: [("XD_PPSK_isOptional", .flag(true))])
        let model = try ModelReader.model(
            compiled: EditorArchive.bytes([.init(name: "Cage", properties: [property])]))
        #expect(model.entities["Cage"]?.fetchedProperties.map(\.name) == ["recent"])
    }

    @Test(
        "what can't be understood is refused by name",
        arguments: [
            (
                Property(
                    name: "deep",
                    settings: [
                        ("XD_PAttK_attributeType", .number(700)), ("XD_PPSK_userInfo", .info([("k", deepValue)])),
                    ]), "Cage.deep: The user info “k” (XD_PPSK_userInfo) can't be read: "
            ),
            (
                Property(name: "default", settings: [("XD_PAttK_defaultValueAsString", .number(1))]),
                "at Cage.default: “XD_PAttK_defaultValueAsString”: Expected a string, found an integer."
            ),
            (
                Property(name: "odd", settings: [("XD_PAttK_attributeType", .number(12))]),
                "Cage.odd: The attribute type “12” is not known."
            ),
            (
                Property(kind: "XDPMRelationship", name: "lost", settings: [("XD_PRK_maxCount", .number(1))]),
                "Cage.lost"
            ),
            (Property(kind: "XDPMDream", name: "dream"), "The property “Cage.dream” is a XDPMDream"),
        ])
    private func refused(property: Property, text: String) throws {
        let bytes = try EditorArchive.bytes([.init(name: "Cage", properties: [property])])
        let error = #expect(throws: ModelError.self) { try ModelReader.model(compiled: bytes) }
        let message = "\(try #require(error))"
        #expect(message.contains(text))
        #expect(!message.contains("..") && !message.contains(". ("), "\(message)")
    }

    /// Deeper than a constant may be.
    private static let deepValue = (0..<1000).reduce(Constant.null) { value, _ in .array([value]) }

    @Test("user info may be of any kind that a property list has, at entities and at properties")
    func userInfo() throws {
        let info: [(String, Constant)] = [
            ("text", .string("a")), ("number", .integer(3)), ("real", .real(0.5)), ("flag", .boolean(true)),
            ("data", .data([1, 2])), ("date", .date(7.5)),
            ("array", .array([.string("a"), .array([.integer(1)])])),
            (
                "dictionary",
                .dictionary([.init(key: "k", value: .dictionary([.init(key: "l", value: .boolean(false))]))])
            ),
        ]
        let settings: [(String, Setting)] = [("XD_PPSK_userInfo", .info(info))]
        let cage = EditorArchive.Entity(
            name: "Cage", settings: [("XD_PSK_userInfo", .info(info))],
            properties: [
                Self.attribute("size", 100, settings),
                Self.relationship("next", "Cage", inverse: "next", [("XD_PRK_maxCount", .number(1))] + settings),
                Property(kind: "XDPMFetchedProperty", name: "recent", settings: settings),
            ])
        let entity = try #require(try ModelReader.model(compiled: EditorArchive.bytes([cage])).entities["Cage"])
        let expected = Dictionary(uniqueKeysWithValues: info)
        #expect(entity.userInfo == expected)
        #expect(entity.attributes.map(\.userInfo) == [expected])
        #expect(entity.relationships.map(\.userInfo) == [expected])
        #expect(entity.fetchedProperties.map(\.userInfo) == [expected])
    }

    @Test("dates that are texts stay texts, change no hash, and are no part of a model cache")
    func dateTexts() throws {
        let dates: [(String, Setting)] = [
            ("XD_PAttK_defaultValueAsString", .text("1/2/03")), ("XD_PAttK_minValueString", .text("1.2.2003")),
            ("XD_PAttK_maxValueString", .text("")),
        ]
        func model(_ settings: [(String, Setting)]) throws -> ManagedObjectModel {
            let cage = EditorArchive.Entity(name: "Cage", properties: [Self.attribute("built", 900, settings)])
            return try ModelReader.model(compiled: EditorArchive.bytes([cage]))
        }
        let (read, plain) = (try model(dates), try model([]))
        let built = try #require(read.entities["Cage"]?.attributes.first)
        #expect(built.dateText == "1/2/03")
        #expect(built.validations.map(\.predicate.predicateFormat) == ["SELF >= \"1.2.2003\""])
        #expect(VersionHashes(read) == VersionHashes(plain))
        #expect(
            try ModelReader.model(cache: ModelCacheWriter.cache(of: read))
                == ModelReader.model(cache: ModelCacheWriter.cache(of: plain)))
    }
}

@Suite("Copies of models in real mapping models", .timeLimit(.minutes(60)))
struct EditorModelCopyTests {
    /// The sources in `shared/stores` were edited after these mapping models had been made.
    private static let edited = ["loopkit"]
    private static let mappings = SharedStores.paths { $0.hasSuffix("/xcmapping.xml") }
        .filter { !$0.hasPrefix("Fixtures/") }

    @Test(
        "they have the hashes of the version that the mapping model names",
        .enabled(if: SharedStores.exist, "shared/stores is missing"), arguments: mappings)
    func hashes(path: String) throws {
        let folder = String(path.prefix { $0 != "/" })
        let tree = try XMLTree(parsing: SharedStores.bytes(path), doctype: .allowExternalIdentifierOnly)
        let objects = tree.root.children(named: "object").filter { $0["type"] == "XDDEVMAPPINGMODEL" }
        for (role, object) in ["source", "destination"].flatMap({ role in objects.map { (role, $0) } }) {
            let attributes = object.children(named: "attribute")
            func text(_ name: String) -> String? { attributes.first { $0["name"] == name }?.text }
            // Line feeds are written as `\n` there.
            guard let data = text("\(role)modeldata")?.replacing("\\n", with: ""), let named = text("\(role)modelpath")
            else { continue }
            let version = named.split(separator: "/").suffix(2).joined(separator: "/")
            let bytes = try #require(Base64.decode(data))
            let copy = VersionHashes(try ModelReader.model(compiled: bytes))
            #expect(!copy.checksum.isEmpty)
            let source = "\(folder)/\(version)/contents"
            guard !Self.edited.contains(folder), SharedStores.sources.contains(source) else { continue }
            #expect(copy.checksum == VersionHashes(try ModelReader.model(source: SharedStores.bytes(source))).checksum)
        }
    }
}
