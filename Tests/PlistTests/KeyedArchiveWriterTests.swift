import CausewayPlist
import Foundation
import Testing

@Suite("Writing keyed archives", .timeLimit(.minutes(60)))
struct KeyedArchiveWriterTests {
    private static let entityClass = ArchivedClass(["NSEntityDescription", "NSObject"])
    private static let modelClass = ArchivedClass(["NSManagedObjectModel", "NSObject"])

    /// A model with an entity that refers back to it.
    private func sample() throws -> [UInt8] {
        var writer = KeyedArchiveWriter()
        let model = writer.reserve()
        let name = writer.string("User")
        let number = writer.integer(7)
        let empty = writer.mutableDictionary([])
        let entity = writer.add(
            Self.entityClass,
            [
                ("NSEntityName", .reference(name)), ("NSManagedObjectModel", .reference(model)),
                ("NSSuperentity", .null), ("NSSubentities", .reference(empty)), ("NSIsAbstract", .boolean(true)),
                ("_P", .integer(241)), ("weight", .real(2.5)), ("NS.string", .string("inline")),
                ("raw", .data([1, 2])), ("number", .reference(number)),
            ])
        let entities = writer.knownKeysDictionary([("User", entity), ("Alpha", entity)])
        let identifier = writer.string("1")
        let identifiers = writer.set([identifier, identifier])
        writer.fill(
            model, Self.modelClass,
            [("NSEntities", .reference(entities)), ("NSVersionIdentifiers", .reference(identifiers))])
        return try writer.bytes(root: model)
    }

    @Test("what is written reads back, cycle included")
    func roundTrip() throws {
        let archive = try KeyedArchive(parsing: sample())
        #expect(archive.archivedClass(of: archive.root) == Self.modelClass)
        let entities = try #require(try archive.dictionary(archive.field("NSEntities", of: archive.root)))
        #expect(entities.map(\.key) == ["Alpha", "User"])
        let user = try #require(entities.last?.value.reference)
        #expect(try archive.field("NSManagedObjectModel", of: user) == .object(archive.root))
        #expect(try archive.field("NSEntityName", of: user) == .string("User"))
        #expect(try archive.field("NSSuperentity", of: user) == .null)
        #expect(try archive.field("_P", of: user) == .integer(241))
        #expect(try archive.field("number", of: user) == .integer(7))
        #expect(try archive.boolean(archive.field("NSIsAbstract", of: user)) == true)
        #expect(try archive.real(archive.field("weight", of: user)) == 2.5)
        #expect(try archive.field("raw", of: user) == .data([1, 2]))
        #expect(try archive.dictionary(archive.field("NSSubentities", of: user))?.isEmpty == true)
        #expect(try archive.array(archive.field("NSVersionIdentifiers", of: archive.root))?.count == 2)
    }

    @Test("the same calls give the same bytes")
    func deterministic() throws {
        #expect(try sample() == sample())
    }

    @Test("a known-keys dictionary has the shape of Core Data's, as SampleModel3_V1.sqlite holds it")
    func knownKeysShape() throws {
        var writer = KeyedArchiveWriter()
        let value = writer.string("value")
        let root = writer.knownKeysDictionary([("User", value)])
        let archive = try KeyedArchive(parsing: writer.bytes(root: root))
        #expect(
            archive.archivedClass(of: root)?.hierarchy == [
                "NSKnownKeysDictionary1", "NSKnownKeysDictionary", "NSMutableDictionary", "NSDictionary", "NSObject",
            ])
        #expect(archive.fieldNames(of: root).sorted() == ["emptyToken", "searchMapping", "values", "version"])
        #expect(try archive.field("emptyToken", of: root) == .string("__empty_slot_token_4c24_98dc_ac1e_b773__"))
        #expect(try archive.field("version", of: root) == .integer(1))
        let mapping = try #require(try archive.field("searchMapping", of: root)?.reference)
        #expect(archive.className(of: mapping) == "NSKnownKeysMappingStrategy1")
        #expect(try archive.field("length", of: mapping) == .integer(1))
        #expect(try archive.field("version", of: mapping) == .integer(1))
        let keys = try #require(try archive.field("keys", of: mapping)?.reference)
        #expect(archive.className(of: keys) == "NSArray")
    }

    @Test("a slot with the empty-slot token isn't an entry")
    func emptySlots() throws {
        var writer = KeyedArchiveWriter()
        let token = writer.string("__empty_slot_token_4c24_98dc_ac1e_b773__")
        let value = writer.string("v")
        let root = writer.knownKeysDictionary([("a", token), ("b", value)])
        let archive = try KeyedArchive(parsing: writer.bytes(root: root))
        #expect(try archive.dictionary(archive.value(at: root))?.map(\.key) == ["b"])
    }

    @Test("strings, numbers and classes are stored once")
    func interning() {
        var writer = KeyedArchiveWriter()
        #expect(writer.string("a") == writer.string("a"))
        #expect(writer.integer(1) == writer.integer(1))
        #expect(writer.integer(1) != writer.boolean(true))
        #expect(writer.integer(1) != writer.real(1))
        #expect(writer.string("\u{E9}") != writer.string("e\u{301}"))
    }

    @Test("an unfilled object and a foreign reference are errors")
    func incomplete() throws {
        var writer = KeyedArchiveWriter()
        let reserved = writer.reserve()
        let error = #expect(throws: PropertyListError.self) { try writer.bytes(root: reserved) }
        #expect(error?.code == .incomplete)
        var other = KeyedArchiveWriter()
        for number in 0..<50 { _ = other.integer(Int64(number)) }
        let foreign = other.string("far away")
        var second = KeyedArchiveWriter()
        let root = second.array([foreign])
        let foreignError = #expect(throws: PropertyListError.self) { try second.bytes(root: root) }
        #expect(foreignError?.code == .incomplete)
    }

    @Test("Foundation's unarchiver reads what is written")
    func foundation() throws {
        var writer = KeyedArchiveWriter()
        let items = [writer.string("a"), writer.integer(5), writer.date(12), writer.data([1])]
        let array = writer.array(items)
        let key = writer.string("key")
        let root = writer.mutableDictionary([(key, array)])
        let data = Data(try writer.bytes(root: root))
        let read = try NSKeyedUnarchiver.unarchivedObject(
            ofClasses: [
                NSDictionary.self, NSMutableDictionary.self, NSArray.self, NSString.self, NSNumber.self, NSDate.self,
                NSData.self,
            ],
            from: data)
        let list = try #require((read as? NSDictionary)?.object(forKey: "key") as? NSArray)
        #expect(list.count == 4)
        #expect(list[0] as? String == "a")
        #expect((list[1] as? NSNumber)?.intValue == 5)
        #expect((list[2] as? NSDate)?.timeIntervalSinceReferenceDate == 12)
    }
}

