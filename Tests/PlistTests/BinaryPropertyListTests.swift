import CausewayPlist
import Foundation
import Testing

@Suite("Reading binary property lists", .timeLimit(.minutes(60)))
struct BinaryPropertyListTests {
    private static let scalars: [(bytes: [UInt8], value: PropertyList)] = [
        ([0x08], .boolean(false)),
        ([0x09], .boolean(true)),
        ([0x10, 0xFF], .integer(255)),
        ([0x11, 0xFF, 0xFF], .integer(65_535)),
        ([0x12, 0xFF, 0xFF, 0xFF, 0xFF], .integer(4_294_967_295)),
        ([0x13, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE], .integer(-2)),
        ([0x14] + [UInt8](repeating: 0, count: 8) + [UInt8](repeating: 0xFF, count: 8), .unsigned(.max)),
        ([0x14] + [UInt8](repeating: 0, count: 15) + [7], .integer(7)),
        ([0x14] + [UInt8](repeating: 0xFF, count: 16), .integer(-1)),
        ([0x22, 0x3F, 0xC0, 0, 0], .real(1.5)),
        ([0x23, 0x3F, 0xF8, 0, 0, 0, 0, 0, 0], .real(1.5)),
        ([0x33, 0x40, 0xF5, 0x18, 0, 0, 0, 0, 0], .date(86_400)),
        ([0x42, 1, 2], .data([1, 2])),
        ([0x51, 0x61], .string("a")),
        ([0x62, 0xD8, 0x3D, 0xDE, 0x00], .string("😀")),
        ([0x80, 5], .uid(5)),
        ([0x83, 0, 0, 1, 0], .uid(256)),
        ([0x5F, 0x10, 0x01, 0x61], .string("a")),
        ([0xA0], .array([])),
        ([0xC0], .array([])),
        ([0xD0], .dictionary([:])),
    ]

    @Test("every type of object is read", arguments: scalars)
    func scalar(_ sample: (bytes: [UInt8], value: PropertyList)) throws {
        #expect(try PropertyList(parsing: RawPropertyList(objects: [sample.bytes]).bytes) == sample.value)
    }

    private static let refused: [(bytes: [UInt8], code: PropertyListError.Code)] = [
        ([0x00], .malformed), ([0x0F], .unsupported), ([0x15] + [UInt8](repeating: 0, count: 32), .unsupported),
        ([0x14, 1] + [UInt8](repeating: 0, count: 15), .unsupported), ([0x21, 0, 0], .unsupported),
        ([0x32, 0, 0, 0, 0], .unsupported), ([0x51, 0x80], .malformed), ([0x61, 0xD8, 0x3D], .malformed),
        ([0x71, 0x61], .unsupported), ([0x88] + [UInt8](repeating: 0, count: 9), .unsupported), ([0xB0], .unsupported),
        ([0xE0], .unsupported), ([0xF0], .unsupported), ([0x5F, 0x51, 0x61], .malformed),
        ([0x5F, 0x14] + [UInt8](repeating: 0, count: 16), .malformed), ([0xA1, 9], .malformed),
        ([0x11, 1], .malformed),
        ([0x5F], .malformed), ([0x5F, 0x11, 1], .malformed),
    ]

    @Test("invalid objects are refused", arguments: refused)
    func refusedObject(_ sample: (bytes: [UInt8], code: PropertyListError.Code)) {
        let error = #expect(throws: PropertyListError.self) {
            try PropertyList(parsing: RawPropertyList(objects: [sample.bytes]).bytes)
        }
        #expect(error?.code == sample.code)
        #expect(error?.place != nil)
    }

    @Test("other forms of property lists are refused by name")
    func otherForms() {
        for text in [
            "", "bplist00", "<?xml version=\"1.0\"?><plist><dict/></plist>" + String(repeating: " ", count: 50),
        ] {
            #expect(throws: PropertyListError.self) { try BinaryPropertyList(parsing: Array(text.utf8)) }
        }
    }

    @Test("a shared object stays one object")
    func sharing() throws {
        let bytes = RawPropertyList(objects: [[0xA2, 1, 1], [0xA1, 2], [0x51, 0x61]]).bytes
        let list = try BinaryPropertyList(parsing: bytes)
        #expect(list.objects.count == 3)
        guard case .array(let range) = list.objects[list.root] else {
            Issue.record("The root is no array.")
            return
        }
        #expect(Array(list.references(in: range)) == [1, 1] as [UInt32])
        #expect(try list.tree() == .array([.array([.string("a")]), .array([.string("a")])]))
    }

    @Test("booleans, integers and reals of the same value stay distinct")
    func distinctTypes() {
        let values: Set<PropertyList> = [.boolean(true), .integer(1), .real(1), .uid(1), .date(1)]
        #expect(values.count == 5)
        #expect(PropertyList(UInt64(5)) == .integer(5))
        #expect(PropertyList(UInt64.max) == .unsigned(.max))
    }

    @Test("accessors return a value only for their own type")
    func accessors() {
        let list = PropertyList.dictionary(["n": .integer(3), "flag": .boolean(true)])
        #expect(list["n"]?.integer == 3)
        #expect(list["n"]?.boolean == nil)
        #expect(list["flag"]?.boolean == true)
        #expect(list["flag"]?.integer == nil)
        #expect(list["absent"] == nil)
        #expect(PropertyList.string("n")["n"] == nil)
    }
}

@Suite("Real property lists", .timeLimit(.minutes(60)), .enabled(if: TestFiles.areThere, "shared/stores is missing"))
struct RealPropertyListTests {
    @Test("every file expands, and what is written again reads back the same", arguments: TestFiles.propertyLists)
    func rereads(path: String) throws {
        let tree = try PropertyList(parsing: TestFiles.bytes(path))
        let rewritten = try BinaryPropertyListWriter.bytes(of: tree)
        #expect(try PropertyList(parsing: rewritten) == tree)
        #expect(try BinaryPropertyListWriter.bytes(of: PropertyList(parsing: rewritten)) == rewritten)
    }

    @Test("Foundation reads the same from the original and from what we wrote", arguments: TestFiles.propertyLists)
    func foundationAgrees(path: String) throws {
        let bytes = try TestFiles.bytes(path)
        let rewritten = try BinaryPropertyListWriter.bytes(of: PropertyList(parsing: bytes))
        let original = try unsafe PropertyListSerialization.propertyList(from: Data(bytes), format: nil)
        let ours = try unsafe PropertyListSerialization.propertyList(from: Data(rewritten), format: nil)
        // Sorted by the serializer itself: the two have different key orders.
        #expect(normalised(original) == normalised(ours))
    }

    /// The tree as text with sorted keys. UIDs are an opaque type of Foundation, so they are read through `Mirror`.
    private func normalised(_ value: Any) -> String {
        if let dictionary = value as? [String: Any] {
            return "{" + dictionary.keys.sorted().map { "\($0)=\(normalised(dictionary[$0] ?? ""))" }.joined() + "}"
        }
        if let array = value as? [Any] { return "[" + array.map { normalised($0) }.joined(separator: ",") + "]" }
        if let text = value as? String { return "\"\(text)\"" }
        if let data = value as? Data { return data.base64EncodedString() }
        if let number = value as? NSNumber { return "\(number)" }
        return Mirror(reflecting: value).children.map { "\($0.value)" }.joined()
    }
}
