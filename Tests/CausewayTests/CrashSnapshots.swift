import Causeway
import Foundation
import Synchronization
import Testing

/// What `kill -9` would leave at every event of a run, and what the next run does with it.
///
/// Events are delivered on the thread that writes. A copy of the folder made during an event is what the file system
/// would hold if the process had ended there. Each copy then replaces the folder and is migrated again, with other
/// batch sizes and workers. The result must equal that of the copied run, cell by cell.
///
/// By default only some events of each run are tried, chosen by a seed. `CAUSEWAY_EVERY_EVENT=1` tries every event,
/// `CAUSEWAY_CRASH_SEED=n` chooses others.
struct CrashSnapshots {
    let name: String
    let models: String
    var code = MigrationCode()
    var options = MigrationOptions()
    /// Whether steps can be resumed between any two rows.
    var isResumable = true
    /// `TABLE.COLUMN`s whose values differ in every run.
    var random: Set<String> = []
    /// Files beside the stores whose bytes must be equal, too.
    var sideFiles: [String] = []

    private static let environment = ProcessInfo.processInfo.environment
    private static let takesAll = environment["CAUSEWAY_EVERY_EVENT"] == "1"
    private static let seed = environment["CAUSEWAY_CRASH_SEED"].flatMap { UInt64($0) } ?? 1
    /// Copies of a run that are kept by default: this many to twice as many.
    private static let copies = 3

    /// A moment of the run that is copied.
    private struct Moment: Sendable {
        let event: String
        let path: String
        /// Rows read so far in all steps, rows read so far in this step, and the step's index.
        let rows: Int
        let stepRows: Int
        let step: Int
    }

    /// Migrates the store in `folder`, and then every copy. Nothing else in `folder` changes. Returns the number of
    /// copies.
    func check(_ store: String, in folder: URL) async throws -> Int {
        let album = URL(filePath: folder.path(percentEncoded: false) + ".album")
        defer { try? FileManager.default.removeItem(at: album) }
        try FileManager.default.createDirectory(at: album, withIntermediateDirectories: true)
        let camera = Camera(folder: folder.path(percentEncoded: false), album: album.path(percentEncoded: false))
        let summary = try await migrator(store).migrate { camera.see($0) }
        let result = summary.store
        let expected = try content(result, in: folder)
        let moments = try camera.moments()
        var random = SeededNumbers(Self.seed)
        for moment in moments {
            try FileManager.default.removeItem(at: folder)
            try FileManager.default.moveItem(atPath: moment.path, toPath: folder.path(percentEncoded: false))
            var again = options
            again.batchRows = [1, 7, 64, 1_024].randomElement(using: &random) ?? 7
            again.jobs = (1...4).randomElement(using: &random)
            again.checkpointInterval = [0, 0.05, 5].randomElement(using: &random) ?? 5
            let comment = "\(name), \(moment.event): batches of \(again.batchRows), \(again.jobs ?? 0) jobs"
            do {
                let witness = Witness()
                let rerun = try await migrator(store, again).migrate { witness.see($0) }
                #expect(rerun.store == result, "\(comment)")
                let content = try content(result, in: folder)
                compare(content, expected, comment)
                expectLittleRedone(moment, witness, comment)
            } catch {
                Issue.record("\(comment): \(error)")
            }
        }
        return moments.count
    }

    private func migrator(_ store: String, _ options: MigrationOptions? = nil) -> Migrator {
        Migrator(store: store, models: models, options: options ?? self.options, code: code)
    }

    /// With a commit for every batch, no more than a batch is read twice.
    private func expectLittleRedone(_ moment: Moment, _ witness: Witness, _ comment: String) {
        // Starting over would give the same rows, and hide that the saved work can't be read.
        #expect(witness.anew.isEmpty, "\(comment)")
        guard isResumable, options.checkpointInterval == 0 else { return }
        if let resumed = witness.resumed {
            #expect(resumed.step == moment.step, "\(comment)")
            #expect(resumed.rows >= moment.rows - options.batchRows, "\(comment)")
        } else if let step = witness.firstStep {
            #expect(step > moment.step || moment.stepRows <= options.batchRows, "\(comment)")
        }
    }

    // MARK: - What a run leaves

    private struct Content {
        var tables: [String: [String]]
        var files: [String: Data]
        var names: [String]
    }

