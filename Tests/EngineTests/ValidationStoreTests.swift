import CausewayEngine
import CausewayModel
import CausewayPreparation
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores
import Foundation
import Testing

/// A new store before its indexes are made: tables and rows.
final class ValidationStore {
    static let uuid = "0E1D2C3B-4A59-4687-8796-A5B4C3D2E1F0"

    let folder: String
    let layout: StoreLayout
    let connection: Connection
    var rejects: String { folder + "/rejects.jsonl" }

    init(_ model: ManagedObjectModel, rows: String) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "causeway-validation-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        layout = try StoreLayout(model: model, frameworkVersion: 1509, hints: LayoutHints())
        connection = try Connection(path: folder + "/step-1.sqlite", mode: .create, hardening: .own)
        try connection.begin(.immediate)
        for statement in try layout.statements().tableStatements { try connection.execute(statement.sql) }
        try connection.execute(rows)
    }

    convenience init(_ text: String, rows: String) throws {
        try self.init(try ModelReader.model(source: Array(text.utf8)), rows: rows)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    @discardableResult
    func validate(_ policy: OnViolation, cancellation: Cancellation = Cancellation()) throws -> ValidationOutcome {
        let file = policy == .reject ? try LineFile(rejects, for: .rejects) : nil
        return try ValidationStage(layout: layout, storeUUID: Self.uuid, policy: policy, rejects: file)
            .run(on: connection, cancellation: cancellation)
    }

    /// Violations that stop the migration, as `Entity.property pKEY code`.
    func stopped(_ policy: OnViolation = .stop) throws -> [String] {
        try failure { try validate(policy) }.details.map { line in
            let parts = line.components(separatedBy: ": ")
            let key = parts.count > 1 ? parts[1].components(separatedBy: "/").last ?? "" : ""
            let code = line.components(separatedBy: "(").last?.dropLast() ?? ""
            return "\(parts[0]) \(key) \(code)"
        }
    }

    /// The rejects file's lines, as `uri property code`.
    func rejectedLines() throws -> [[String: Any]] {
        try String(contentsOfFile: rejects, encoding: .utf8).split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    func rejected() throws -> [String] {
        try rejectedLines().map { line in
            "\(line["entity"] ?? "").\(line["property"] ?? "") p\(line["key"] ?? "") \(line["code"] ?? "")"
        }
    }

    func rows(_ sql: String) throws -> [String] {
        var statement = try connection.prepare(sql)
        var result: [String] = []
        while try statement.step() {
            var cells: [String] = []
            for index in 0..<statement.columnCount { cells.append(try statement.string(at: index) ?? "NULL") }
            result.append(cells.joined(separator: "|"))
        }
        return result
    }
}

/// A relationship with everything spelt out.
func link(
    _ name: String, _ destination: String, inverse: String? = nil, optional: Bool = true, min: Int = 0, max: Int = 0
) -> String {
    let inverse = inverse.map { " inverseName=\"\($0)\" inverseEntity=\"\(destination)\"" } ?? ""
    return """
        <relationship name="\(name)" optional="\(optional ? "YES" : "NO")" minCount="\(min)" maxCount="\(max)" \
        \(max == 1 ? "" : "toMany=\"YES\"") deletionRule="Nullify" destinationEntity="\(destination)"\(inverse)/>
        """
}

@Suite("Validation: the stage as a whole", .timeLimit(.minutes(60)))
struct ValidationStoreTests {
    static let people = model(
        entity(
            "Person", attribute("name", optional: false), attribute("age", "Integer 16", extra: "minValueString=\"1\""))
    )

    @Test("valid rows pass under every policy and stay as they are", arguments: OnViolation.allCases)
    func cleanRowsPass(policy: OnViolation) throws {
        let store = try ValidationStore(
            Self.people, rows: "INSERT INTO ZPERSON (Z_PK, Z_ENT, ZNAME, ZAGE) VALUES (1, 1, 'A', 1), (2, 1, '', NULL)")
        let before = try store.rows("SELECT * FROM ZPERSON")
        let outcome = try store.validate(policy)
        #expect(outcome == ValidationOutcome())
        #expect(try store.rows("SELECT * FROM ZPERSON") == before)
        #expect(try store.rows("SELECT name FROM temp.sqlite_schema").isEmpty)
    }

    @Test("an error names the first twenty rows and counts the rest, never a value")
    func errorsAreBounded() throws {
        let rows = (1...50).map { "(\($0), 1, 'secret\($0)', 0)" }.joined(separator: ", ")
        let store = try ValidationStore(
            Self.people, rows: "INSERT INTO ZPERSON (Z_PK, Z_ENT, ZNAME, ZAGE) VALUES \(rows)")
        let error = try failure { try store.validate(.stop) }
        #expect(error.kind == .sourceData)
        #expect(error.message == "50 violations of the new version's rules")
        #expect(error.details.count == 21)
        #expect(
            error.details.first
                == "Person.age: x-coredata://\(ValidationStore.uuid)/Person/p1: is under the minimum (1620)")
        #expect(error.details.last == "… and 30 more")
        #expect(error.remedy.contains("--on-violation"))
        #expect(!"\(error)".contains("secret"))
    }

    @Test("rejecting without a file is an error of usage")
    func rejectNeedsFile() throws {
        let store = try ValidationStore(Self.people, rows: "SELECT 1")
        let error = try failure {
            _ = try ValidationStage(layout: store.layout, storeUUID: ValidationStore.uuid, policy: .reject)
        }
        #expect(error.kind == .usage)
    }

    @Test("a rejects file that exists is never overwritten")
    func rejectsFileIsExclusive() throws {
        let store = try ValidationStore(Self.people, rows: "SELECT 1")
        try Data("mine".utf8).write(to: URL(filePath: store.rejects))
        let error = try failure { try store.validate(.reject) }
        #expect(error.kind == .cannotCreate)
        #expect(try String(contentsOfFile: store.rejects, encoding: .utf8) == "mine")
    }

    @Test("a run ends when it is asked to stop")
    func cancels() throws {
        let store = try ValidationStore(Self.people, rows: "SELECT 1")
        let cancellation = Cancellation()
        cancellation.cancel(.terminated)
        #expect(try failure { try store.validate(.stop, cancellation: cancellation) }.kind == .terminated)
    }

    @Test("a hundred thousand violations are counted, remedied and rejected", arguments: OnViolation.allCases)
    func manyRows(policy: OnViolation) throws {
        let store = try ValidationStore(
            model(
                entity(
                    "Person", attribute("name", optional: false, default: "x"),
                    link("friends", "Person", inverse: "of", max: 2), link("of", "Person", inverse: "friends", max: 1))),
            rows: """
                WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < 100000) \
                INSERT INTO ZPERSON (Z_PK, Z_ENT, ZOF) SELECT k, 1, k / 2 + 1 FROM n WHERE k <= 99999
                """)
        switch policy {
        case .stop:
            let error = try failure { try store.validate(policy) }
            #expect(error.message.hasPrefix("99999 violations"))
        case .useDefault:
            #expect(try store.validate(policy).defaulted == 99_999)
            #expect(try store.rows("SELECT count(*) FROM ZPERSON WHERE ZNAME = 'x'") == ["99999"])
        case .reject:
            let outcome = try store.validate(policy)
            #expect(outcome.rejectedRows == ["Person": 99_999])
            #expect(outcome.first.count == ValidationOutcome.namedViolations)
            #expect(try Data(contentsOf: URL(filePath: store.rejects)).count { $0 == 0x0a } == 99_999)
            #expect(try store.rows("SELECT count(*) FROM ZPERSON") == ["0"])
        }
    }
}
