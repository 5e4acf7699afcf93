import CausewaySQLiteFile
import Foundation
import Testing

/// Records that are spliced are, byte for byte, those that views, writers and formers make cell by cell; what can't be
/// spliced is left to the caller.
@Suite("Records are spliced", .timeLimit(.minutes(60)))
struct SpliceTests {
    @Test("as cell by cell: random tables, programs, records, page sizes and batches", arguments: 0..<8)
    func random(worker: UInt64) throws {
        var (spliced, left) = (0, 0)
        for seed in worker * 20..<worker * 20 + 20 {
            var trial = try SpliceTrial(seed: seed)
            let isSame = try trial.run()
            #expect(isSame, "seed \(seed)")
            spliced += trial.spliced
            left += trial.left
        }
        #expect(spliced > 900 && left > 100, "\(spliced) spliced, \(left) left")
    }

    /// Two columns, of which the second has REAL affinity, as in `SpliceTrial`.
    private static func isSpliced(_ record: [UInt8], _ program: SpliceProgram, choice: SpliceChoice = .first) throws
        -> Bool
    {
        let (rows, leaves) = (RowBatch(), PackedLeaves(pageSize: 512))
        try unsafe record.withUnsafeBytes { try unsafe rows.append(rowid: 1, record: $0) }
        let splicer = RecordSplicer([program], choice: choice, columns: 2, takesSums: true)
        let packer = LeafPacker(pageSize: 512)
        packer.begin(leaves)
        let next = try splicer.splice(rows, from: 0, into: packer)
        packer.finish()
        let tally = splicer.takeTally()
        #expect(tally.count == next && leaves.rowCount == next && tally.records.count == next)
        return next == 1
    }

    @Test(
        "damaged records are left to the caller",
        arguments: [
            [], [0], [1, 0], [4, 8, 8], [3, 8, 10], [3, 11, 8], [3, 1, 8], [3, 8, 8, 0], [4, 8, 8, 8],
            [3, 8, 0xff], [0x80], [3, 8, 15, 1, 2],
            [12, 8, 0x8f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        ] as [[UInt8]])
    func damaged(record: [UInt8]) throws {
        let program = try #require(try SpliceProgram([.carried(0), .carried(1)]))
        #expect(try !Self.isSpliced(record, program))
        #expect(try Self.isSpliced([3, 8, 9], program))
    }

    @Test("numbers that the new table stores otherwise are left to the caller")
    func numbers() throws {
        let whole: [UInt8] = [3, 8, 7, 0x40, 0, 0, 0, 0, 0, 0, 0]
        let half: [UInt8] = [3, 8, 7, 0x3f, 0xe0, 0, 0, 0, 0, 0, 0]
        for form in [RecordForm.Numbers.numeric, .real] {
            let program = try #require(try SpliceProgram([.carried(0), .carried(1, isReal: form == .real, form)]))
            #expect(try !Self.isSpliced(whole, program))
            #expect(try Self.isSpliced(half, program))
        }
        #expect(try Self.isSpliced(whole, try #require(try SpliceProgram([.carried(1)]))))
        // An integer of a REAL column: as it is stored only into such a column, and in its shortest form.
        let real = try #require(try SpliceProgram([.carried(1, isReal: true, .real)]))
        let other = try #require(try SpliceProgram([.carried(1, isReal: true)]))
        #expect(try Self.isSpliced([3, 8, 1, 5], real))
        #expect(try !Self.isSpliced([3, 8, 1, 5], other))
        #expect(try !Self.isSpliced([3, 8, 2, 0, 5], real))
        #expect(try !Self.isSpliced([3, 8, 6, 0, 1, 0, 0, 0, 0, 0, 0], real))
    }

    @Test("rows without a program, and a program's exceptions, are left to the caller")
    func choices() throws {
        let program = try #require(try SpliceProgram([.carried(1)]))
        let choice = SpliceChoice(column: 0, programs: [1: 0, 300: 0, -1: 0])
        #expect(try Self.isSpliced([3, 9, 0], program, choice: choice))
        #expect(try Self.isSpliced([3, 2, 0, 1, 44], program, choice: choice))
        for record: [UInt8] in [[3, 8, 0], [3, 0, 0], [3, 1, 0, 255], [3, 15, 0, 1], [3, 2, 0, 1, 45], [1]] {
            #expect(try !Self.isSpliced(record, program, choice: choice), "\(record)")
        }
        let careful = try #require(
            try SpliceProgram([.carried(1)], exceptions: [.null(1), .integer(0, among: [1])]))
        #expect(try Self.isSpliced([3, 8, 9], careful))
        for record: [UInt8] in [[3, 8, 0], [2, 8], [3, 9, 9]] { #expect(try !Self.isSpliced(record, careful)) }
        let numeric = try #require(try SpliceProgram([.carried(1)], exceptions: [.otherThanInteger(1)]))
        for record: [UInt8] in [[3, 8, 0], [2, 8], [3, 8, 9], [3, 8, 1, 5]] {
            #expect(try Self.isSpliced(record, numeric), "\(record)")
        }
        for record: [UInt8] in [[3, 8, 13], [3, 8, 15, 65], [3, 8, 12]] {
            #expect(try !Self.isSpliced(record, numeric), "\(record)")
        }
    }

    @Test("integers to renumber that are negative or large have no program")
    func renumbering() throws {
        #expect(try SpliceProgram([.renumbered(0, [1: 2, 65_535: 3])]) != nil)
        #expect(try SpliceProgram([.renumbered(0, [65_536: 3])]) == nil)
        #expect(try SpliceProgram([.renumbered(0, [-1: 3])]) == nil)
    }

    @Test(
        "cells that aren't NULL are counted, and records summed, only if they are asked for", arguments: [true, false])
    func tally(takesSums: Bool) throws {
        let rows = RowBatch()
        let records: [[UInt8]] = [[3, 8, 0], [2, 9], [3, 0, 9], [3, 9, 15, 65]]
        for (index, record) in records.enumerated() {
            try unsafe record.withUnsafeBytes { try unsafe rows.append(rowid: Int64(index), record: $0) }
        }
        let program = try #require(try SpliceProgram([.carried(0), .carried(1)], counted: [0, 1, nil]))
        let splicer = RecordSplicer([program], choice: .first, columns: 2, takesSums: takesSums)
        let packer = LeafPacker(pageSize: 512)
        packer.begin(PackedLeaves(pageSize: 512))
        #expect(try splicer.splice(rows, from: 1, into: packer) == 4)
        packer.finish()
        let tally = splicer.takeTally()
        #expect(tally.rows == [3] && tally.cells == [takesSums ? [2, 2, 3] : [0, 0, 0]])
        // The short record got its second column.
        #expect(tally.bytes == 10)
        var sum = EntrySum()
        let made = RowBatch()
        for (index, record) in ([[3, 9, 0], [3, 0, 9], [3, 9, 15, 65]] as [[UInt8]]).enumerated() {
            try unsafe record.withUnsafeBytes { try unsafe made.append(rowid: Int64(index + 1), record: $0) }
        }
        if takesSums { sum.add(made) }
        #expect(tally.records == sum)
        #expect(splicer.takeTally().count == 0)
    }
}