    private func content(_ store: String, in folder: URL) throws -> Content {
        var content = Content(tables: [:], files: [:], names: [])
        for (table, rows) in try StoreContent.dump(store, without: random) { content.tables[table] = rows }
        let path = folder.path(percentEncoded: false)
        for file in sideFiles { content.files[file] = try Data(contentsOf: folder.appending(path: file)) }
        // The digits in a backup's name are those of its migration. The -shm of a store that was read holds no data.
        content.names = try FileManager.default.subpathsOfDirectory(atPath: path).filter { !$0.hasSuffix("-shm") }
            .map { $0.replacing(#/premigration-[0-9a-f]{8}/#, with: "premigration") }.sorted()
        return content
    }

    private func compare(_ content: Content, _ expected: Content, _ comment: String) {
        StoreContent.expectSame(content.tables, expected.tables, "\(comment)")
        #expect(content.names == expected.names, "\(comment)")
        for (file, bytes) in expected.files { #expect(content.files[file] == bytes, "\(comment): \(file)") }
    }

    // MARK: - Watching a run

    /// Copies a folder at some events of a run.
    private final class Camera: Sendable {
        private struct State {
            var events = 0
            var stride = 1
            var (rows, rowsBefore, step) = (0, 0, 0)
            var moments: [(number: Int, moment: Moment)] = []
            var failure: (any Error)?
        }

        private let folder: String
        private let album: String
        private let state = Mutex(State())

        init(folder: String, album: String) {
            self.folder = folder
            self.album = album
        }

        func see(_ event: MigrationEvent) {
            state.withLock { state in
                var title = "\(event)".prefix(80)
                switch event {
                // Nothing is left to do after the last.
                case .planned, .finished: return
                case .stepBegan(_, let index, _, _): (state.step, state.rowsBefore) = (index, state.rows)
                case .progress(let progress): state.rows = progress.rows
                case .phaseBegan("swap"): title = "swap"
                default: break
                }
                state.events += 1
                let phase = Int(CrashSnapshots.seed % UInt64(state.stride))
                guard title == "swap" || state.events % state.stride == phase, state.failure == nil else { return }
                do {
                    try take(&state, String(title))
                } catch {
                    state.failure = error
                }
            }
        }

        private func take(_ state: inout State, _ event: String) throws {
            let path = "\(album)/\(state.events)"
            try FolderCopy.copy(folder, to: path)
            let moment = Moment(
                event: "event \(state.events) (\(event))", path: path, rows: state.rows,
                stepRows: state.rows - state.rowsBefore, step: state.step)
            state.moments.append((state.events, moment))
            guard !CrashSnapshots.takesAll, state.moments.count > CrashSnapshots.copies * 2 else { return }
            // The number of events isn't known in advance: drop every other copy, and copy half as often from now on.
            state.stride *= 2
            let phase = Int(CrashSnapshots.seed % UInt64(state.stride))
            for (number, moment) in state.moments where number % state.stride != phase {
                try FileManager.default.removeItem(atPath: moment.path)
            }
            state.moments.removeAll { $0.number % state.stride != phase }
        }

        func moments() throws -> [Moment] {
            try state.withLock { state in
                if let failure = state.failure { throw failure }
                return state.moments.map(\.moment)
            }
        }
    }

    /// Where a run was resumed.
    private final class Witness: Sendable {
        private struct State {
            var resumed: (step: Int, rows: Int)?
            var firstStep: Int?
            var anew: [String] = []
        }

        private let state = Mutex(State())

        func see(_ event: MigrationEvent) {
            state.withLock { state in
                switch event {
                case .resumed(let step, let rows): if state.resumed == nil { state.resumed = (step, rows) }
                case .stepBegan(_, let index, _, _): if state.firstStep == nil { state.firstStep = index }
                case .warning(let text): if text.contains("starts over") { state.anew.append(text) }
                default: break
                }
            }
        }

        /// Warnings about steps that couldn't be resumed.
        var anew: [String] { state.withLock { $0.anew } }
        var resumed: (step: Int, rows: Int)? { state.withLock { $0.resumed } }
        var firstStep: Int? { state.withLock { $0.firstStep } }
    }
}

/// Copies a folder with modes and times: a store that is read for `--output` is recognised by its times.
enum FolderCopy {
    static func copy(_ from: String, to: String) throws {
        try FileManager.default.createDirectory(atPath: to, withIntermediateDirectories: true)
        for name in try FileManager.default.subpathsOfDirectory(atPath: from).sorted() {
            let (source, target) = ("\(from)/\(name)", "\(to)/\(name)")
            let attributes = try FileManager.default.attributesOfItem(atPath: source)
            let mode = [FileAttributeKey.posixPermissions: attributes[.posixPermissions] ?? 0o600]
            if attributes[.type] as? FileAttributeType == .typeDirectory {
                try FileManager.default.createDirectory(
                    atPath: target, withIntermediateDirectories: false, attributes: mode)
                continue
            }
            try Data(contentsOf: URL(filePath: source)).write(to: URL(filePath: target))
            try FileManager.default.setAttributes(mode, ofItemAtPath: target)
            try copyTimes(source, target)
        }
    }

    /// Nanoseconds are kept; Foundation's dates can't hold them.
    private static func copyTimes(_ source: String, _ target: String) throws {
        var status = stat()
        guard unsafe stat(source, &status) == 0 else { throw CocoaError(.fileReadUnknown) }
        #if canImport(Darwin)
            let times = [status.st_atimespec, status.st_mtimespec]
        #else
            let times = [status.st_atim, status.st_mtim]
        #endif
        guard unsafe utimensat(AT_FDCWD, target, times, 0) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }
}

/// The same numbers for the same seed.
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
