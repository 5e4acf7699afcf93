import ArgumentParser
import Foundation

/// Measures the loops that a row goes through, each alone, in memory.
///
/// Whole migrations are measured by `Benchmarks/`. This says which loop has become slower when they have.
@main
struct Micro: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "micro",
        abstract: "Measures record decode, splice, leaf build and cell digest in nanoseconds a row.",
        discussion: "Numbers count only from a release build: swift run -c release micro.")

    @Option(help: ArgumentHelp("Rows of a batch, about 450 bytes each.", valueName: "rows"))
    var rows = 4_096

    @Option(help: ArgumentHelp("How often each loop runs over the batch; the loops take turns.", valueName: "number"))
    var rounds = 200

    func validate() throws {
        guard (1...1_000_000).contains(rows), rounds >= 1 else {
            throw ValidationError("--rows must be 1 to 1,000,000, --rounds 1 or more.")
        }
        #if DEBUG
            throw ValidationError("A debug build measures nothing that counts: swift run -c release micro.")
        #endif
    }

    func run() throws {
        let loops = try RowLoops(rows: rows)
        var nanoseconds = Array(repeating: [Double](), count: RowLoops.all.count)
        var result: UInt64 = 0
        for _ in 0..<rounds {
            for (index, loop) in RowLoops.all.enumerated() {
                let start = ContinuousClock.now
                result &+= try loop.run(loops)
                nanoseconds[index].append((ContinuousClock.now - start) / .nanoseconds(1))
            }
        }
        print("loop            ns/row, median  ns/row, least   GB/s")
        for (loop, times) in zip(RowLoops.all, nanoseconds) {
            let sorted = times.sorted()
            let median = sorted[sorted.count / 2]
            print(
                loop.name.padding(toLength: 16, withPad: " ", startingAt: 0)
                    + String(
                        format: "%14.1f %14.1f %6.2f", median / Double(rows), sorted[0] / Double(rows),
                        Double(loops.byteCount) / median))
        }
        // Used, so that no loop is optimised away.
        print("(\(loops.byteCount) bytes, checksum \(result))")
    }
}
