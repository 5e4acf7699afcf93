import CausewayEngine
import CausewayReliabilityKit
import Foundation
import Testing

/// What the harnesses assume about their stores.
@Suite("Crash explorer: its stores and digests", .timeLimit(.minutes(60)))
struct ExplorerSubjectTests {
    @Test("a digest includes what the -wal or the journal says", arguments: Subject.Chain.allCases)
    func states(_ chain: Subject.Chain) throws {
        for (state, suffix) in [(Subject.SourceState.unmergedWAL, "-wal"), (.hotJournal, "-journal")] {
            let folder = try Folder()
            let store = try Subject(chain, state: state).makeStore(in: folder.path)
            let bare = try Folder()
            try FileManager.default.removeItem(atPath: bare.path)
            try FileManager.default.copyItem(atPath: folder.path, toPath: bare.path)
            #expect(FileManager.default.fileExists(atPath: store + suffix))
            let whole = try StoreDigest(store)
            try FileManager.default.removeItem(atPath: bare.path + "/\(Subject.storeName)\(suffix)")
            let without = try? StoreDigest(bare.path + "/" + Subject.storeName)
            #expect(whole != without, "\(state)")
        }
    }

    @Test("a hot journal brings back the clean store", arguments: Subject.Chain.allCases)
    func rolledBack(_ chain: Subject.Chain) throws {
        let clean = try Folder()
        let hot = try Folder()
        let one = try StoreDigest(Subject(chain, state: .clean).makeStore(in: clean.path))
        let other = try StoreDigest(Subject(chain, state: .hotJournal).makeStore(in: hot.path))
        #expect(one.differences(from: other).isEmpty)
    }

    @Test("a digest sees a changed cell, a missing row, a missing and a changed file")
    func digests() throws {
        let folder = try Folder()
        let store = try Subject(.inferred, state: .clean).makeStore(in: folder.path)
        let before = try StoreDigest(store)
        let files = folder.path + "/\(Subject.supportName)/_EXTERNAL_DATA"
        let names = try FileManager.default.contentsOfDirectory(atPath: files).map { files + "/" + $0 }
        let name = try #require(names.first)
        let content = try #require(FileManager.default.contents(atPath: name))
        try Data(content.dropLast()).write(to: URL(filePath: name))
        #expect(try StoreDigest(store).differences(from: before) == ["external data differs"])
        try FileManager.default.removeItem(atPath: name)
        #expect(throws: HarnessError.self) { try StoreDigest(store) }
        try content.write(to: URL(filePath: name))
        #expect(try StoreDigest(store) == before)
        #expect(before.parts.count > 10)
        #expect(before.rows.values.reduce(0, +) > 130)
    }

    @Test("a missing store, an empty one and a file that isn't a store have no digest")
    func noDigest() throws {
        let folder = try Folder()
        let path = folder.path + "/x.sqlite"
        #expect(throws: HarnessError.self) { try StoreDigest(path) }
        #expect(!FileManager.default.fileExists(atPath: path))
        for content in ["", String(repeating: "no database ", count: 100)] {
            try Data(content.utf8).write(to: URL(filePath: path))
            #expect(throws: (any Error).self) { try StoreDigest(path) }
        }
    }
}
