import CausewayStoreFormat
import Testing

/// The new schema is tried in memory, so that SQLite refuses it before rows are moved.
@Suite("The new store's schema before the first row", .timeLimit(.minutes(60)))
struct DestinationSchemaTests {
    @Test("accepts the statements that fill it, and names the objects that SQLite refuses")
    func statements() throws {
        let layout = try TestModels.layout(
            "<entity name=\"Foo\"><attribute name=\"text\" attributeType=\"String\"/></entity>")
        let schema = try DestinationSchema(layout.statements(), hasHistory: false)
        try schema.checkInsert(into: "ZFOO", columns: ["Z_PK", "Z_ENT", "Z_OPT", "ZTEXT"])
        try schema.check(["UPDATE ZFOO SET ZTEXT = Z_PK"], place: "Foo.text")
        let error = #expect(throws: StoreFormatError.self) {
            try schema.checkInsert(into: "ZFOO", columns: ["Z_PK", "ZNEVER"])
        }
        #expect(error?.code == .unusableModel)
        #expect(error?.description.contains("ZNEVER") == true)
        #expect(throws: StoreFormatError.self) { try schema.check(["UPDATE ZFOO SET ZNEVER = 1"], place: "Foo.text") }
    }
}
