import CausewayEngine
import CausewayPlatform
import CausewayPreparation
import Foundation
import Testing

/// Files of a run that was killed among its pages are damaged, missing or older than others. The next run doesn't
/// verify, so that nothing but the recovery can find it.
@Suite("Unfinished pages with damage", .timeLimit(.minutes(60)))
struct UnfinishedPagesTests {
    /// Where the first run is killed.
    enum Place: String, CaseIterable, Sendable {
        /// No page, some, nearly all; all, before a checkpoint says so; before SQLite has the file again; rows by
        /// statements, after.
        case begun, among, late, unsaid, whole, after

        var point: (KillPoint, Int) {
            switch self {
            case .begun: (.pagesBegun, 1)
            case .among: (.checkpointWritten, 3)
            case .late: (.checkpointWritten, 6)
            case .unsaid: (.pagesWhole, 1)
            case .whole: (.pagesDone, 1)
            case .after: (.committed, 3)
            }
        }
    }

    enum Damage: String, CaseIterable, Sendable {
        case newestCheckpointMissing, newestCheckpointTorn, newestCheckpointFlipped
        case allCheckpointsMissing, allCheckpointsEmpty
        case pagesCutByOneByte, pagesCutInHalf, pagesCutToTheHeader, pagesEmpty, pagesMissing
        case otherDatabase, noDatabase
    }

    /// A whole file that is cut within its last page isn't told from one with other content: a crash doesn't do that,
    /// and no promise covers damage by a disk.
    private static let cases = Place.allCases.flatMap { place in
        Damage.allCases.filter { $0 != .pagesCutByOneByte || ![.whole, .after].contains(place) }.map { (place, $0) }
    }

    @Test("the rows are those of an undisturbed run", arguments: cases)
    func damaged(place: Place, damage: Damage) async throws {
        let scenario = try PageEngineTests.scenario()
        try await Self.finish(scenario, killedAt: place.point, damage)
        try PageEngineTests.expectDone(scenario)
    }

    /// Where the first run is killed in the copy that a store begins with.
    enum CopyPlace: String, CaseIterable, Sendable {
        /// Some chunks, all of them; the schema is changed and the progress isn't committed.
        case among, whole, changed

        var point: (KillPoint, Int) {
            switch self {
            case .among: (.checkpointWritten, 3)
            case .whole: (.pagesCopied, 1)
            case .changed: (.committing, 1)
            }
        }
    }

    private static let copyCases = CopyPlace.allCases.flatMap { place in
        Damage.allCases.filter { $0 != .pagesCutByOneByte || place != .changed }.map { (place, $0) }
    }

    @Test("the rows are those of an undisturbed run where the copy is damaged", arguments: copyCases)
    func damagedCopy(place: CopyPlace, damage: Damage) async throws {
        let scenario = try KeptTableTests.scenario()
        try await Self.finish(scenario, killedAt: place.point, damage)
        try KeptTableTests.expectDone(scenario)
    }

    /// Kills a run, damages its files, and runs again.
    private static func finish(
        _ scenario: Scenario, killedAt point: (place: KillPoint, count: Int), _ damage: Damage
    ) async throws {
        try await scenario.kill(at: point.place, point.count, engine: .pages)
        try make(damage, scenario)
        var request = KeptTableTests.careful(scenario)
        request.verification = .none
        _ = try scenario.rerun(request)
    }

    private static func make(_ damage: Damage, _ scenario: Scenario) throws {
        let files = FileManager.default
        let checkpoints = scenario.work.filter { $0.hasPrefix("ckpt-1-") }.map(scenario.workFile)
        let staging = scenario.workFile("step-1.sqlite")
        let newest = try #require(checkpoints.last)
        let length = try #require(files.contents(atPath: staging)).count
        switch damage {
        case .newestCheckpointMissing: try files.removeItem(atPath: newest)
        case .newestCheckpointTorn: try cut(newest, to: 300)
        case .newestCheckpointFlipped:
            var bytes = try #require(files.contents(atPath: newest))
            bytes[bytes.count / 2] ^= 4
            try bytes.write(to: URL(filePath: newest))
        case .allCheckpointsMissing: for path in checkpoints { try files.removeItem(atPath: path) }
        case .allCheckpointsEmpty: for path in checkpoints { try cut(path, to: 0) }
        case .pagesCutByOneByte: try cut(staging, to: length - 1)
        case .pagesCutInHalf: try cut(staging, to: length / 2)
        case .pagesCutToTheHeader: try cut(staging, to: 100)
        case .pagesEmpty: try cut(staging, to: 0)
        case .pagesMissing: try files.removeItem(atPath: staging)
        case .otherDatabase:
            try files.removeItem(atPath: staging)
            try files.copyItem(atPath: scenario.store, toPath: staging)
        case .noDatabase: try Data(repeating: 0x5a, count: length).write(to: URL(filePath: staging))
        }
    }

    private static func cut(_ path: String, to length: Int) throws {
        let file = try FileHandle(forUpdating: URL(filePath: path))
        try file.truncate(atOffset: UInt64(length))
        try file.close()
    }
}
