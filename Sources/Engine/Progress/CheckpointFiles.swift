import CausewayCheckpoint
import CausewayPlatform
import CausewayStores

/// The checkpoint files of one step: copies of the progress for `causeway status`, and segments with what would be too
/// long for it (InsideCrashSafety §§4.1, 4.3).
///
/// Both are useless without the progress, which names the valid ones. While a copy is made or pages are written, the
/// newest whole checkpoint is the progress itself (InsideTheHouse §4).
final class CheckpointFiles {
    private let work: String
    private let step: Int
    private let identity: CheckpointIdentity
    private let level: Int32
    /// Sequences of the existing files, oldest first.
    private var written: [UInt64] = []
    private var segments: [[UInt8]] = []

    init(_ place: StepPlace, level: Int32) {
        (work, step, identity) = (place.work, place.index, place.identity)
        self.level = level
    }

    /// A record in its container.
    func container(_ record: StepRecord) throws(EngineError) -> [UInt8] {
        try encode(record.bytes, sequence: record.sequence)
    }

    private func encode(_ payload: [UInt8], sequence: UInt64) throws(EngineError) -> [UInt8] {
        do {
            return try CheckpointContainer.encode(payload, sequence: sequence, identity: identity, level: level)
        } catch {
            throw EngineError(.verification, "a checkpoint can't be written: \(error.message)")
        }
    }

    /// Writes a checkpoint; this one and the one before stay (InsideCrashSafety §3.5, 2).
    func write(_ container: [UInt8], _ record: StepRecord) throws(EngineError) {
        try durably(WorkFile.checkpoint(step, sequence: record.sequence), container)
        if written.last != record.sequence { written.append(record.sequence) }
        while written.count > 2 {
            let path = work + "/" + WorkFile.checkpoint(step, sequence: written.removeFirst())
            try EngineError.at(path) { try Files.unlink(path) }
        }
        KillPoint.reach(.checkpointWritten)
    }

    private func durably(_ name: String, _ bytes: [UInt8]) throws(EngineError) {
        let path = work + "/" + name
        try EngineError.at(path, remedy: "make room, then run again") { try Files.writeFileDurably(path, bytes) }
    }

    /// Takes over the checkpoints of an earlier run; those that are newer than the progress describe lost rows, and are
    /// removed.
    func adopt(upTo sequence: UInt64) throws(EngineError) {
        try EngineError.at(work) {
            for name in try Files.list(work) where WorkFile.isCheckpoint(name, of: step) {
                if let number = WorkFile.sequence(ofCheckpoint: name, of: step), number <= sequence {
                    written.append(number)
                } else {
                    try Files.unlink(work + "/" + name)
                }
            }
        }
        written.sort()
    }

    /// The newest checkpoint of the step that is whole; nil where none is.
    ///
    /// - Throws: `.inputOutput` where one can't be read: an older one would be taken for the newest, and the pages that
    ///   this one speaks of for lost.
    static func newest(of place: StepPlace) throws(EngineError) -> StepRecord? {
        for sequence in try sequences(of: place).sorted(by: >) {
            let path = place.work + "/" + WorkFile.checkpoint(place.index, sequence: sequence)
            // Damaged, or of another plan: an older one may be neither.
            guard let bytes = try Self.content(of: path, limit: CheckpointContainer.maximumPayload * 2),
                let content = try? CheckpointContainer.decode(bytes, expecting: place.identity),
                let record = try? StepRecord(content.payload, sequence: content.sequence), record.step == place.index
            else { continue }
            return record
        }
        return nil
    }

    /// Whether there is no checkpoint of the step, not even a damaged one.
    static func isNone(of place: StepPlace) throws(EngineError) -> Bool { try sequences(of: place).isEmpty }

    private static func sequences(of place: StepPlace) throws(EngineError) -> [UInt64] {
        let names = try EngineError.at(place.work) { try Files.list(place.work) }
        return names.filter { WorkFile.isCheckpoint($0, of: place.index) }
            .compactMap { WorkFile.sequence(ofCheckpoint: $0, of: place.index) }
    }

