import CausewayCheckpoint

/// What a step did with bad rows; saved with its progress.
struct QuarantineOutcome {
    var keys = QuarantinedKeys()
    /// Links of other rows that led to quarantined ones, join rows included.
    var endedLinks = 0
    /// Rows that have lost a mandatory object.
    var bereftRows = 0

    var isEmpty: Bool { keys.count == 0 }

    init() {}

    init(from reader: inout FieldReader) throws(CheckpointError) {
        keys = try QuarantinedKeys(from: &reader)
        (endedLinks, bereftRows) = (try reader.int(), try reader.int())
    }

    func save(_ writer: inout FieldWriter) {
        keys.save(&writer)
        writer.write(endedLinks)
        writer.write(bereftRows)
    }
}