@Suite("Wrong keyed archives", .timeLimit(.minutes(60)))
struct WrongKeyedArchiveTests {
    private func archive(
        objects: [PropertyList], top: PropertyList = .dictionary(["root": .uid(1)]), version: Int64 = 100_000
    ) throws(PropertyListError) -> KeyedArchive {
        try KeyedArchive(
            parsing: BinaryPropertyListWriter.bytes(
                of: .dictionary([
                    "$version": .integer(version), "$archiver": .string("NSKeyedArchiver"), "$top": top,
                    "$objects": .array(objects),
                ])))
    }

    private static let kind = PropertyList.dictionary([
        "$classname": .string("NSArray"), "$classes": .array([.string("NSArray"), .string("NSObject")]),
    ])

    @Test("an archive's outer structure must be valid")
    func frame() {
        #expect(throws: PropertyListError.self) { try archive(objects: []) }
        #expect(throws: PropertyListError.self) { try archive(objects: [.string("other"), .string("a")]) }
        #expect(throws: PropertyListError.self) { try archive(objects: [.string("$null"), .string("a")], version: 1) }
        #expect(throws: PropertyListError.self) {
            try archive(objects: [.string("$null"), .string("a")], top: .dictionary([:]))
        }
    }

    @Test("references and classes are checked when opening")
    func references() {
        let wrong: [PropertyList] = [
            .dictionary(["$class": .uid(99)]), .dictionary(["$class": .uid(1)]), .dictionary(["$class": .integer(2)]),
            .dictionary(["$class": .uid(2), "x": .uid(50)]),
        ]
        for object in wrong {
            let error = #expect(throws: PropertyListError.self) {
                try archive(objects: [.string("$null"), object, Self.kind])
            }
            #expect(error?.code == .malformed)
        }
    }

    @Test("a UID that leads to a UID, to itself or to a bare container is refused when read")
    func chains() throws {
        for object in [PropertyList.uid(1), .uid(2), .array([]), .dictionary([:])] {
            let archive = try archive(objects: [.string("$null"), object, .uid(1)])
            let error = #expect(throws: PropertyListError.self) { try archive.value(at: archive.root) }
            #expect(error?.code == .malformed)
        }
    }

    @Test("a value of another type is named in the error")
    func mismatch() throws {
        let archive = try archive(objects: [
            .string("$null"), .dictionary(["$class": .uid(2), "NS.objects": .array([.uid(3)])]), Self.kind, .real(1.5),
        ])
        let root = try archive.value(at: archive.root)
        let error = #expect(throws: PropertyListError.self) { try archive.string(root) }
        #expect(error?.code == .typeMismatch)
        #expect(error?.place == "object 1 (NSArray)")
        #expect(error?.message == "Expected a string, found an instance of NSArray.")
        #expect(throws: PropertyListError.self) { try archive.dictionary(root) }
        #expect(throws: PropertyListError.self) { try archive.uuid(root) }
        #expect(throws: PropertyListError.self) { try archive.integer(.real(1.5)) }
        #expect(try archive.real(archive.array(root)?.first) == 1.5)
    }
}
