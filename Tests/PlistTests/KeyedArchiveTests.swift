import CausewayPlist
import Foundation
import Testing

@Suite("Real keyed archives", .timeLimit(.minutes(60)), .enabled(if: TestFiles.areThere, "shared/stores is missing"))
struct RealKeyedArchiveTests {
    @Test(
        "every model and mapping model opens, and every field of every object resolves", arguments: TestFiles.archives)
    func resolves(path: String) throws {
        let archive = try KeyedArchive(parsing: TestFiles.bytes(path))
        let expected = path.hasSuffix(".cdm") ? "NSMappingModel" : "NSManagedObjectModel"
        #expect(archive.className(of: archive.root) == expected)
        var instances = 0
        for index in 0..<archive.count {
            guard let reference = archive.reference(at: index), let kind = archive.archivedClass(of: reference) else {
                continue
            }
            instances += 1
            #expect(kind.hierarchy.first == kind.name)
            #expect(kind.isKind(of: "NSObject"))
            for name in archive.fieldNames(of: reference) {
                #expect(try archive.field(name, of: reference) != nil)
            }
        }
        #expect(instances > 5)
    }

    @Test("the entities of a model and their attributes can be walked")
    func model() throws {
        let archive = try KeyedArchive(parsing: TestFiles.bytes("coredataplus/SampleModel3.momd/SampleModel3.mom"))
        let entities = try #require(try archive.dictionary(archive.field("NSEntities", of: archive.root)))
        #expect(entities.map(\.key) == ["User"])
        let user = try #require(entities.first?.value.reference)
        #expect(try archive.string(archive.field("NSEntityName", of: user)) == "User")
        #expect(try archive.field("NSSuperentity", of: user) == .null)
        #expect(try archive.string(archive.field("NSSuperentity", of: user)) == nil)
        #expect(try archive.field("NoSuchField", of: user) == nil)
        // A cycle: the entity refers to its model.
        #expect(try archive.field("NSManagedObjectModel", of: user)?.reference == archive.root)
        let properties = try #require(try archive.dictionary(archive.field("NSProperties", of: user)))
        #expect(properties.map(\.key).sorted() == ["name", "petName"])
        let types = try properties.map {
            try archive.integer(archive.field("NSAttributeType", of: $0.value.reference ?? .null))
        }
        #expect(types == [700, 700])
        let identifiers = try archive.array(archive.field("NSVersionIdentifiers", of: archive.root))
        #expect(identifiers?.count == 1)
    }

    @Test("other property lists aren't archives", arguments: TestFiles.propertyLists.filter { $0.hasSuffix(".plist") })
    func notArchives(path: String) throws {
        let bytes = try TestFiles.bytes(path)
        let error = #expect(throws: PropertyListError.self) { try KeyedArchive(parsing: bytes) }
        #expect(error?.code == .notKeyedArchive)
    }
}

@Suite("Keyed archives of Foundation", .timeLimit(.minutes(60)))
struct FoundationArchiveTests {
    private func archive(_ value: Any) throws -> KeyedArchive {
        let data = try NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: false)
        return try KeyedArchive(parsing: [UInt8](data))
    }

    private func root(_ archive: KeyedArchive) throws -> ArchivedValue { try archive.value(at: archive.root) }

    @Test("arrays, dictionaries and sets")
    func collections() throws {
        let array = try archive(NSArray(array: [NSString("a"), NSNumber(value: 5), NSNumber(value: 2.5)]))
        #expect(try array.array(root(array)) == [.string("a"), .integer(5), .real(2.5)])
        let dictionary = try archive(NSDictionary(dictionary: ["k": NSString("v")]))
        let entries = try #require(try dictionary.dictionary(root(dictionary)))
        #expect(entries.map(\.key) == ["k"])
        #expect(entries.map(\.value) == [.string("v")])
        let set = try archive(NSSet(array: [NSString("x")]))
        #expect(try set.array(root(set)) == [.string("x")])
        let ordered = try archive(NSOrderedSet(array: [NSString("x"), NSString("y")]))
        #expect(try ordered.array(root(ordered)) == [.string("x"), .string("y")])
        let pairs = try archive(NSDictionary(object: NSString("v"), forKey: NSNumber(value: 1)))
        #expect(try pairs.pairs(root(pairs))?.first?.key == .integer(1))
        #expect(throws: PropertyListError.self) { try pairs.dictionary(root(pairs)) }
    }

    @Test("strings, dates, UUIDs, URLs and data")
    func scalars() throws {
        let text = try archive(NSMutableString(string: "mutable"))
        #expect(try text.string(root(text)) == "mutable")
        let date = try archive(NSDate(timeIntervalSinceReferenceDate: 12.5))
        #expect(try date.date(root(date)) == 12.5)
        let uuid = UUID()
        let archivedUUID = try archive(uuid as NSUUID)
        let expected = unsafe withUnsafeBytes(of: uuid.uuid) { unsafe Array($0) }
        #expect(try archivedUUID.uuid(root(archivedUUID)) == expected)
        let url = try archive(try #require(NSURL(string: "https://example.com/a")))
        #expect(try url.url(root(url)) == ArchivedURL(relative: "https://example.com/a", base: .null))
        let data = try archive(NSData(data: Data([1, 2, 3])))
        #expect(try data.data(root(data)) == [1, 2, 3])
    }
}
