import CausewayExpressions
import CausewayModel
import Testing

@Suite("A model as Xcode's source", .timeLimit(.minutes(60)))
struct ModelExportTests {
    /// Writes the model, reads it back and compares hashes, digest and checksum. Gives what was read and left out.
    @discardableResult
    private func exported(_ model: ManagedObjectModel) throws -> (read: ManagedObjectModel, leftOut: [String]) {
        let source = try SourceModelWriter.source(of: model)
        let read = try ModelReader.model(source: source.bytes)
        #expect(VersionHashes(read) == VersionHashes(model))
        // The source's own source is the same: nothing is lost a second time.
        let again = try SourceModelWriter.source(of: read)
        #expect(again.bytes == source.bytes)
        #expect(again.leftOut == [])
        return (read, source.leftOut.map(\.description))
    }

    private func expectEqual(_ a: ManagedObjectModel, _ b: ManagedObjectModel) throws {
        #expect(a.entities.keys.sorted() == b.entities.keys.sorted())
        for (name, entity) in a.entities {
            let difference = try EntityDifference.between(entity, #require(b.entities[name]))
            #expect(difference == [], "\(name)")
        }
        #expect(a.configurations == b.configurations)
        #expect(a.versionIdentifiers == b.versionIdentifiers)
    }

    @Test("every store's cache is written with equal hashes and checksum", arguments: SharedStores.stores)
    func caches(path: String) throws {
        let identity = try SharedStores.identity(path)
        let (read, leftOut) = try exported(ModelReader.model(cache: identity.cache))
        let metadata = try StoreMetadata(identity.metadata)
        let hashes = VersionHashes(read)
        #expect(hashes.differences(from: metadata.hashes) == [])
        if let checksum = metadata.checksum { #expect(hashes.checksum == checksum) }
        // CoreDataPlus builds its second sample in code, with rules that no editor has. Photos has its own compiler,
        // which adds no indexes, and a list as user info.
        if path.contains("SampleModel2_") { return }
        let isPhotos = path.contains("Photos-")
        let known = [
            "that it has no fetch index ", "the entry “_NSLocationAttributeDerivedComponents” of its user info",
        ]
        #expect(leftOut.filter { text in !isPhotos || !known.contains { text.contains($0) } } == [])
    }

    @Test("every compiled model is written with equal hashes and checksum", arguments: SharedStores.compiled)
    func compiled(path: String) throws {
        let model = try ModelReader.model(compiled: SharedStores.bytes(path))
        let (read, leftOut) = try exported(model)
        #expect(leftOut == [])
        try expectEqual(model, read)
    }

    @Test("every source is written as an equal model", arguments: SharedStores.sources)
    func sources(path: String) throws {
        let model = try ModelReader.model(source: SharedStores.bytes(path))
        let (read, leftOut) = try exported(model)
        #expect(leftOut == [])
        try expectEqual(model, read)
    }

    @Test(
        "what a model built in code has and the editor hasn't is named, one sentence each",
        .enabled(if: SharedStores.exist, "shared/stores is missing"))
    func leftOut() throws {
        let model = try ModelReader.model(cache: SharedStores.identity("coredataplus/SampleModel2_V2.sqlite").cache)
        let leftOut = try exported(model).leftOut
        #expect(
            leftOut.contains(
                "Book.frontCover: its default value, an object of the class CoreDataPlus_Tests.Cover"))
        #expect(
            leftOut.contains(
                "Book.title: the validation “length >= 3 AND length <= 50”: no field of Xcode's editor makes it"))
    }

    // MARK: - Layout

