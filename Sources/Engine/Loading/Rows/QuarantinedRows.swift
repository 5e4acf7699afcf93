import CausewayCheckpoint
import CausewayPreparation
import CausewayStores

/// Rows of one batch that are quarantined: their lines, and their keys by the discriminator's value.
struct QuarantinedRows: Sendable {
    /// Replaces values that name no entity of the table.
    static let stranger = -1

    var lines: [UInt8] = []
    var keys: [Int: [Int64]] = [:]
    var count = 0

    mutating func add(key: Int64, number: Int?) {
        keys[number ?? Self.stranger, default: []].append(key)
        count += 1
    }
}

/// Keys of all rows that a step has quarantined, by their pass: links to them end, and the verification
/// doesn't look for them. Saved with the step's progress.
struct QuarantinedKeys {
    private var passes: [String: [Int: [Int64]]] = [:]
    private(set) var count = 0

    mutating func add(_ rows: QuarantinedRows, pass: String) throws(EngineError) {
        guard count + rows.count <= BadRowPolicy.maximumRows else {
            throw EngineError(
                .sourceData, "more than \(BadRowPolicy.maximumRows) rows would be quarantined in one step",
                remedy: BadRowPolicy.remedy)
        }
        for (number, keys) in rows.keys {
            passes[pass, default: [:]][number, default: []].append(contentsOf: keys)
        }
        count += rows.count
    }

    /// Sorted.
    func keys(of pass: String) -> SortedKeys {
        SortedKeys((passes[pass] ?? [:]).values.flatMap { $0 })
    }

    /// Rows of a pass by the discriminator's value.
    func counts(of pass: String) -> [Int: Int] {
        (passes[pass] ?? [:]).mapValues(\.count)
    }

    // MARK: - Saving

    /// Entries of one list: tables and entities of a model.
    private static let maximumEntries = 1_000_000

    func save(_ writer: inout FieldWriter) {
        writer.write(count: passes.count)
        for (pass, numbers) in passes.sorted(by: { $0.key < $1.key }) {
            writer.write(pass)
            writer.write(count: numbers.count)
            for (number, keys) in numbers.sorted(by: { $0.key < $1.key }) {
                writer.write(number)
                writer.write(bytes: DeltaColumns.encode([keys]))
            }
        }
    }

    init() {}

    init(from reader: inout FieldReader) throws(CheckpointError) {
        for _ in 0..<(try reader.count(limit: Self.maximumEntries)) {
            let pass = try reader.string()
            var numbers: [Int: [Int64]] = [:]
            for _ in 0..<(try reader.count(limit: Self.maximumEntries)) {
                let number = try reader.int()
                let keys = try DeltaColumns.decode(
                    try reader.bytes(), columns: 1, limit: BadRowPolicy.maximumRows - count)
                numbers[number] = keys[0]
                count += keys[0].count
            }
            passes[pass] = numbers
        }
    }
}

/// Keys that are looked up by bisection: 8 bytes each.
package struct SortedKeys {
    private let keys: [Int64]

    package init(_ keys: [Int64]) {
        self.keys = keys.sorted()
    }

    var isEmpty: Bool { keys.isEmpty }

    func contains(_ key: Int64) -> Bool {
        var range = keys.startIndex..<keys.endIndex
        while let middle = range.isEmpty ? nil : range.lowerBound + range.count / 2 {
            if keys[middle] == key { return true }
            range = keys[middle] < key ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return false
    }

    func forEach(_ body: (Int64) throws(EngineError) -> Void) throws(EngineError) {
        for key in keys { try body(key) }
    }
}

/// What was removed from a pass's rows after they were written, by place in its digest, so that the verification can
/// compare the store with what the pass wrote.
struct EndedCells {
    /// Join rows that were removed.
    var rows = 0
    private var sums: [Int: UInt64] = [:]

    init() {}

    /// Subtracts a column's value.
    mutating func end(_ lanes: HashLanes, at place: Int) {
        sums[place, default: 0] &+= lanes.first
        sums[place + 1, default: 0] &+= lanes.second
        sums[place + 2, default: 0] &+= 1
    }

    /// Subtracts a row that is digested as a whole.
    mutating func end(row lanes: HashLanes, of group: DigestShape.Group) {
        rows += 1
        sums[group.offset, default: 0] &+= 1
        end(lanes, at: group.offset + 1)
    }

    /// Whether nothing was subtracted from the values from `place` on.
    func isUntouched(at place: Int) -> Bool { sums[place + 2] == nil }

    /// The digest that the store must have.
    func applied(to digest: PassDigest) -> PassDigest {
        var digest = digest
        for (place, sum) in sums where digest.destination.indices.contains(place) { digest.destination[place] &-= sum }
        return digest
    }

    private static let maximumEntries = 10_000_000

    func save(_ writer: inout FieldWriter) {
        writer.write(rows)
        writer.write(count: sums.count)
        for (place, sum) in sums.sorted(by: { $0.key < $1.key }) {
            writer.write(place)
            writer.write(fixed: sum)
        }
    }

    init(from reader: inout FieldReader) throws(CheckpointError) {
        rows = try reader.int()
        for _ in 0..<(try reader.count(limit: Self.maximumEntries)) {
            let place = try reader.int()
            sums[place] = try reader.fixed()
        }
    }
}
