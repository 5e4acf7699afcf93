import CausewaySQLite
import CausewayStoreFormat
import Testing

@Suite("Schemas made to do harm", .timeLimit(.minutes(60)))
struct HostileSchemaTests {
    private func schema(_ statements: [String]) throws -> StoreSchema {
        let connection = try Connection.inMemory()
        let house = [
            "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
            "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
        ]
        for statement in house + statements { try connection.execute(statement) }
        return try StoreSchema(reading: connection)
    }

    @Test(
        "semicolons inside a statement don't start a second one",
        arguments: [
            "CREATE TABLE app (a DEFAULT ';x', \"b;c\" -- d; e\n, [f;g], h /* i; j */)",
            "CREATE VIEW v AS SELECT ';' AS \"end;\"",
            "CREATE TRIGGER tr AFTER INSERT ON Z_METADATA BEGIN SELECT 1; SELECT CASE 1 WHEN 1 THEN 2 END; END",
        ])
    func accepted(sql: String) throws {
        #expect(try schema([sql]).objects.count == 3)
    }

    @Test("a house table with a generated column is refused")
    func generatedHouseColumn() {
        #expect {
            try schema(["ALTER TABLE Z_METADATA ADD COLUMN x AS (zeroblob(9))"])
        } throws: {
            ($0 as? StoreFormatError)?.code == .unsupportedSchema
        }
    }

    @Test("a mandatory generated column is refused in every table")
    func mandatoryGeneratedColumn() {
        #expect {
            try schema(["CREATE TABLE app (a, b NOT NULL AS (zeroblob(a)))"])
        } throws: {
            ($0 as? StoreFormatError)?.code == .unsupportedSchema
        }
    }
}
