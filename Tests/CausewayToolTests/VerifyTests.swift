import Causeway
import CausewaySQLite
import Foundation
import Testing

/// `verify`: its report and its exit status.
@Suite("Verify", .timeLimit(.minutes(60)))
struct VerifyTests {
    private static let model = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="Note"><attribute name="text" attributeType="String" optional="NO"/>
        <attribute name="rank" attributeType="Integer 16" optional="YES"/></entity></model>
        """

    private let folder: WorkFolder
    private let store: String

    /// A store of three notes.
    init() throws {
        folder = try WorkFolder()
        let model = folder.path("Notes.xcdatamodel")
        try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: true)
        try Data(Self.model.utf8).write(to: URL(fileURLWithPath: model + "/contents"))
        store = folder.path("Store.sqlite")
        let made = try ToolProcess(["generate", model, store, "--rows", "3", "--seed", "1"])
        #expect(made.status == 0, "\(made.errors)")
    }

    enum Case: String, CaseIterable {
        case sound, inconsistent, damaged, both, unknown, unknownAndDamaged

        var sql: String {
            switch self {
            case .sound: "SELECT 1"
            case .inconsistent: "UPDATE ZNOTE SET ZTEXT = NULL, ZRANK = 70000 WHERE Z_PK = 2"
            case .damaged: "UPDATE ZNOTE SET ZTEXT = CAST(x'ff' AS TEXT) WHERE Z_PK = 2"
            case .both: "UPDATE ZNOTE SET ZTEXT = NULL WHERE Z_PK = 1; UPDATE ZNOTE SET ZRANK = 'x' WHERE Z_PK = 2"
            case .unknown: "DROP TABLE Z_MODELCACHE"
            case .unknownAndDamaged: "UPDATE Z_MODELCACHE SET Z_CONTENT = x'00'"
            }
        }

        var verdict: StoreVerification.Verdict {
            switch self {
            case .sound: .sound
            case .inconsistent: .inconsistent
            case .damaged, .both, .unknownAndDamaged: .damaged
            case .unknown: .notExamined
            }
        }

        func status(strict: Bool) -> Int32 {
            switch self {
            case .sound: 0
            case .inconsistent: strict ? 65 : 0
            case .damaged, .both, .unknownAndDamaged: 65
            case .unknown: 66
            }
        }

        var sentence: String {
            switch verdict {
            case .sound: "Nothing is wrong."
            case .inconsistent: "The store isn't damaged, but rows break rules."
            case .damaged: "The store is damaged."
            case .notExamined: "The rows weren't examined: there is no model of the store's version."
            }
        }
    }

    @Test("the exit status and the verdict are those of the worst finding", arguments: Case.allCases, [false, true])
    func verdict(_ state: Case, strict: Bool) throws {
        try Connection(path: store, mode: .readWrite, hardening: .own).execute(state.sql)
        let flags = strict ? ["--strict"] : []
        let text = try ToolProcess(["verify", store] + flags)
        #expect(text.status == state.status(strict: strict), "\(text.output)\(text.errors)")
        #expect(text.output.contains("\n\(state.sentence)"), "\(text.output)")
        #expect(text.output.contains("Nothing is wrong") == (state == .sound))
        let json = try ToolProcess(["verify", store, "--json"] + flags)
        #expect(json.status == text.status)
        let verification = try JSONDecoder().decode(StoreVerification.self, from: Data(json.output.utf8))
        #expect(verification.verdict == state.verdict && verification.isSound == (state == .sound))
        if state == .both { #expect(Set(verification.findings.map(\.severity)) == [.damage, .inconsistency]) }
        #expect(verification.notes.allSatisfy { $0.severity == .note })
    }

    @Test("damage and inconsistencies have separate headings")
    func headings() throws {
        try Connection(path: store, mode: .readWrite, hardening: .own).execute(Case.both.sql)
        let lines = try ToolProcess(["verify", store]).output.split(separator: "\n").map(String.init)
        let damage = try #require(lines.firstIndex(of: "Damage"))
        #expect(lines[damage + 1] == "  - Note.rank holds text, not an integer, in 1 row (p2)")
        #expect(lines[damage + 2] == "Inconsistencies that apps tolerate")
        #expect(lines[damage + 3] == "  - Note.text is mandatory, but NULL, in 1 row (p1)")
    }
}
