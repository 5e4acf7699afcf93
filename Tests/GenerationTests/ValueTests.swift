import CausewayExpressions
import CausewayGeneration
import CausewayModel
import CausewayStoreFormat
import Foundation
import Testing

@Suite("Values of generated stores", .timeLimit(.minutes(60)))
struct ValueTests {
    @Test("uniqueness constraints hold for every type that can carry one", arguments: AttributeType.allCases)
    func unique(_ type: AttributeType) throws {
        guard ![.undefined, .objectID, .composite, .transformable].contains(type) else { return }
        var entity = Entity(name: "Thing")
        entity.attributes = [Attribute(name: "code", type: type)]
        entity.uniquenessConstraints = [["code"]]
        var sub = Entity(name: "SubThing")
        sub.parent = "Thing"
        // The unique index is made after the rows: a repeated value would fail the generation.
        let store = try GeneratedStore(
            ManagedObjectModel(entities: [entity, sub]), GenerationOptions(rows: 2_000, seed: 1))
        defer { store.remove() }
        let expected: Int64 = type == .boolean ? 2 : 2_000
        #expect(try store.number("SELECT COUNT(DISTINCT ZCODE) FROM ZTHING") == expected)
    }

    @Test("minimum and maximum are kept")
    func bounds() throws {
        var age = Attribute(name: "age", type: .integer16)
        age.validations = [.init(predicate: bound(.greaterThanOrEqualTo, 3), warning: .null)]
        age.validations.append(.init(predicate: bound(.lessThanOrEqualTo, 9), warning: .null))
        var price = Attribute(name: "price", type: .double)
        price.validations = age.validations
        var title = Attribute(name: "title", type: .string)
        title.validations = [
            .init(predicate: bound(.greaterThanOrEqualTo, 5, of: .key("length")), warning: .null),
            .init(predicate: bound(.lessThanOrEqualTo, 8, of: .key("length")), warning: .null),
        ]
        var entity = Entity(name: "Thing")
        entity.attributes = [age, price, title]
        let store = try GeneratedStore(ManagedObjectModel(entities: [entity]), GenerationOptions(rows: 500, seed: 1))
        defer { store.remove() }
        let outside = "ZAGE NOT BETWEEN 3 AND 9 OR ZPRICE NOT BETWEEN 3 AND 9 OR LENGTH(ZTITLE) NOT BETWEEN 5 AND 8"
        #expect(try store.number("SELECT COUNT(*) FROM ZTHING WHERE \(outside)") == 0)
        #expect(try store.number("SELECT COUNT(DISTINCT ZAGE) FROM ZTHING") == 7)
    }

    private func bound(
        _ operation: ComparisonOperator, _ value: Int64, of subject: CausewayExpressions.Expression = .evaluatedObject
    ) -> CausewayExpressions.Predicate {
        .comparison(.init(subject, operation, .constant(.integer(value))))
    }

    @Test("external values have a prefix, and every reference has its file")
    func external() throws {
        let options = GenerationOptions(rows: 300, seed: 1, externalFileBytes: 200_000...210_000)
        let store = try GeneratedStore(try ModelCase.fixture("BookStore/v1"), options)
        defer { store.remove() }
        #expect(
            try store.number(
                "SELECT COUNT(*) FROM ZBOOK WHERE ZCOVER NOT NULL AND HEX(SUBSTR(ZCOVER, 1, 1)) NOT IN ('01', '02')")
                == 0)
        let names = try store.texts(
            "SELECT CAST(SUBSTR(ZCOVER, 2, 36) AS TEXT) FROM ZBOOK "
                + "WHERE HEX(SUBSTR(ZCOVER, 1, 1)) = '02' AND LENGTH(ZCOVER) = 38 AND HEX(SUBSTR(ZCOVER, 38)) = '00'")
        let files = try FileManager.default.contentsOfDirectory(atPath: store.externalData.path)
        #expect(names.compactMap(\.self).sorted() == files.sorted())
        #expect((4...5).contains(files.count))
        for file in files {
            let size = try Data(contentsOf: store.externalData.appendingPathComponent(file)).count
            #expect((200_000...210_000).contains(size))
            #expect(UUID(uuidString: file)?.uuidString == file)
        }
    }

    @Test("derived attributes agree with what they are derived from")
    func derived() throws {
        var list = Entity(name: "List")
        list.attributes = [Attribute(name: "name", type: .string), derived("total", .integer64, "items.@count")]
        list.attributes.append(derived("changed", .date, "now()"))
        var items = Relationship(name: "items", destination: "Item")
        items.inverse = "list"
        items.isOptional = true
        list.relationships = [items]
        var item = Entity(name: "Item")
        item.attributes = [derived("listName", .string, "list.name"), derived("listTotal", .integer64, "list.total")]
        var owner = Relationship(name: "list", destination: "List")
        owner.inverse = "items"
        owner.isOptional = true
        owner.maxCount = 1
        item.relationships = [owner]
        let store = try GeneratedStore(
            ManagedObjectModel(entities: [list, item]), GenerationOptions(rows: 500, seed: 1))
        defer { store.remove() }
        #expect(
            try store.number(
                "SELECT COUNT(*) FROM ZLIST l WHERE ZTOTAL IS NOT (SELECT COUNT(*) FROM ZITEM i WHERE i.ZLIST = l.Z_PK)"
            ) == 0)
        #expect(
            try store.number(
                "SELECT COUNT(*) FROM ZITEM i LEFT JOIN ZLIST l ON l.Z_PK = i.ZLIST WHERE i.ZLISTNAME IS NOT l.ZNAME "
                    + "OR i.ZLISTTOTAL IS NOT l.ZTOTAL") == 0)
        #expect(try store.number("SELECT COUNT(*) FROM ZLIST WHERE ZCHANGED IS NULL") == 0)
        #expect(try store.number("SELECT COUNT(*) FROM sqlite_master WHERE type = 'trigger'") > 0)
    }

    private func derived(_ name: String, _ type: AttributeType, _ text: String) -> Attribute {
        let expression: CausewayExpressions.Expression =
            switch text {
            case "now()": .function(operand: nil, name: "now", arguments: [])
            case "items.@count": .function(operand: nil, name: "count:", arguments: [.key("items")])
            default: .key(text)
            }
        var attribute = Attribute(name: name, type: type)
        attribute.isOptional = true
        attribute.derivation = .init(expression: expression)
        return attribute
    }

    @Test("values vary as real ones do")
    func distributions() throws {
        let store = try GeneratedStore(try ModelCase.fixture("BookStore/v5"), GenerationOptions(rows: 4_000, seed: 9))
        defer { store.remove() }
        let lengths = "SELECT MAX(LENGTH(CAST(ZSYNOPSIS AS BLOB))) FROM ZPUBLICATION"
        #expect(try store.number(lengths) > 4_096)
        #expect(try store.number("SELECT COUNT(DISTINCT TYPEOF(ZPRICE)) FROM ZPUBLICATION") >= 2)
        // Dates rise over ten years.
        let years = "SELECT (MAX(ZPUBLISHED) - MIN(ZPUBLISHED)) / 31557600 FROM ZPUBLICATION"
        #expect((9...11).contains(try store.number(years)))
        let magazines = try store.texts("SELECT ZISSUE FROM ZPUBLICATION WHERE Z_ENT = 3 ORDER BY ZISSUE").compactMap(
            \.self)
        #expect(Set(magazines).count > 100)
    }
}
