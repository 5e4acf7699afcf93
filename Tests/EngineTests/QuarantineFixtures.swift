import CausewayEngine
import CausewayPreparation
import Foundation

/// A store with a bad row of every kind, and links of every form to them.
final class BadOffice {
    static let badPersons = [7, 11, 12, 13, 17, 19]
    /// The persons, a firm and a tag.
    static let badRows = 8
    /// A value that refers to a file that isn't there.
    static let reference = Data([2]) + Data("0A1B2C3D-0000-4000-8000-00000000ABCD".utf8) + Data([0])
    private static let external = "allowsExternalBinaryDataStorage=\"YES\""

    let scenario: Scenario
    /// The join table's column for tags.
    let tags = "Z_6TAGS"
    var rejects: String { scenario.folder + "/rejects.jsonl" }

    private static func version(isFirst: Bool) -> String {
        let text = model(
            entity(
                "Person", attribute("name", optional: isFirst),
                attribute("photo", "Binary", optional: false, extra: isFirst ? external : ""),
                isFirst ? attribute("old", "Integer 32") : attribute("nick"),
                toOne("boss", "Firm", inverse: "staff"), toOne("badge", "Badge", inverse: "owner"),
                toMany("tags", "Tag", inverse: "people")),
            entity("Worker", parent: "Person", attribute("wage", "Double")),
            entity(
                "Firm", attribute("title"), toMany("staff", "Person", inverse: "boss", ordered: true),
                toMany("sites", "Site")),
            entity("Badge", attribute("code", "Integer 32"), toOne("owner", "Person", inverse: "badge")),
            entity("Tag", attribute("label"), toMany("people", "Person", inverse: "tags")),
            entity("Site", attribute("street")))
        return text.replacingOccurrences(
            of: "<relationship name=\"boss\" optional=\"YES\"", with: "<relationship name=\"boss\" optional=\"NO\"")
    }

    /// Entities in order of their names: Badge 1, Firm 2, Person 3, Worker 4, Site 5, Tag 6.
    init(isGood: Bool = false) throws {
        func numbers(_ last: Int) -> String {
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(last)) "
        }
        let reference = Self.reference.map { String(format: "%02x", $0) }.joined()
        let damage = """
            UPDATE ZPERSON SET Z_ENT = 99, ZNAME = 'name 7 "é"' WHERE Z_PK = 7;
            UPDATE ZPERSON SET Z_ENT = NULL WHERE Z_PK = 11;
            UPDATE ZPERSON SET ZNAME = NULL WHERE Z_PK IN (12, 13);
            UPDATE ZPERSON SET ZPHOTO = x'\(reference)' WHERE Z_PK = 17;
            UPDATE ZPERSON SET ZPHOTO = 5 WHERE Z_PK = 19;
            UPDATE ZFIRM SET Z_ENT = 3 WHERE Z_PK = 3;
            UPDATE ZTAG SET Z_ENT = 0 WHERE Z_PK = 4;
            """
        scenario = try Scenario(
            Self.version(isFirst: true), Self.version(isFirst: false),
            rows: """
                \(numbers(60)) INSERT INTO ZPERSON \
                (Z_PK, Z_ENT, Z_OPT, ZNAME, ZPHOTO, ZOLD, ZBOSS, Z_FOK_BOSS, ZBADGE, ZWAGE) \
                SELECT i, CASE WHEN i % 4 THEN 3 ELSE 4 END, 1, 'name ' || i, CAST(char(1) || 'photo ' || i AS BLOB), \
                i * 10, 1 + i % 5, 1024 + 1024 * i, i, CASE WHEN i % 4 = 0 THEN i + 0.5 END FROM n;
                \(numbers(60)) INSERT INTO ZBADGE (Z_PK, Z_ENT, Z_OPT, ZCODE, ZOWNER, Z3_OWNER) \
                SELECT i, 1, 1, i * 3, i, CASE WHEN i % 4 THEN 3 ELSE 4 END FROM n;
                \(numbers(5)) INSERT INTO ZFIRM (Z_PK, Z_ENT, Z_OPT, ZTITLE) SELECT i, 2, 1, 'firm ' || i FROM n;
                \(numbers(5)) INSERT INTO ZSITE (Z_PK, Z_ENT, Z_OPT, ZSTREET, Z2SITES) \
                SELECT i, 5, 1, 'street ' || i, i FROM n;
                \(numbers(6)) INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZLABEL) SELECT i, 6, 1, 'tag ' || i FROM n;
                INSERT INTO Z_3TAGS (Z_3PEOPLE, \(tags)) \
                SELECT p.Z_PK, t.Z_PK FROM ZPERSON p JOIN ZTAG t ON (p.Z_PK + t.Z_PK) % 3 = 0;
                \(isGood ? "" : damage)
                """)
    }

    func request(batchRows: Int = 100, jobs: Int = 2) -> MigrationRequest {
        var request = scenario.request(to: "V2", batchRows: batchRows, jobs: jobs)
        (request.badRows, request.rejects) = (.quarantine, rejects)
        request.verification = .full
        return request
    }

    func file() throws -> String { try String(contentsOfFile: rejects, encoding: .utf8) }

    func lines() throws -> [BadLine] { try BadLine.read(rejects) }
}

/// A line of the rejects file.
struct BadLine: Decodable {
    enum Value: Decodable, Equatable {
        case null
        case number(Double)
        case text(String)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else {
                self = .text(try container.decode(String.self))
            }
        }
    }

    let uri: String?
    let entity: String?
    let table: String
    let key: Int
    let reason: String
    let code: Int
    let property: String?
    let values: [String: Value]

    static func read(_ path: String) throws -> [BadLine] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map {
            try JSONDecoder().decode(BadLine.self, from: Data($0.utf8))
        }
    }
}
