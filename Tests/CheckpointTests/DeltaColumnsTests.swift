import CausewayCheckpoint
import Testing

@Suite(.timeLimit(.minutes(60))) struct DeltaColumnsTests {
    @Test("columns come back, extremes and jumps between them included")
    func roundTrip() throws {
        let columns: [[Int64]] = [
            [.min, .max, .min, 0, .max, -1], [0, 0, 0, 0, 0, 0], [1, 2, 3, 4, 5, 6], [.max, .max, .min, .min, 1, -1],
        ]
        let bytes = DeltaColumns.encode(columns)
        #expect(try DeltaColumns.decode(bytes, columns: 4, limit: 6) == columns)
    }

    @Test("random columns come back", arguments: UInt64(0)..<16)
    func random(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let rows = Int.random(in: 0..<300, using: &random)
        let columns = (0..<Int.random(in: 1..<9, using: &random)).map { _ in
            (0..<rows).map { _ in Int64.random(in: .min ... .max, using: &random) >> Int64(random.next() % 64) }
        }
        let bytes = DeltaColumns.encode(columns)
        #expect(try DeltaColumns.decode(bytes, columns: columns.count, limit: rows) == columns)
    }

    @Test("no columns, and columns without rows, come back")
    func empty() throws {
        #expect(try DeltaColumns.decode(DeltaColumns.encode([]), columns: 0, limit: 10) == [])
        #expect(try DeltaColumns.decode(DeltaColumns.encode([[], []]), columns: 2, limit: 10) == [[], []])
    }

    @Test("the coding is the article's, byte by byte")
    func bytes() {
        #expect(DeltaColumns.encode([[10, 11, 12, 20], [7, 7, 7, 6]]) == [2, 4, 20, 2, 2, 16, 14, 0, 0, 1])
    }

    @Test("a million near-sequential entries are a few KB in their container")
    func compression() throws {
        let rows = 1_000_000
        // Entity, key, mapping, entity, key. Before one row in 10,000, at random, four were deleted.
        var random = SeededRandom(seed: 6)
        var keys: [Int64] = []
        keys.reserveCapacity(rows)
        var key: Int64 = 0
        for _ in 0..<rows {
            key += random.next() % 10_000 == 0 ? 5 : 1
            keys.append(key)
        }
        let columns = [
            [Int64](repeating: 3, count: rows), keys, [Int64](repeating: 1, count: rows),
            [Int64](repeating: 4, count: rows), (0..<rows).map { Int64($0 + 1) },
        ]
        let bytes = DeltaColumns.encode(columns)
        #expect(bytes.count < 5 * rows + 16)
        let container = try CheckpointContainer.encode(
            bytes, sequence: 1, identity: Containers.identity, level: 3)
        #expect(container.count < 4_096)
        let content = try CheckpointContainer.decode(container, expecting: nil)
        #expect(try DeltaColumns.decode(content.payload, columns: 5, limit: rows) == columns)
    }

    @Test("another number of columns is malformed, more rows than allowed are too large")
    func limits() {
        let bytes = DeltaColumns.encode([[1, 2, 3], [1, 2, 3]])
        #expect(refusal(bytes, columns: 3, limit: 3) == .malformed)
        #expect(refusal(bytes, columns: 1, limit: 3) == .malformed)
        #expect(refusal(bytes, columns: -1, limit: 3) == .malformed)
        #expect(refusal(bytes, columns: 2, limit: 2) == .tooLarge)
        #expect(refusal(bytes + [0], columns: 2, limit: 3) == .malformed)
    }

    @Test("more rows than the bytes can hold are refused before memory is allocated")
    func announced() {
        let billion: [UInt8] = [0x80, 0x94, 0xEB, 0xDC, 0x03]
        #expect(refusal([1] + billion, columns: 1, limit: .max) == .truncated)
        #expect(refusal([0] + billion, columns: 0, limit: .max) == .tooLarge)
        // There are enough bytes for one column, but not for two.
        #expect(refusal([2, 3, 0, 0, 0, 0, 0], columns: 2, limit: 3) == .truncated)
    }

    @Test("every truncation of a segment is refused")
    func truncations() {
        let bytes = DeltaColumns.encode([[1, 200, 70_000], [.min, .max, 0]])
        for count in bytes.indices {
            #expect(refusal(Array(bytes[..<count]), columns: 2, limit: 3) == .truncated)
        }
    }

    @Test("random bytes never trap", arguments: UInt64(0)..<64)
    func randomBytes(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<100 {
            var bytes = Containers.noise(Int.random(in: 0..<40, using: &random), seed: random.next())
            if !bytes.isEmpty { bytes[0] = 2 }
            guard let decoded = try? DeltaColumns.decode(bytes, columns: 2, limit: 20) else { continue }
            #expect(decoded.count == 2)
        }
    }

    private func refusal(_ bytes: [UInt8], columns: Int, limit: Int) -> CheckpointError.Code? {
        do {
            _ = try DeltaColumns.decode(bytes, columns: columns, limit: limit)
            return nil
        } catch {
            return error.code
        }
    }
}
