import CausewayEngine
import CausewayExpressions
import CausewayModel
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

@Suite("Validation: rejected rows", .timeLimit(.minutes(60)))
struct ValidationRejectTests {
    static let chain = model(
        entity("A", attribute("name", optional: false), link("bs", "B", inverse: "a")),
        entity(
            "B", link("a", "A", inverse: "bs", optional: false, max: 1), link("cs", "C", inverse: "bs"),
            link("d", "D", max: 1)),
        entity("C", link("bs", "B", inverse: "cs", optional: false, min: 1)),
        entity("D", link("favourite", "B", max: 1)))
    static let chainRows = """
        INSERT INTO ZA (Z_PK, Z_ENT, ZNAME) VALUES (1, 1, NULL), (2, 1, 'kept');
        INSERT INTO ZB (Z_PK, Z_ENT, ZA, ZD) VALUES (1, 2, 1, 1), (2, 2, 2, NULL), (3, 2, 1, NULL);
        INSERT INTO ZC (Z_PK, Z_ENT) VALUES (1, 3), (2, 3);
        INSERT INTO Z_2CS VALUES (1, 1), (1, 2), (2, 2), (3, 1);
        INSERT INTO ZD (Z_PK, Z_ENT, ZFAVOURITE) VALUES (1, 4, 1), (2, 4, 2);
        """

