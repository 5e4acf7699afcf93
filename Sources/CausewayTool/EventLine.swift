import Causeway

/// In which step and pass a migration is, as its events tell.
struct EventPlace {
    /// Counted from 1; nil before the first step and after the last.
    private(set) var step: Int?
    private(set) var pass: String?

    /// Takes an event before its line is written.
    mutating func begin(_ event: MigrationEvent) {
        switch event {
        case .stepBegan(_, let index, _, _): (step, pass) = (index + 1, nil)
        case .resumed(let index, _): step = index + 1
        case .passBegan(let title): pass = title
        case .phaseBegan(let phase):
            pass = nil
            if phase == "swap" { step = nil }
        default: break
        }
    }

    /// Takes an event whose line is written.
    mutating func end(_ event: MigrationEvent) {
        if case .passEnded = event { pass = nil }
    }

    /// What a line of now begins with.
    func header(_ store: String) -> EventHeader { EventHeader(store: store, step: step, pass: pass) }
}

/// When an event was and what it is about: members that every line has, `null` where there is nothing.
struct EventHeader: Encodable {
    let time = Timestamp.now
    let store: String?
    /// Counted from 1.
    var step: Int?
    var pass: String?

    private enum CodingKeys: String, CodingKey {
        case time, store, step, pass
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(time, forKey: .time)
        try members.encode(store, forKey: .store)
        try members.encode(step, forKey: .step)
        try members.encode(pass, forKey: .pass)
    }
}

/// The members of both in one object.
struct StampedLine<Body: Encodable>: Encodable {
    let header: EventHeader
    let body: Body

    func encode(to encoder: any Encoder) throws {
        try header.encode(to: encoder)
        try body.encode(to: encoder)
    }
}

/// One line; members that an event doesn't have are left out.
struct EventLine: Encodable {
    private(set) var event: String
    private(set) var plan: MigrationPlan?
    private(set) var summary: MigrationSummary?
    private(set) var versions: [String]?
    private(set) var stepCount: Int?
    private(set) var title: String?
    private(set) var rows: Int?
    private(set) var totalRows: Int?
    private(set) var dropped: Int?
    private(set) var bytes: Int?
    private(set) var seconds: Double?
    private(set) var fraction: Double?
    private(set) var elapsedSeconds: Double?
    private(set) var remainingSeconds: Double?
    private(set) var phase: String?
    private(set) var message: String?
    private(set) var sql: String?
    private(set) var sequence: Int?

    init(_ summary: MigrationSummary) {
        event = "summary"
        self.summary = summary
    }

    /// How far a command is that moves no rows by steps and passes.
    init(progress phase: String, fraction: Double, elapsedSeconds: Double, remainingSeconds: Double?) {
        event = "progress"
        (self.phase, self.fraction) = (phase, fraction)
        (self.elapsedSeconds, self.remainingSeconds) = (elapsedSeconds, remainingSeconds)
    }

    /// nil for the end, which the summary's line tells.
    init?(_ event: MigrationEvent) {
        switch event {
        case .planned(let plan): (self.event, self.plan) = ("planned", plan)
        case .stepBegan(let versions, _, let count, let rows):
            self.event = "stepBegan"
            (self.versions, self.stepCount, self.rows) = (versions, count, rows)
        case .passBegan(let title): (self.event, self.title) = ("passBegan", title)
        case .progress(let progress):
            self.event = "progress"
            (rows, bytes, totalRows) = (progress.rows, progress.bytes, progress.totalRows)
            (fraction, elapsedSeconds, remainingSeconds) =
                (progress.fraction, progress.elapsedSeconds, progress.remainingSeconds)
            (phase, stepCount) = (progress.phase, progress.stepCount)
        case .passEnded(let title, let rows, let dropped, let seconds):
            self.event = "passEnded"
            (self.title, self.rows, self.dropped, self.seconds) = (title, rows, dropped, seconds)
        case .phaseBegan(let phase): (self.event, self.phase) = ("phaseBegan", phase)
        case .resumed(_, let rows): (self.event, self.rows) = ("resumed", rows)
        case .checkpoint(let sequence, let rows):
            (self.event, self.sequence, self.rows) = ("checkpoint", sequence, rows)
        case .warning(let message): (self.event, self.message) = ("warning", message)
        case .waiting(let reason, let seconds):
            (self.event, self.message, self.seconds) = ("waiting", reason, seconds)
        case .statement(let sql): (self.event, self.sql) = ("statement", sql)
        case .finished: return nil
        }
    }
}
