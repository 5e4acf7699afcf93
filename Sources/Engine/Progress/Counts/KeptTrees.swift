import CausewayCheckpoint
import CausewayPlanning

/// What is known of the trees that a copy of the source has brought into a new store. Saved with the progress: a later
/// run doesn't copy again.
struct KeptTrees: Hashable, Sendable {
    /// The part of the progress that has it.
    static let part = "kept trees"

    /// Whether the file began with the source's extents, so that kept pages weren't read.
    var isClone = false
    /// Whether the indexes of unchanged tables were compared with their rows; those of changed ones always are.
    var isCompared = false
    /// Bytes of pages that the file shares with the source; every page of other copies was read.
    var sharedBytes = 0
    /// Bytes of the trees that were read to compare indexes.
    var comparedBytes = 0
    /// The methods that make the indexes whose entries weren't those of the rows, by name.
    var stale: [String: IndexWork.Method] = [:]
}

extension KeptTrees {
    private static let maximumIndexes = 20_000

    func save(_ writer: inout FieldWriter) {
        writer.write(isClone)
        writer.write(isCompared)
        writer.write(sharedBytes)
        writer.write(comparedBytes)
        writer.write(count: stale.count)
        for (name, method) in stale.sorted(by: { $0.key < $1.key }) {
            writer.write(name)
            writer.write(method == .sort)
        }
    }

    init(from reader: inout FieldReader) throws(CheckpointError) {
        isClone = try reader.bool()
        isCompared = try reader.bool()
        (sharedBytes, comparedBytes) = (try reader.int(), try reader.int())
        for _ in 0..<(try reader.count(limit: Self.maximumIndexes)) {
            let name = try reader.string()
            stale[name] = try reader.bool() ? .sort : .statements
        }
    }
}