    /// One entity with everything that the source can say.
    private static let rich: ManagedObjectModel = {
        var thing = Entity(name: "Thing")
        thing.managedObjectClassName = "ThingObject"
        thing.renamingIdentifier = "OldThing"
        thing.versionHashModifier = "2"
        thing.userInfo = ["note": .string("a < b & \"c\"\nnext line")]
        func attribute(_ name: String, _ type: AttributeType, _ change: (inout Attribute) -> Void = { _ in }) {
            var attribute = Attribute(name: name, type: type)
            change(&attribute)
            thing.attributes.append(attribute)
        }
        func rule(
            _ operation: ComparisonOperator, _ value: Constant, _ code: Int64, _ left: Expression = .evaluatedObject
        )
            -> Attribute.Validation
        {
            .init(
                predicate: .comparison(Predicate.Comparison(left, operation, .constant(value))),
                warning: .integer(code))
        }
        attribute("born", .date) {
            $0.defaultValue = .date(-3.5)
            $0.validations = [rule(.greaterThanOrEqualTo, .date(-100), 1640)]
        }
        attribute("count", .integer16) {
            $0.defaultValue = .integer(-7)
            $0.isOptional = true
            // As Photos has them: maximum first.
            $0.validations = [
                rule(.lessThanOrEqualTo, .integer(8), 1610), rule(.greaterThanOrEqualTo, .integer(1), 1620),
            ]
        }
        attribute("data", .binary) {
            $0.allowsExternalBinaryDataStorage = true
            $0.preservesValueInHistoryOnDeletion = true
        }
        attribute("isOpen", .boolean) { $0.defaultValue = .boolean(true) }
        attribute("key", .uuid) { $0.defaultValue = .uuid(Array(1...16)) }
        attribute("made", .transformable) {
            $0.valueTransformerName = "MakerTransformer"
            $0.valueClassName = "Maker"
        }
        attribute("name", .string) {
            $0.defaultValue = .string("")
            $0.renamingIdentifier = "title"
            $0.versionHashModifier = "x"
            $0.validations = [
                rule(.greaterThanOrEqualTo, .integer(2), 1670, .key("length")),
                rule(.matches, .string("[a-z]+"), 1680),
            ]
        }
        attribute("partCount", .integer64) {
            $0.derivation = .init(expression: .function(operand: nil, name: "count:", arguments: [.key("parts")]))
        }
        attribute("place", .composite) {
            $0.elements = [Attribute(name: "y", type: .double), Attribute(name: "x", type: .double)]
        }
        attribute("price", .decimal) { $0.defaultValue = .decimal("12.5") }
        attribute("ratio", .double) { $0.defaultValue = .real(1e-7) }
        attribute("scratch", .undefined) { $0.isTransient = true }
        var parts = Relationship(name: "parts", destination: "Part")
        (parts.inverse, parts.isOrdered, parts.deleteRule, parts.minCount) = ("whole", true, .cascade, 1)
        thing.relationships = [parts]
        var found = FetchedProperty(name: "found")
        found.fetchEntity = "Part"
        found.predicate = try? Predicate(parsing: "whole == $FETCH_SOURCE AND number > 3")
        thing.fetchedProperties = [found]
        thing.fetchIndexes = [
            FetchIndex(
                name: "byName",
                elements: [
                    .init(.property("name")), .init(.expression(name: "any", .evaluatedObject), isAscending: false),
                ],
                partialPredicate: try? Predicate(parsing: "count != nil"))
        ]
        thing.uniquenessConstraints = [["name", "count"], ["key"]]
        var part = Entity(name: "Part")
        part.isAbstract = true
        var whole = Relationship(name: "whole", destination: "Thing")
        (whole.inverse, whole.maxCount, whole.isOptional, whole.deleteRule) = ("parts", 1, true, .noAction)
        part.relationships = [whole]
        part.attributes = [Attribute(name: "number", type: .float)]
        var screw = Entity(name: "Screw")
        screw.parent = "Part"
        return ManagedObjectModel(
            entities: [thing, part, screw], configurations: ["Half": ["Thing", "Part"]], versionIdentifiers: ["v7"])
    }()

