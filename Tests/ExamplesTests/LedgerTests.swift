import Causeway
import Foundation
import Testing

/// Ledger v1 → v4, as Fixtures/README.md says. It needs no code, and no store between its steps.
@Suite("Ledger: three mapping models that run together", .timeLimit(.minutes(60)))
struct LedgerTests {
    static let history = ExampleHistory(
        name: "Ledger", versions: ["v1", "v2", "v3", "v4"],
        fills: ["v1": "UPDATE ZENTRY SET ZAMOUNT = iif(Z_PK % 5, Z_PK * 37 % 201 - 100, 0)"])

    private static let v4 = """
        SELECT Z_PK, ZAMOUNT * 100, ZDAY, iif(ZAMOUNT < 0, 'debit', 'credit'), ZMEMO, ZAMOUNT * 20, ZACCOUNT \
        FROM ZENTRY WHERE ZAMOUNT <> 0 ORDER BY Z_PK
        """

    @Test("v1 → v4: amounts become cents, and every entry has its kind and its tax", arguments: [true, false])
    func entries(fusesSteps: Bool) async throws {
        let workshop = try Workshop()
        let source = try Self.history.store(at: "v1", in: workshop)
        let result = try await Self.history.migrate(source, to: "v4", .init(fusesSteps: fusesSteps), in: workshop)
        #expect(
            try StoreContent.rows(
                "SELECT Z_PK, ZCENTS, ZDAY, ZKIND, ZMEMO, ZTAX, ZACCOUNT FROM ZENTRY ORDER BY Z_PK", result)
                == StoreContent.rows(Self.v4, source))
        #expect(
            try StoreContent.rows("SELECT Z_PK, ZISOPEN, ZNAME FROM ZACCOUNT", result)
                == StoreContent.rows("SELECT Z_PK, 1, ZNAME FROM ZACCOUNT", source))
        #expect(try StoreContent.count("ZENTRY", result) < StoreContent.count("ZENTRY", source))
    }
}
