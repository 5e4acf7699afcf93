import Causeway
import CausewayCheckers
import CausewayEngine
import Foundation
import Testing

/// CareKit 2.0 → 2.1, one policy for five entities: compared with the store that CareKit's own policy made.
@Suite(.timeLimit(.minutes(60)), .enabled(if: SharedStores.isThere, "shared/stores is missing"))
struct MappingModelCareKitTests {
    /// The models are those in the two stores' caches.
    static let example: PoliciesExample = {
        var code = MigrationCode()
        code.register(CareKit20To21Policy.self, as: "OCKStoreMigration2_0To2_1Policy")
        let versioned = ["CLOCK", "CONTACT", "KNOWLEDGEELEMENT", "OUTCOME", "TASKBASE"]
        return PoliciesExample(
            name: "CareKit 2.0 → 2.1", store: "carekit/SampleStore2.0.sqlite", models: "carekit/SampleStore2.1.sqlite",
            mappings: ["carekit/2.0_2.1_Mapping.xcmappingmodel"], code: code, frameworkVersion: 1_345,
            // Made of random UUIDs, in Apple's result and in ours.
            random: versioned.map { "ZOCKCD\($0).ZUUID" } + ["ZOCKCDOUTCOME.ZID", "ZOCKCDCLOCK.ZVECTORCLOCK"])
    }()

    /// Links, told by the names of the objects.
    private static let links = [
        """
        SELECT ifnull(t.ZID, '') || ifnull(c.ZID, '') || ifnull(o.ZDELETEDDATE, '') || ifnull(o.ZCREATEDDATE, '')
        || ' ' || k.ZTIME || ' ' || ifnull(k.Z14_TASK, '') FROM ZOCKCDKNOWLEDGEELEMENT AS k
        LEFT JOIN ZOCKCDTASKBASE AS t ON t.Z_PK = k.ZTASK LEFT JOIN ZOCKCDCONTACT AS c ON c.Z_PK = k.ZCONTACT
        LEFT JOIN ZOCKCDOUTCOME AS o ON o.Z_PK = k.ZOUTCOME ORDER BY 1
        """,
        """
        SELECT t.ZID || ' ' || o.Z14_TASK || ' ' || o.ZTASKOCCURRENCEINDEX || ' ' || v.ZCREATEDDATE || ' '
        || v.ZBOOLEANVALUE || ' ' || v.ZINTEGERVALUE FROM ZOCKCDOUTCOME AS o JOIN ZOCKCDTASKBASE AS t ON t.Z_PK = o.ZTASK
        JOIN ZOCKCDOUTCOMEVALUE AS v ON v.ZOUTCOME = o.Z_PK ORDER BY 1
        """,
        """
        SELECT t.ZID || ' ' || s.Z14_TASK || ' ' || s.ZDAYSINTERVAL || ' ' || s.ZISALLDAY || ' ' || s.ZSTARTDATE
        FROM ZOCKCDSCHEDULEELEMENT AS s JOIN ZOCKCDTASKBASE AS t ON t.Z_PK = s.ZTASK ORDER BY 1
        """,
        """
        SELECT c.ZID || ' ' || n.ZGIVENNAME || ' ' || a.ZSTREET FROM ZOCKCDCONTACT AS c
        JOIN ZOCKCDPERSONNAME AS n ON n.Z_PK = c.ZNAME AND n.ZCONTACT = c.Z_PK
        JOIN ZOCKCDPOSTALADDRESS AS a ON a.Z_PK = c.ZADDRESS AND a.ZCONTACT = c.Z_PK ORDER BY 1
        """,
        "SELECT ZID || ' ' || ZIMPACTSADHERENCE || ' ' || Z_ENT FROM ZOCKCDTASKBASE ORDER BY 1",
    ]

    @Test("every cell and link equals what CareKit's own policy made, except random identities")
    func reference() throws {
        let folder = try TemporaryFolder()
        var example = Self.example
        example.template = "carekit/SampleStore2.1.sqlite"
        let result = try example.migrate(in: folder)
        try example.expectReference(result, "carekit/SampleStore2.1.sqlite", in: folder)
        for (sql, count) in zip(Self.links, [8, 3, 4, 2, 3]) {
            let rows = try StoreRows.texts(result, sql)
            #expect(rows.count == count)
            #expect(try rows == StoreRows.texts(folder.path("reference"), sql))
        }
        #expect(
            try StoreRows.texts(
                result,
                "SELECT count(*) FROM ZOCKCDKNOWLEDGEELEMENT WHERE ZUUID = (SELECT ZUUID FROM ZOCKCDCLOCK)") == ["8"])
        #expect(try StoreRows.texts(result, "SELECT count(*) FROM ZOCKCDCLOCK") == ["1"])
    }

    /// In a pair of relationships inside one entity, an order that isn't part of the model decides which side names the
    /// join table (InsideStoreFormat §5.3).
    @Test("without a template only the name of one join table differs, which is empty")
    func blind() throws {
        let folder = try TemporaryFolder()
        let result = try Self.example.migrate(in: folder)
        let reference = try folder.copyStore(StoreRows.shared("carekit/SampleStore2.1.sqlite"), as: "reference")
        let found = try Checker.compare(result, reference, ignoring: Self.example.random, flags: ["--modulo-pk"])
        #expect(found.map(\.description) == ["table extra Z_3NEXT ", "table missing Z_3PREVIOUS "])
        try Self.example.expectSchema(result)
    }

    @Test("an outcome's identifier contains that of its task, which stage 1 made")
    func outcomeIdentifiers() throws {
        let folder = try TemporaryFolder()
        let result = try Self.example.migrate(in: folder)
        #expect(
            try StoreRows.texts(
                result,
                """
                SELECT replace(substr(o.ZID, 1, 36), '-', '') = hex(t.ZUUID) AND substr(o.ZID, 37) = '_' || o.ZTASKOCCURRENCEINDEX
                FROM ZOCKCDOUTCOME AS o JOIN ZOCKCDTASKBASE AS t ON t.Z_PK = o.ZTASK
                """) == ["1", "1", "1"])
    }

    @Test("the rows don't depend on batch size or workers")
    func work() throws {
        #expect(try Self.example.differences(PoliciesExample.Work.every) == [])
    }
}
