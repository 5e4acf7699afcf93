import CausewayCheckpoint

/// How far a step is, in the form in which it is saved: with the rows, and in the checkpoint files.
struct StepRecord: Hashable, Sendable {
    /// The open station.
    struct Open: Hashable, Sendable {
        var name: String
        var cursor: StepLedger.Cursor
    }

    /// For people.
    struct Status: Hashable, Sendable {
        /// Rows and bytes read so far over all steps, and approximate rows to read.
        var rows = 0
        var bytes = 0
        var total = 0
    }

    /// Counted from 0.
    let step: Int
    /// Commits so far; 0: nothing is saved.
    var sequence: UInt64 = 0
    /// Stations that are done.
    var completed = 0
    var open: Open?
    var status = Status()
    var parts: [String: [UInt8]] = [:]

    init(step: Int) {
        self.step = step
    }

    /// The payload of a container.
    var bytes: [UInt8] {
        var writer = FieldWriter()
        writer.write(step)
        writer.write(completed)
        writer.write(open != nil)
        if let open {
            writer.write(open.name)
            writer.write(open.cursor.rows)
            writer.write(open.cursor.key)
            writer.write(open.cursor.entity)
            writer.write(open.cursor.ordinal)
        }
        writer.write(status.rows)
        writer.write(status.bytes)
        writer.write(status.total)
        writer.write(count: parts.count)
        // Sorted: the same state gives the same bytes.
        for (name, bytes) in parts.sorted(by: { $0.key < $1.key }) {
            writer.write(name)
            writer.write(bytes: bytes)
        }
        return writer.bytes
    }

    /// Parts that a record may have; a step keeps about ten.
    private static let maximumParts = 1_000

    /// Reads a container's payload.
    init(_ bytes: [UInt8], sequence: UInt64) throws(CheckpointError) {
        var reader = FieldReader(bytes)
        step = try reader.int()
        completed = try reader.int()
        if try reader.bool() {
            let name = try reader.string()
            var cursor = StepLedger.Cursor()
            cursor.rows = try reader.int()
            cursor.key = try reader.signed()
            cursor.entity = try reader.signed()
            cursor.ordinal = try reader.signed()
            open = Open(name: name, cursor: cursor)
        }
        status.rows = try reader.int()
        status.bytes = try reader.int()
        status.total = try reader.int()
        for _ in 0..<(try reader.count(limit: Self.maximumParts)) {
            let name = try reader.string()
            parts[name] = try reader.bytes()
        }
        try reader.requireEnd()
        guard step >= 0, completed >= 0, sequence > 0 else {
            throw CheckpointError(.malformed, "the record's numbers are impossible; restart the step")
        }
        self.sequence = sequence
    }
}