    @Test("rows that need a rejected row are rejected too; other keys to it become NULL and links end")
    func propagates() throws {
        let store = try ValidationStore(Self.chain, rows: Self.chainRows)
        let outcome = try store.validate(.reject)
        #expect(outcome.rejectedRows == ["A": 1, "B": 2, "C": 1])
        #expect(outcome.rejected == 4)
        #expect(
            try store.rejected() == ["A.name p1 1570", "B.a p1 1570", "B.a p3 1570", "C.bs p1 1580"])
        #expect(try store.rows("SELECT Z_PK FROM ZB") == ["2"])
        #expect(try store.rows("SELECT * FROM Z_2CS") == ["2|2"])
        #expect(try store.rows("SELECT Z_PK, ZFAVOURITE FROM ZD") == ["1|NULL", "2|2"])
        // The remaining rows have no violation.
        #expect(try failureOrNil { try store.validate(.stop) } == nil)
    }

    private func failureOrNil(_ body: () throws -> Void) throws -> String? {
        do {
            try body()
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test("a line has the reason, and the values before other rows were rejected")
    func lines() throws {
        let store = try ValidationStore(Self.chain, rows: Self.chainRows)
        try store.validate(.reject)
        let lines = try store.rejectedLines()
        let line = try #require(lines.first { $0["entity"] as? String == "B" })
        let base = "x-coredata://\(ValidationStore.uuid)"
        #expect(line["uri"] as? String == "\(base)/B/p1")
        #expect(line["reason"] as? String == "its mandatory target is rejected")
        let values = try #require(line["values"] as? [String: Any])
        #expect(values["a"] as? String == "\(base)/A/p1")
        #expect(values["d"] as? String == "\(base)/D/p1")
    }

    @Test("every kind of value has its JSON form, and damaged or awkward text stays valid JSON")
    func values() throws {
        func make(_ name: String, _ type: AttributeType, external: Bool = false) -> Attribute {
            var attribute = Attribute(name: name, type: type)
            attribute.isOptional = true
            attribute.allowsExternalBinaryDataStorage = external
            return attribute
        }
        var composite = make("comp", .composite)
        composite.elements = [make("leaf", .string)]
        var entity = Entity(name: "T")
        entity.attributes = [
            make("flag", .boolean), make("n", .integer64), make("r", .double), make("inf", .double), make("s", .string),
            make("bad", .string), make("data", .binary), make("ext", .binary, external: true),
            make("file", .binary, external: true), make("id", .uuid), make("nan", .decimal), composite,
            Attribute(name: "must", type: .string),
        ]
        let name = "01234567-89AB-CDEF-0123-456789ABCDEF"
        let hex = name.utf8.map { String($0, radix: 16) }.joined()
        let store = try ValidationStore(
            ManagedObjectModel(entities: [entity]),
            rows: """
                INSERT INTO ZT (Z_PK, Z_ENT, ZFLAG, ZN, ZR, ZINF, ZS, ZBAD, ZDATA, ZEXT, ZFILE, ZID, ZNAN, ZLEAF) VALUES \
                (3, 1, 1, 9007199254740993, 0.1, 9e999, 'a"\\' || char(10, 1, 8232) || '😀', CAST(x'41ff42' AS TEXT), \
                x'000102fe', x'01ff', x'02\(hex)00', x'0123456789abcdef0123456789abcdef', 'NaN', 'leaf')
                """)
        try store.validate(.reject)
        let values = try #require(try store.rejectedLines().first?["values"] as? [String: Any])
        #expect(values["flag"] as? Bool == true)
        #expect((values["n"] as? NSNumber)?.int64Value == 9_007_199_254_740_993)
        #expect(values["r"] as? Double == 0.1)
        #expect(values["inf"] as? String == "inf")
        #expect(values["s"] as? String == "a\"\\\n\u{1}\u{2028}😀")
        #expect(values["bad"] as? String == "A\u{FFFD}B")
        #expect(values["data"] as? String == Data([0, 1, 2, 0xfe]).base64EncodedString())
        #expect(values["ext"] as? String == Data([0xff]).base64EncodedString())
        #expect((values["file"] as? [String: String]) == ["externalFile": name])
        #expect(values["id"] as? String == name)
        #expect(values["nan"] as? String == "NaN")
        #expect(values["comp.leaf"] as? String == "leaf")
        #expect(values["must"] is NSNull)
    }

    @Test("base64 of every length is that of Foundation")
    func base64() throws {
        var entity = Entity(name: "T")
        var data = Attribute(name: "data", type: .binary)
        data.isOptional = true
        entity.attributes = [data, Attribute(name: "must", type: .string)]
        let store = try ValidationStore(
            ManagedObjectModel(entities: [entity]),
            rows: """
                WITH RECURSIVE n(k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM n WHERE k < 20) \
                INSERT INTO ZT (Z_PK, Z_ENT, ZDATA) SELECT k + 1, 1, CASE k WHEN 0 THEN x'' ELSE randomblob(k) END FROM n; \
                INSERT INTO ZT (Z_PK, Z_ENT, ZDATA) VALUES (100, 1, zeroblob(200000))
                """)
        let expected = try store.rows("SELECT hex(ZDATA) FROM ZT ORDER BY Z_PK")
        try store.validate(.reject)
        for (line, hex) in zip(try store.rejectedLines(), expected) {
            let text = try #require((line["values"] as? [String: Any])?["data"] as? String)
            let bytes = try #require(Data(base64Encoded: text))
            #expect(bytes.map { String(format: "%02X", $0) }.joined() == hex)
        }
    }

    @Test("only the owner can read the file, and it is removed when discarded")
    func fileMode() throws {
        let store = try ValidationStore(Self.chain, rows: Self.chainRows)
        let file = try LineFile(store.rejects, for: .rejects)
        let mode = try FileManager.default.attributesOfItem(atPath: store.rejects)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let outcome = try ValidationStage(
            layout: store.layout, storeUUID: ValidationStore.uuid, policy: .reject, rejects: file
        ).run(on: store.connection, cancellation: Cancellation())
        #expect(outcome.rejected == 4)
        try file.discard()
        #expect(!FileManager.default.fileExists(atPath: store.rejects))
    }

    @Test("the same rows give the same lines and the same store, in whatever order they were written")
    func isDeterministic() throws {
        var results: Set<[String]> = []
        for order in ["k", "-k", "k * 7919 % 1000"] {
            let store = try ValidationStore(
                Self.chain,
                rows: """
                    WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < 999) \
                    INSERT INTO ZA (Z_PK, Z_ENT, ZNAME) SELECT k, 1, iif(k % 7 = 0, NULL, 'a') FROM n ORDER BY \(order);
                    INSERT INTO ZB (Z_PK, Z_ENT, ZA, ZD) \
                    SELECT Z_PK, 2, (Z_PK * 31) % 1001, iif(Z_PK % 5 = 0, 1, NULL) FROM ZA ORDER BY \
                    \(order.replacingOccurrences(of: "k", with: "Z_PK"));
                    INSERT INTO ZD (Z_PK, Z_ENT, ZFAVOURITE) VALUES (1, 4, 7);
                    INSERT INTO ZC (Z_PK, Z_ENT) SELECT Z_PK, 3 FROM ZA;
                    INSERT INTO Z_2CS SELECT Z_PK, Z_PK / 2 FROM ZA WHERE Z_PK > 1;
                    """)
            try store.validate(.reject)
            let text = try String(contentsOfFile: store.rejects, encoding: .utf8)
            results.insert(
                [text]
                    + (try ["ZA", "ZB", "ZC", "ZD", "Z_2CS"].flatMap {
                        try store.rows("SELECT * FROM \($0) ORDER BY 1, 2")
                    }))
            #expect(try failureOrNil { try store.validate(.stop) } == nil)
        }
        #expect(results.count == 1)
        #expect(results.first?.first?.isEmpty == false)
    }

    @Test("a rejected row's place in its owner's order is removed with it")
    func orderKeys() throws {
        let store = try ValidationStore(
            model(
                entity("A", attribute("name", optional: false), toMany("bs", "B", inverse: "a", ordered: true)),
                entity("S", parent: "A"), entity("B", toOne("a", "A", inverse: "bs"))),
            rows: """
                INSERT INTO ZA (Z_PK, Z_ENT, ZNAME) VALUES (1, 2, NULL), (2, 2, 'a');
                INSERT INTO ZB (Z_PK, Z_ENT, ZA, Z1_A, Z_FOK_A) VALUES (1, 3, 1, 2, 2048), (2, 3, 2, 2, 2048);
                """)
        try store.validate(.reject)
        #expect(try store.rows("SELECT Z_PK, ZA, Z1_A, Z_FOK_A FROM ZB") == ["1|NULL|NULL|NULL", "2|2|2|2048"])
    }
}
