import Causeway
import Foundation
import Testing

/// Kennel v1 → v3, as Fixtures/README.md says. It needs no code.
@Suite("Kennel: two entities become one", .timeLimit(.minutes(60)))
struct KennelTests {
    static let history = ExampleHistory(name: "Kennel", versions: ["v1", "v2", "v3"])

    /// Cats keep their keys. Dogs get the keys after the last cat's, in their order.
    private static let dogKey = """
        (SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Cat') + (SELECT count(*) FROM ZDOG AS d WHERE d.Z_PK <= ZDOG.Z_PK)
        """

    @Test("v1 → v2: every cat and every dog is a pet, with its owner and its toys", arguments: [true, false])
    func pets(fusesSteps: Bool) async throws {
        let workshop = try Workshop()
        let source = try Self.history.store(at: "v1", in: workshop)
        let result = try await Self.history.migrate(source, to: "v2", .init(fusesSteps: fusesSteps), in: workshop)
        #expect(
            try StoreContent.rows("SELECT Z_PK, ZNAME, ZLIVES, ZBREED, ZOWNER FROM ZPET ORDER BY Z_PK", result)
                == StoreContent.rows(
                    """
                    SELECT Z_PK, ZNAME, ZLIVES, NULL, ZOWNER FROM ZCAT UNION ALL \
                    SELECT \(Self.dogKey), ZNAME, 1, ZBREED, ZOWNER FROM ZDOG ORDER BY 1
                    """, source))
        #expect(
            try StoreContent.rows("SELECT Z_2PETS, Z_3TOYS FROM Z_2TOYS ORDER BY 1, 2", result)
                == StoreContent.rows(
                    """
                    SELECT Z_1CATS, Z_4TOYS FROM Z_1TOYS UNION ALL \
                    SELECT \(Self.dogKey), Z_4TOYS1 FROM Z_2TOYS JOIN ZDOG ON Z_PK = Z_2DOGS ORDER BY 1, 2
                    """, source))
        for table in ["ZOWNER", "ZTOY"] {
            let rows = "SELECT Z_PK, ZNAME FROM \(table)"
            #expect(try StoreContent.rows(rows, result) == StoreContent.rows(rows, source))
        }
        #expect(try StoreContent.count("ZPET", result) > StoreContent.count("ZCAT", source))
    }

    @Test("v1 → v3: the next step carries the pets")
    func chain() async throws {
        let workshop = try Workshop()
        let source = try Self.history.store(at: "v1", in: workshop)
        let middle = try await Self.history.migrate(source, to: "v2", in: workshop)
        let result = try await Self.history.migrate(source, to: "v3", in: workshop)
        let pets = "Z_PK, ZNAME, ZLIVES, ZBREED, ZOWNER"
        #expect(
            try StoreContent.rows("SELECT \(pets), ZISCHIPPED FROM ZPET", result)
                == StoreContent.rows("SELECT \(pets), 0 FROM ZPET", middle))
        let toys = "SELECT * FROM Z_2TOYS ORDER BY 1, 2"
        #expect(try StoreContent.rows(toys, result) == StoreContent.rows(toys, middle))
    }
}
