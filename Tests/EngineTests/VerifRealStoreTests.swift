import CausewayEngine
import CausewayExamination
import CausewayStores
import Foundation
import Testing

/// Stores of real apps, as Core Data wrote them.
@Suite("Examination of real stores", .timeLimit(.minutes(60)))
struct VerifRealStoreTests {
    private static let stores = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("shared/stores").path

    private static let hasStores = FileManager.default.fileExists(atPath: stores)

    /// Every database of the folder.
    private static func paths() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: stores).sorted().filter { name in
            guard let file = FileHandle(forReadingAtPath: stores + "/" + name) else { return false }
            defer { try? file.close() }
            return (try? file.read(upToCount: 15)) == Data("SQLite format 3".utf8)
        }
    }

    /// Findings that are true; each was checked by hand.
    ///
    /// The Wire stores are an app's test data without the external files. In the oldest, users were deleted without
    /// their links. One Photos library has an impossible date. Every other store is sound.
    private static func expected(_ name: String) -> Set<StoreFinding.Kind> {
        if name.hasSuffix("store1-27.wiredatabase") { return [.dangling, .joinEnd, .externalData] }
        // One photo has a date in the year 3,914,160.
        if name.hasSuffix("Photos-10.16.0.sqlite") { return [.outOfRange] }
        return name.hasSuffix(".wiredatabase") ? [.externalData] : []
    }

    @Test("real stores have no false finding, and keep their bytes", .enabled(if: hasStores))
    func realStores() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "causeway-verif-\(UUID().uuidString)").path
        try FileManager.default.copyItem(atPath: Self.stores, toPath: folder)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let paths = try Self.paths()
        #expect(paths.count >= 40)
        for name in paths {
            let path = folder + "/" + name
            let before = try Data(contentsOf: URL(filePath: path))
            let store = try SourceStore.reading(StoreLocation(existing: path))
            let report = try StoreExamination(store, history: nil, isQuick: false).run()
            store.release()
            let kinds = Set(report.findings.map(\.kind))
            #expect(kinds.isSubset(of: Self.expected(name)), "\(name): \(report.findings.map(\.message))")
            #expect(report.notes.isEmpty, "\(name): \(report.notes.map(\.message))")
            #expect(report.origin == .storeCache, "\(name)")
            #expect(try Data(contentsOf: URL(filePath: path)) == before, "\(name)")
        }
    }
}