    /// nil where there is no file, or one that is too long: neither can be what was written.
    private static func content(of path: String, limit: Int) throws(EngineError) -> [UInt8]? {
        do throws(FileError) {
            return try Files.readFile(path, limit: limit)
        } catch {
            if error.code == .tooLarge || error.code == .notFound { return nil }
            throw EngineError(.inputOutput, "\(path): \(error.message)")
        }
    }

    // MARK: - Segments

    /// What a segment holds: its first byte.
    enum SegmentKind: UInt8 {
        case associations = 0
        /// Rows that come after all others of their tables.
        case rows = 1
    }

    /// Adds a segment, durable when this returns. It counts once a commit has named it through `segmentParts`.
    func addSegment(_ kind: SegmentKind, _ payload: [UInt8]) throws(EngineError) {
        let number = segments.count + 1
        let container = try encode([kind.rawValue] + payload, sequence: UInt64(number))
        try durably(WorkFile.segment(step, number: number), container)
        segments.append(Digest256.of(container))
        KillPoint.reach(.segmentWritten)
    }

    /// The segments' number and hashes, as the progress keeps them.
    func saveSegments(_ writer: inout FieldWriter) {
        var chain = Digest256.Chain()
        for digest in segments { chain.append(digest) }
        // A number, not a count of what follows: the segments are files.
        writer.write(Int(segments.count))
        writer.write(bytes: chain.value)
    }

    /// Reads the segments that the progress names, in order, and removes newer ones.
    ///
    /// - Throws: `.foreignCheckpoint` if one is missing or differs from the progress: the step starts over.
    ///   `.inputOutput` if one can't be read: it may be whole, and so the step's work.
    func readSegments(
        count: Int, chain expected: [UInt8], _ body: (SegmentKind, [UInt8]) throws(EngineError) -> Void
    ) throws(EngineError) {
        var chain = Digest256.Chain()
        segments = []
        for number in stride(from: 1, through: count, by: 1) {
            let segment = try segment(number)
            chain.append(segment.digest)
            segments.append(segment.digest)
            try body(segment.kind, segment.payload)
        }
        guard chain.value == expected else {
            throw EngineError(.foreignCheckpoint, "\(work): the segments aren't those that the staging store names")
        }
        try EngineError.at(work) {
            // Written and never committed.
            var number = count + 1
            while try Files.unlink(work + "/" + WorkFile.segment(step, number: number)) { number += 1 }
        }
    }

    /// Reads the segments of one kind again, in order.
    ///
    /// - Throws: `.foreignCheckpoint` where one isn't what was written: the step starts over. `.inputOutput`.
    func eachSegment(
        of kind: SegmentKind, _ body: ([UInt8]) throws(EngineError) -> Void
    ) throws(EngineError) {
        for (index, digest) in segments.enumerated() {
            let segment = try segment(index + 1)
            guard segment.digest == digest else {
                throw EngineError(.foreignCheckpoint, "\(work): segment \(index + 1) isn't the one that was written")
            }
            if segment.kind == kind { try body(segment.payload) }
        }
    }

    private func segment(
        _ number: Int
    ) throws(EngineError) -> (digest: [UInt8], kind: SegmentKind, payload: [UInt8]) {
        let path = work + "/" + WorkFile.segment(step, number: number)
        guard let bytes = try Self.content(of: path, limit: Self.maximumSegment) else {
            throw EngineError(.foreignCheckpoint, "\(path): a segment of the unfinished work is missing")
        }
        let content: CheckpointContainer.Content
        do throws(CheckpointError) {
            content = try CheckpointContainer.decode(bytes, expecting: identity)
        } catch {
            throw EngineError(.foreignCheckpoint, "\(path): \(error.message)")
        }
        guard content.sequence == UInt64(number) else {
            throw EngineError(.foreignCheckpoint, "\(path): the segment has another number")
        }
        guard let kind = content.payload.first.flatMap({ SegmentKind(rawValue: $0) }) else {
            throw EngineError(.foreignCheckpoint, "\(path): a segment of another kind")
        }
        return (Digest256.of(bytes), kind, Array(content.payload.dropFirst()))
    }

    /// Bytes of a segment file: a batch's associations take kilobytes.
    private static let maximumSegment = 64 << 20
}
