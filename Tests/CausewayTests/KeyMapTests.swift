import Causeway
import CausewayEngine
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

/// `--key-map`: old and new URIs of rows that split or merge.
@Suite(.timeLimit(.minutes(60)))
struct KeyMapTests {
    typealias Work = PoliciesExample.Work

    /// Makes two rows of each row with an even key, and none where 5 divides the key.
    class TwinPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            let key = sInstance.objectID.key
            guard key % 5 != 0 else { return }
            for _ in 0..<(key % 2 == 0 ? 2 : 1) {
                let person = try manager.destinationContext.insert("Person")
                try person.set("name", to: sInstance.string("name"))
                try manager.associate(sourceInstance: sInstance, withDestinationInstance: person, for: mapping)
            }
        }
    }

    final class IndependentTwinPolicy: TwinPolicy {
        override class var isIndependent: Bool { true }
    }

    /// Makes another object first, which takes the source's key. No result of the row gets it.
    final class StolenPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            let stranger = try manager.destinationContext.insert("Person")
            try stranger.set("name", to: "stranger")
            guard sInstance.objectID.key > 2 else { return }
            let person = try manager.destinationContext.insert("Person")
            try person.set("name", to: sInstance.string("name"))
            try manager.associate(sourceInstance: sInstance, withDestinationInstance: person, for: mapping)
        }
    }

    private static let merged: MigrationCode = {
        var code = MigrationCode()
        code.add(
            SwiftMappingModel(from: "v1", to: "v2") {
                TransformEntity("Tag")
                TransformEntity("Team", to: "Tag") { Rename("title", to: "name") }
                TransformEntity("Person") { Leave("team") }
            })
        return code
    }()

    private struct Line: Decodable, Equatable {
        var step: String
        var mapping: String
        var old: String
        var new: String?
    }

    private func keyMap(_ office: Office, _ code: MigrationCode, _ work: Work = .usual) throws -> (String, String) {
        let name = "result \(work.testDescription)"
        var request = office.request(code, as: name, work)
        let file = office.folder.path("\(name).jsonl")
        request.keyMap = file
        _ = try Migration(request).run()
        return (try String(contentsOfFile: file, encoding: .utf8), office.folder.path(name))
    }

    private func lines(_ text: String) throws -> [Line] {
        try text.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    }

    /// Old and new URIs, of which only the last part may differ.
    private func pairs(_ text: String, _ store: String) throws -> [String] {
        let uuid = try #require(try StoreRows.texts(store, "SELECT Z_UUID FROM Z_METADATA").first)
        return try lines(text).map { line in
            #expect(line.step == "v1 → v2")
            let old = line.old.replacing("x-coredata://\(uuid)/", with: "")
            return "\(line.mapping) \(old) \(line.new?.replacing("x-coredata://\(uuid)/", with: "") ?? "null")"
        }
    }

    @Test("an entity that splits: the second results, in the source's order; kept and dropped rows aren't listed")
    func split() throws {
        let office = try Office()
        let (text, result) = try keyMap(office, Office.code(TwinPolicy.self))
        let twins = (1...40).filter { $0 % 10 != 0 && $0 % 2 == 0 }
        #expect(
            try pairs(text, result)
                == twins.enumerated().map { "PersonToPerson Person/p\($1) Person/p\(41 + $0)" })
        #expect(
            try Office.rows(result, "Z_PK, ZNAME", "FROM ZPERSON WHERE Z_PK > 40 ORDER BY Z_PK")
                == twins.enumerated().map { "\(41 + $0)|secret\($1)" })
    }

    @Test("two entities that merge: every row of the one that gets new keys, once")
    func merge() throws {
        let office = try Office()
        let (text, result) = try keyMap(office, Self.merged)
        #expect(try pairs(text, result) == (1...5).map { "TeamToTag Team/p\($0) Tag/p\($0 + 6)" })
        #expect(
            try Office.rows(result, "Z_PK, ZNAME", "FROM ZTAG ORDER BY Z_PK")
                == (1...6).map { "\($0)|tag\($0)" } + (1...5).map { "\($0 + 6)|team\($0)" })
        try Office.expectSound(result)
    }

    @Test("a row whose key another object got has a line, with null where nothing was made of it")
    func stolen() throws {
        let office = try Office()
        let (text, result) = try keyMap(office, Office.code(StolenPolicy.self))
        #expect(
            try pairs(text, result)
                == (1...40).map { "PersonToPerson Person/p\($0) \($0 > 2 ? "Person/p\($0 + 38)" : "null")" })
    }

    @Test("the same bytes for every batch size and number of workers", arguments: Work.every)
    func work(_ work: Work) throws {
        let office = try Office()
        for code in [
            Office.code(TwinPolicy.self), Office.code(IndependentTwinPolicy.self), Office.code(StolenPolicy.self),
            Self.merged,
        ] {
            let office = office
            let usual = try keyMap(office, code, Work(batchRows: 4_096, jobs: 5))
            let other = try keyMap(office, code, work)
            #expect(other.0 == usual.0)
            #expect(!usual.0.isEmpty)
            try Office.expectSame(other.1, usual.1)
            for path in try office.folder.snapshot().keys where path.hasPrefix("result") {
                try FileManager.default.removeItem(atPath: office.folder.path(path))
            }
        }
    }

    @Test("a step whose rows keep their keys gives an empty file")
    func nothing() throws {
        let office = try Office()
        #expect(try keyMap(office, Office.code(nil)).0.isEmpty)
    }

    /// Fails when everything is made.
    final class FailingPolicy: EntityMigrationPolicy {
        override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
            throw PolicyError.nothingMade("at the end")
        }
    }

    @Test("the file is removed after a failure, and one that exists is refused and kept")
    func failure() throws {
        let office = try Office()
        var request = office.request(Office.code(FailingPolicy.self))
        request.keyMap = office.folder.path("keys.jsonl")
        // `failure` also checks that no file is left.
        #expect(try office.failure(request).kind == .sourceData)
        try Data("mine".utf8).write(to: URL(filePath: office.folder.path("keys.jsonl")))
        request.code = Office.code(TwinPolicy.self)
        let error = try office.failure(request)
        #expect(error.kind == .cannotCreate)
        #expect(error.message.contains("keys.jsonl"))
        #expect(error.remedy.contains("--key-map"))
        #expect(try String(contentsOfFile: office.folder.path("keys.jsonl"), encoding: .utf8) == "mine")
    }

    @Test("both steps of a chain have their lines")
    func chain() throws {
        let office = try Office()
        var code = Office.code(TwinPolicy.self)
        code.add(
            SwiftMappingModel(from: "v2", to: "v3") {
                TransformEntity("Tag")
                TransformEntity("Team", to: "Tag") { Rename("title", to: "name") }
                TransformEntity("Person") { Leave("team") }
                TransformEntity("City")
                TransformEntity("Note")
            })
        var request = office.request(code, to: "v3")
        request.keyMap = office.folder.path("keys.jsonl")
        _ = try Migration(request).run()
        let all = try lines(String(contentsOfFile: office.folder.path("keys.jsonl"), encoding: .utf8))
        #expect(all.map(\.step) == Array(repeating: "v1 → v2", count: 16) + Array(repeating: "v2 → v3", count: 5))
        #expect(all.suffix(5).map(\.mapping) == Array(repeating: "TeamToTag", count: 5))
    }
}
