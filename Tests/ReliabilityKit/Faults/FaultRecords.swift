internal import CausewayPlatform

/// What the fault shim leaves behind: its counters, and the trace's failed fsyncs (causeway_fault_shim.h).
enum FaultRecords {
    /// Bytes: the counters, and the head of a trace's record.
    private static let firedOffset = 8
    private static let headLength = 48
    private static let countsLimit = 4_096
    /// Bytes. A run of a small subject writes a few MiB; more than this is no trace of ours.
    private static let traceLimit = 1 << 30
    private static let magic: UInt64 = 0x5246_5743
    private static let sync: UInt64 = 5

    /// How often the fault fired.
    static func fired(_ path: String) throws -> UInt64 {
        let bytes = try Files.readFile(path, limit: countsLimit)
        guard bytes.count >= firedOffset + 8 else { throw HarnessError("\(path): the fault shim wasn't loaded") }
        return number(bytes[...], at: firedOffset, width: 8)
    }

    /// Calls by the kinds that modes count.
    struct Totals {
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

    /// The files whose fsync failed, by inode; folders left out.
    static func filesNotSynced(_ path: String) throws -> Set<UInt64> {
        let bytes = try Files.readFile(path, limit: traceLimit)
        var result: Set<UInt64> = []
        var rest = bytes[...]
        while rest.count >= headLength {
            guard number(rest, at: 0, width: 4) == magic else { throw HarnessError("\(path): no trace of the shim") }
            if number(rest, at: 4, width: 2) == sync, number(rest, at: 6, width: 2) == 1,
                number(rest, at: 32, width: 4) & 1 == 0
            {
                result.insert(number(rest, at: 8, width: 8))
            }
            let length =
                headLength + Int(clamping: number(rest, at: 24, width: 8))
                + Int(number(rest, at: 36, width: 4)) + Int(number(rest, at: 40, width: 4))
            rest = rest.dropFirst(length)
        }
        return result
    }

    private static func number(_ bytes: ArraySlice<UInt8>, at offset: Int, width: Int) -> UInt64 {
        let start = bytes.startIndex + offset
        return bytes[start..<start + width].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
