import Foundation
import Synchronization

/// The folder of one run. It goes at the end, and where the run is interrupted.
struct Scratch {
    let folder: URL
    private let cleanup: Cleanup

    init(in parent: String) throws {
        folder = URL(fileURLWithPath: parent).appendingPathComponent("causeway-benchmark-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        cleanup = Cleanup(folder)
    }

    /// Does something before the folder goes.
    func atEnd(_ action: @escaping @Sendable () -> Void) {
        cleanup.add(action)
    }

    func remove() {
        cleanup.run()
    }

    /// - Throws: where the disk has less room.
    static func check(room bytes: Int, in folder: URL) throws {
        let free = Disk.freeBytes(folder)
        guard free >= bytes else {
            throw BenchmarkError(
                "\(folder.path): \(bytes.megabytes) MB are needed at the peak, and \(free.megabytes) MB are free: "
                    + "name another disk with --folder, or smaller stores")
        }
    }
}

/// What must be undone, whatever ends the run.
///
/// Unchecked: the signals' sources are made in `init` and only kept.
private final class Cleanup: @unchecked Sendable {
    private let folder: URL
    private let actions = Mutex<[@Sendable () -> Void]>([])
    private let signals: [any DispatchSourceSignal]

    init(_ folder: URL) {
        self.folder = folder
        let numbers = [SIGINT, SIGTERM, SIGHUP]
        signals = numbers.map { DispatchSource.makeSignalSource(signal: $0, queue: .global()) }
        for (number, source) in zip(numbers, signals) {
            // The source gets it all the same.
            signal(number, SIG_IGN)
            source.setEventHandler { [self] in
                Programs.endRunning()
                run()
                exit(128 + number)
            }
            source.resume()
        }
    }

    func add(_ action: @escaping @Sendable () -> Void) {
        actions.withLock { $0.append(action) }
    }

    func run() {
        let pending = actions.withLock { actions in
            defer { actions = [] }
            return actions
        }
        for action in pending.reversed() { action() }
        try? FileManager.default.removeItem(at: folder)
    }
}

extension Int {
    /// Millions of bytes.
    var megabytes: String { String(format: self < 10_000_000 ? "%.1f" : "%.0f", Double(self) / 1e6) }
}
