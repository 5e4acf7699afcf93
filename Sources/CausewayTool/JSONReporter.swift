import Causeway
import CausewayPlatform
import Synchronization

/// Writes the events of a running migration to standard output as JSON lines; the member `event` names the event.
final class JSONReporter: Sendable {
    /// Seconds between two lines of progress.
    private static let interval = 0.5

    private let showsEvents: Bool
    private let showsStatements: Bool
    private let lastProgress = Mutex(-Double.infinity)

    /// - Parameters:
    ///   - showsEvents: false for the summary alone.
    ///   - showsStatements: whether statements are events too.
    init(showsEvents: Bool, showsStatements: Bool) {
        self.showsEvents = showsEvents
        self.showsStatements = showsStatements
    }

    func receive(_ event: MigrationEvent) {
        guard showsEvents, isWanted(event) else { return }
        write(EventLine(event))
    }

    /// The last line of a run that succeeded.
    func write(_ summary: MigrationSummary) -> WriteOutcome {
        write(EventLine(summary))
    }

    private func isWanted(_ event: MigrationEvent) -> Bool {
        switch event {
        case .statement: return showsStatements
        case .progress:
            let now = MonotonicClock.seconds()
            return lastProgress.withLock { last in
                guard now - last >= Self.interval else { return false }
                last = now
                return true
            }
        default: return true
        }
    }

    @discardableResult
    private func write(_ line: EventLine) -> WriteOutcome {
        do {
            // A reader that closes the pipe doesn't stop the migration.
            return StandardStream.output.writeLine(try JSONText.line(line))
        } catch {
            StandardStream.error.writeLine("warning: an event can't be written as JSON: \(error)")
            return .written
        }
    }
}

/// One line; members that an event doesn't have are left out. New releases only add keys.
struct EventLine: Encodable {
    private(set) var event: String
    private(set) var plan: MigrationPlan?
    private(set) var summary: MigrationSummary?
    private(set) var versions: [String]?
    /// Counted from 0.
    private(set) var index: Int?
    private(set) var count: Int?
    private(set) var title: String?
    private(set) var rows: Int?
    private(set) var totalRows: Int?
    private(set) var dropped: Int?
    private(set) var bytes: Int?
    private(set) var seconds: Double?
    private(set) var phase: String?
    private(set) var message: String?
    private(set) var sql: String?
    private(set) var sequence: Int?

    init(_ summary: MigrationSummary) {
        event = "summary"
        self.summary = summary
    }

    init(_ event: MigrationEvent) {
        switch event {
        case .planned(let plan): (self.event, self.plan) = ("planned", plan)
        case .stepBegan(let versions, let index, let count, let rows):
            self.event = "stepBegan"
            (self.versions, self.index, self.count, self.rows) = (versions, index, count, rows)
        case .passBegan(let title): (self.event, self.title) = ("passBegan", title)
        case .progress(let rows, let bytes, let totalRows):
            (self.event, self.rows, self.bytes, self.totalRows) = ("progress", rows, bytes, totalRows)
        case .passEnded(let title, let rows, let dropped, let seconds):
            self.event = "passEnded"
            (self.title, self.rows, self.dropped, self.seconds) = (title, rows, dropped, seconds)
        case .phaseBegan(let phase): (self.event, self.phase) = ("phaseBegan", phase)
        case .resumed(let step, let rows): (self.event, self.index, self.rows) = ("resumed", step, rows)
        case .checkpoint(let sequence, let rows):
            (self.event, self.sequence, self.rows) = ("checkpoint", sequence, rows)
        case .warning(let message): (self.event, self.message) = ("warning", message)
        case .statement(let sql): (self.event, self.sql) = ("statement", sql)
        }
    }
}