    private static let richText = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="22758" \
        systemVersion="23G93" minimumToolsVersion="Automatic" sourceLanguage="Swift" \
        userDefinedModelVersionIdentifier="v7">
            <entity name="Part" isAbstract="YES" syncable="YES">
                <attribute name="number" attributeType="Float"/>
                <relationship name="whole" optional="YES" maxCount="1" deletionRule="No Action" \
        destinationEntity="Thing" inverseName="parts" inverseEntity="Thing"/>
            </entity>
            <entity name="Screw" parentEntity="Part" syncable="YES"/>
            <entity name="Thing" representedClassName="ThingObject" elementID="OldThing" versionHashModifier="2" \
        syncable="YES">
                <attribute name="born" attributeType="Date" minDateTimeInterval="-100" defaultDateTimeInterval="-3.5"/>
                <attribute name="count" optional="YES" attributeType="Integer 16" minValueString="1" \
        maxValueString="8" defaultValueString="-7"/>
                <attribute name="data" attributeType="Binary" allowsExternalBinaryDataStorage="YES" \
        preserveAfterDeletion="YES"/>
                <attribute name="isOpen" attributeType="Boolean" defaultValueString="YES"/>
                <attribute name="key" attributeType="UUID" defaultValueString="01020304-0506-0708-090A-0B0C0D0E0F10"/>
                <attribute name="made" attributeType="Transformable" valueTransformerName="MakerTransformer" \
        customClassName="Maker"/>
                <attribute name="name" attributeType="String" minValueString="2" regularExpressionString="[a-z]+" \
        defaultValueString="" elementID="title" versionHashModifier="x"/>
                <attribute name="partCount" attributeType="Integer 64" derived="YES" \
        derivationExpression="parts.@count"/>
                <attribute name="place" attributeType="Composite" composite="Place"/>
                <attribute name="price" attributeType="Decimal" defaultValueString="12.5"/>
                <attribute name="ratio" attributeType="Double" defaultValueString="1e-07"/>
                <attribute name="scratch" transient="YES"/>
                <relationship name="parts" toMany="YES" minCount="1" deletionRule="Cascade" ordered="YES" \
        destinationEntity="Part" inverseName="whole" inverseEntity="Part"/>
                <fetchedProperty name="found">
                    <fetchRequest name="fetchedPropertyFetchRequest" entity="Part" \
        predicateString="whole == $FETCH_SOURCE AND number &gt; 3"/>
                </fetchedProperty>
                <fetchIndex name="byName" partialIndexPredicate="count != nil">
                    <fetchIndexElement property="name" type="Binary" order="ascending"/>
                    <fetchIndexElement expression="self" type="Binary" order="descending"/>
                </fetchIndex>
                <uniquenessConstraints>
                    <uniquenessConstraint>
                        <constraint value="name"/>
                        <constraint value="count"/>
                    </uniquenessConstraint>
                    <uniquenessConstraint>
                        <constraint value="key"/>
                    </uniquenessConstraint>
                </uniquenessConstraints>
                <userInfo>
                    <entry key="note" value="a &lt; b &amp; &quot;c&quot;&#10;next line"/>
                </userInfo>
            </entity>
            <composite name="Place">
                <attribute name="y" attributeType="Double"/>
                <attribute name="x" attributeType="Double"/>
            </composite>
            <configuration name="Half">
                <memberEntity name="Part"/>
                <memberEntity name="Thing"/>
            </configuration>
        </model>
        """

    @Test("the text is laid out as Xcode does it, everything by name")
    func text() throws {
        let source = try SourceModelWriter.source(of: Self.rich)
        #expect(source.leftOut == [])
        #expect(String(decoding: source.bytes, as: UTF8.self) == Self.richText)
        let read = try exported(Self.rich).read
        let thing = try #require(read.entities["Thing"])
        #expect(thing.userInfo == ["note": .string("a < b & \"c\"\nnext line")])
        #expect(thing.uniquenessConstraints == [["name", "count"], ["key"]])
        #expect(thing.attributes.first { $0.name == "born" }?.defaultValue == .date(-3.5))
        #expect(thing.attributes.first { $0.name == "ratio" }?.defaultValue == .real(1e-7))
        #expect(thing.attributes.first { $0.name == "place" }?.elements.map(\.name) == ["y", "x"])
        #expect(read.versionIdentifiers == ["v7"])
        #expect(read.configurations == ["Half": ["Part", "Thing"]])
    }

    @Test("equal composite types are written once, different ones of one name apart")
    func composites() throws {
        func place(_ name: String, _ elements: [String]) -> Attribute {
            var place = Attribute(name: name, type: .composite)
            place.elements = elements.map { Attribute(name: $0, type: .string) }
            return place
        }
        var (a, b) = (Entity(name: "A"), Entity(name: "B"))
        a.attributes = [place("home", ["x"]), place("work", ["x"])]
        b.attributes = [place("home", ["y"])]
        let bytes = try SourceModelWriter.source(of: ManagedObjectModel(entities: [a, b])).bytes
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.split(separator: "<composite ").count == 3)
        #expect(text.contains("<composite name=\"Home2\">"))
        try exported(ManagedObjectModel(entities: [a, b]))
    }

    // MARK: - Refusals

    private func refusal(_ change: (inout Attribute) -> Void) throws -> ModelError? {
        var attribute = Attribute(name: "a", type: .string)
        change(&attribute)
        var entity = Entity(name: "Thing")
        entity.attributes = [attribute]
        return #expect(throws: ModelError.self) {
            try SourceModelWriter.source(of: ManagedObjectModel(entities: [entity]))
        }
    }

    @Test("what version hashes depend on and the source can't say is refused, by name")
    func refusals() throws {
        let filter = try refusal {
            $0.derivation = .init(expression: .key("b"), filter: .literal(true))
        }
        #expect(filter?.code == .unsupportedFormat)
        #expect(filter?.problems.first?.entity == "Thing")
        #expect(filter?.problems.first?.property == "a")
        #expect(try refusal { $0.versionHashModifier = "\u{1}" }?.code == .unsupportedFormat)
        #expect(try refusal { $0.type = .composite }?.code == .unsupportedFormat)
    }

    @Test("an index that the compiler would add is named")
    func addedIndex() throws {
        var entity = Entity(name: "Thing")
        entity.attributes = [Attribute(name: "a", type: .string)]
        entity.fetchIndexes = [FetchIndex(name: "byA", elements: [.init(.property("a"))])]
        let (read, leftOut) = try exported(ManagedObjectModel(entities: [entity]))
        #expect(
            leftOut == [
                "Thing: that it has no fetch index a: Xcode's compiler adds one to each attribute that another index "
                    + "consists of"
            ])
        #expect(read.entities["Thing"]?.fetchIndexes.map(\.name) == ["a", "byA"])
    }
}
