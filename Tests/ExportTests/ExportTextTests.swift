import CausewayExport
import Testing

/// Numbers and dates as an export writes them.
@Suite("Export texts", .timeLimit(.minutes(60)))
struct ExportTextTests {
    @Test(
        "a date is ISO 8601 in UTC",
        arguments: [
            (0.0, "2001-01-01T00:00:00Z"), (-0.25, "2000-12-31T23:59:59.75Z"), (0.5, "2001-01-01T00:00:00.5Z"),
            (-978_307_200, "1970-01-01T00:00:00Z"), (-63_113_904_000, "0001-01-01T00:00:00Z"),
            (252_423_993_599, "9999-12-31T23:59:59Z"), (94_608_000 + 59 * 86_400, "2004-02-29T00:00:00Z"),
            (709_214_400.123456, "2023-06-23T12:00:00.123456Z"), (1e-7, "2001-01-01T00:00:00.0000001Z"),
        ] as [(Double, String)])
    func dates(seconds: Double, text: String) {
        #expect(DateText.text(secondsSinceReferenceDate: seconds) == text)
    }

    @Test(
        "a date outside of the years 1 to 9999 has no text",
        arguments: [-63_113_904_001.0, 252_423_993_600.0, Double.infinity])
    func farDates(seconds: Double) {
        #expect(DateText.text(secondsSinceReferenceDate: seconds) == nil)
    }

    @Test("a date's digits read back as the same number")
    func roundTrip() throws {
        var generator = Sequence(state: 1)
        for _ in 0..<2_000 {
            let seconds = Double(Int64(bitPattern: generator.next()) % 1_000_000_000_000) / 1_024
            let text = try #require(DateText.text(secondsSinceReferenceDate: seconds))
            let halves = text.dropLast().split(separator: ".")
            let fraction = Double("0." + (halves.count > 1 ? String(halves[1]) : "0"))
            #expect(seconds.rounded(.down) + (fraction ?? .nan) == seconds, "\(text)")
        }
    }

    private struct Sequence: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 29
        }
    }

    @Test(
        "a decimal is in plain notation",
        arguments: [
            (0.0, "0"), (12, "12"), (12.5, "12.5"), (-0.001, "-0.001"), (1e-05, "0.00001"),
            (1e20, "100000000000000000000"),
            (3.3333333332999993, "3.3333333332999993"), (-1.5e-7, "-0.00000015"),
        ] as [(Double, String)])
    func decimals(value: Double, text: String) {
        #expect(DecimalText.plain(value) == text)
    }

    @Test("key ranges hold the keys that were inserted, in any order", arguments: [500, 6_000, .max])
    func ranges(space: UInt64) {
        var keys = KeyRanges()
        var known: Set<Int64> = []
        var generator = Sequence(state: 7)
        for _ in 0..<6_000 {
            let key = Int64(truncatingIfNeeded: generator.next() % space)
            let (isNew, isReallyNew) = (keys.insert(key), known.insert(key).inserted)
            #expect(isNew == isReallyNew)
        }
        for key in Array(Int64(0)..<6_600) + known { #expect(keys.contains(key) == known.contains(key)) }
        let answers = [keys.insert(.max), keys.insert(.min), keys.insert(.max)]
        #expect(answers == [true, true, false])
    }

    @Test("keys that come in descending order above others are known")
    func descending() {
        var keys = KeyRanges()
        let order = Array(stride(from: Int64(0), to: 2_048, by: 2)) + stride(from: 20_000, to: 2_100, by: -2)
        for key in order {
            let isNew = keys.insert(key)
            #expect(isNew)
        }
        for key in order { #expect(keys.contains(key) && !keys.contains(key + 1)) }
    }

    @Test(
        "every key is known with the leaf that it was first found on, in any order",
        arguments: [2, 40, 5_000], [500, 20_000])
    func leaves(count: Int, space: UInt64) {
        var keys = WrittenKeys()
        var known: [Int64: SalvagedLeaf] = [:]
        var generator = Sequence(state: 11)
        for _ in 0..<6_000 {
            let key = Int64(generator.next() % space)
            let number = Int(generator.next() % UInt64(count))
            let leaf: SalvagedLeaf = number.isMultiple(of: 2) ? .tree(number) : .unreached(number)
            let isNew = keys.insert(key, on: leaf)
            #expect(isNew == (known[key] == nil))
            known[key] = known[key] ?? leaf
        }
        for (key, leaf) in [(Int64.max, SalvagedLeaf.tree(1)), (.min, .stray(2))] {
            let isNew = keys.insert(key, on: leaf)
            #expect(isNew)
            known[key] = leaf
        }
        for key in Array(Int64(-1)..<20_100) + [.min, .max] { #expect(keys.leaf(of: key) == known[key]) }
    }

    @Test("where there is no room for more leaves, keys are still known")
    func manyLeaves() {
        var keys = WrittenKeys(most: 3)
        for key in [10, 20, 30, 40, 25, 31] as [Int64] {
            let isNew = keys.insert(key, on: .tree(Int(key) / 10))
            #expect(isNew)
        }
        let isNew = keys.insert(40, on: .tree(1))
        #expect(!isNew && keys.contains(25) && keys.contains(31))
        #expect([10, 20, 30].map { keys.leaf(of: $0) } == [.tree(1), .tree(2), .tree(3)])
        #expect([25, 31, 40].allSatisfy { keys.leaf(of: $0) == nil })
    }
}
