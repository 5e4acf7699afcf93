internal import CausewayPlatform

/// The counters that the fault shim writes (causeway_fault_shim.h).
package enum FaultRecords {
    /// Bytes: the place of the count, and a size that is enough for all counters.
    private static let firedOffset = 8
    private static let countsLimit = 4_096

    /// How often the fault fired.
    package static func fired(_ path: String) throws -> UInt64 {
        let bytes = try Files.readFile(path, limit: countsLimit)
        guard bytes.count >= firedOffset + 8 else { throw HarnessError("\(path): the fault shim wasn't loaded") }
        return number(bytes[...], at: firedOffset, width: 8)
    }

    /// Calls by the kinds that the modes count.
    struct Totals: Sendable {
        let mutating, takingRoom, syncs, opens, reads: Int

        func calls(of mode: FaultMode) -> Int {
            switch mode {
            case .kill, .tear, .eio, .eioSticky: mutating
            case .enospc, .enospcSticky, .short: takingRoom
            case .sync, .syncSticky: syncs
            case .openEMFILE, .openEACCES: opens
            case .readEIO: reads
            }
        }
    }

    static func totals(_ path: String) throws -> Totals {
        let bytes = try Files.readFile(path, limit: countsLimit)
        guard bytes.count >= 56 else { throw HarnessError("\(path): the fault shim wasn't loaded") }
        let numbers = (2..<7).map { Int(clamping: number(bytes[...], at: $0 * 8, width: 8)) }
        return Totals(
            mutating: numbers[0], takingRoom: numbers[1], syncs: numbers[2], opens: numbers[3], reads: numbers[4])
    }

    /// The shim's counts of SQLite's allocations: how many failed, and how many there were.
    package static func allocations(_ path: String) throws -> (fired: UInt64, made: UInt64) {
        let bytes = try Files.readFile(path, limit: countsLimit)
        guard bytes.count >= 16 else { throw HarnessError("\(path): the fault shim wasn't loaded") }
        return (number(bytes[...], at: 0, width: 8), number(bytes[...], at: 8, width: 8))
    }

    private static func number(_ bytes: ArraySlice<UInt8>, at offset: Int, width: Int) -> UInt64 {
        let start = bytes.startIndex + offset
        return bytes[start..<start + width].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
