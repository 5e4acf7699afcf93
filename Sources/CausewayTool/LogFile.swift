import ArgumentParser
import Causeway
import CausewayPlatform
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The file of `--log-file`: every event as a line of JSON with its time and store, whatever else is shown. It never
/// holds row content, since events don't.
///
/// A log that can't be written doesn't stop a migration; it is reported at the end.
final class LogFile: Sendable {
    /// Seconds between two lines of progress of one store.
    private static let interval = 0.5

    private struct State {
        /// The system's number for the first line that couldn't be written.
        var failure: Int32?
        /// Whether the last line may have been cut, by a full disk: the next one begins anew.
        var isCut = false
        var lastProgress: [String: Double] = [:]
        var places: [String: EventPlace] = [:]
    }

    private let path: String
    private let stream: StandardStream
    private let state = Mutex(State())

    /// With what the first line of every log begins; another file of JSON doesn't.
    private static let beginning = Array(#"{"event":"began""#.utf8)

    /// Opens the file, or makes it, to append to it.
    ///
    /// - Parameters:
    ///   - path: the file's; what isn't a log is left alone.
    ///   - json: whether a failure is printed as JSON too.
    /// - Throws: the exit status, after the failure was printed.
    init(_ path: String, json: Bool) throws {
        self.path = path
        func refusal(_ message: String) -> ExitCode {
            FailureReport(
                .cannotCreate, message, remedy: "give another --log-file, then run again",
                outcome: "nothing was started; give another --log-file, then run again"
            ).print(asJSON: json, aboutStore: false)
        }
        var isEmptied = false
        if let status = try? Files.status(of: path), status.kind == .regular, status.size > 0 {
            let start: [UInt8]
            do { start = try Files.readPrefix(of: path, length: Self.beginning.count) } catch {
                throw refusal("\(path): the log file can't be appended to: \(error)")
            }
            // A full disk may have cut its only line.
            isEmptied = start.count < Self.beginning.count
            guard Self.beginning.starts(with: start) else {
                throw refusal("\(path): the file holds something else than a log; nothing is appended to it")
            }
        }
        let descriptor = unsafe open(
            path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | (isEmptied ? O_TRUNC : 0), 0o600)
        guard descriptor >= 0 else {
            throw refusal("\(path): the log file can't be opened: \(systemMessage(errno))")
        }
        stream = StandardStream(descriptor: descriptor)
        state.withLock { $0.isCut = true }
    }

    deinit { _ = close(stream.descriptor) }

    // MARK: - Lines

    /// A store's migration begins.
    func begin(_ store: String) {
        write(Beginning(version: CausewayCommand.version, process: ProcessFacts.processID), of: store)
    }

    func receive(_ event: MigrationEvent, of store: String) {
        let isWanted = state.withLock { state in
            state.places[store, default: EventPlace()].begin(event)
            guard case .progress = event else { return true }
            let now = MonotonicClock.seconds()
            guard now - (state.lastProgress[store] ?? -.infinity) >= Self.interval else { return false }
            state.lastProgress[store] = now
            return true
        }
        guard isWanted, let line = EventLine(event) else { return }
        write(line, of: store)
        state.withLock { $0.places[store]?.end(event) }
    }

    func end(_ store: String, _ outcome: StoreOutcome, _ signals: ReceivedSignal) {
        switch outcome {
        case .done(let summary): write(EventLine(summary), of: store)
        case .failed(let error): write(FailureReport(error, code: signals.code(of: error)), of: store)
        case .notBegun: break
        }
    }

    /// The first line of a store.
    private struct Beginning: Encodable {
        let event = "began"
        let version: String
        let process: Int32
    }

    private func write(_ line: some Encodable, of store: String) {
        state.withLock { state in
            let header = (state.places[store] ?? EventPlace()).header(store)
            guard let text = try? JSONText.line(StampedLine(header: header, body: line)) else { return }
            let start = state.isCut && endsWithinLine() ? "\n" : ""
            // In one call: with O_APPEND the lines of several processes don't mix.
            let outcome = stream.write(start + text + "\n")
            guard case .failed(let number) = outcome else { return state.isCut = false }
            state.isCut = true
            if state.failure == nil { state.failure = number }
        }
    }

    /// Whether the file ends in the middle of a line. What has no end, a pipe, has no such line either.
    private func endsWithinLine() -> Bool {
        guard let file = try? OpenFile(path, mode: .read), let status = try? file.status(),
            status.kind == .regular, status.size > 0
        else { return false }
        var last = UInt8(ascii: "\n")
        let count = unsafe withUnsafeMutableBytes(of: &last) { try? unsafe file.read(into: $0, at: status.size - 1) }
        return count == 1 && last != UInt8(ascii: "\n")
    }

    // MARK: - The end

    /// Reports that lines are missing.
    ///
    /// - Parameters:
    ///   - done: what was done nevertheless.
    ///   - json: whether that is the failure which the command ends with, and standard output has JSON.
    ///   - storeIsNew: whether the new store is in place.
    ///   - header: when and of which store; nil for now, and none.
    /// - Throws: the exit status of a file that can't be written.
    func requireWritten(
        done: String = "", json: Bool = false, storeIsNew: Bool = false, header: EventHeader? = nil
    ) throws {
        guard let number = state.withLock({ $0.failure }) else { return }
        throw FailureReport(
            .inputOutput, "\(path): the log file lacks lines: \(systemMessage(number))",
            remedy: "check its disk, or give another --log-file", outcome: done, storeIsNew: storeIsNew
        ).print(asJSON: json, aboutStore: !done.isEmpty, header: header)
    }
}
