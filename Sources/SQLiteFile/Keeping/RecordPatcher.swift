/// Finds the integers of a record that change, and counts them: one record after another, without an allocation.
@safe
final class RecordPatcher {
    /// A cell of a record.
    private struct Found {
        var type: UInt32 = 0
        /// Byte in the record.
        var offset = 0
    }

    /// What a step does with the record at hand.
    struct Choice {
        /// The pair with the new value; -1 where the cell stays.
        var pair = -1
        /// The counter that says so.
        var counter = 0
    }

    /// Why a record can't be patched.
    enum Misfit: Error {
        case badRecord(column: Int)
        case unknownValue(column: Int, Int64?)
        case tooFar(column: Int)
        /// So many bytes of the record are needed.
        case isLonger(Int)
    }

    /// Bytes of a record up to an integer: what is read of a long record is held in memory.
    private static let farthest = 16 << 20
    /// Bytes: more columns than SQLite allows, 32,767, each with the longest serial type
    /// (https://www.sqlite.org/limits.html).
    private static let longestHeader = 32_768 * Varint.maximumLength

    let program: PatchProgram
    private let found: UnsafeMutablePointer<Found>
    private let choices: UnsafeMutablePointer<Choice>
    private let counters: UnsafeMutablePointer<Int>

    init(_ program: PatchProgram) {
        self.program = program
        unsafe found = .allocate(capacity: program.width + 1)
        unsafe found.initialize(repeating: Found(), count: program.width + 1)
        unsafe choices = .allocate(capacity: program.steps.count + 1)
        unsafe choices.initialize(repeating: Choice(), count: program.steps.count + 1)
        unsafe counters = .allocate(capacity: program.counterCount + 1)
        unsafe counters.initialize(repeating: 0, count: program.counterCount + 1)
    }

    deinit {
        unsafe found.deallocate()
        unsafe choices.deallocate()
        unsafe counters.deallocate()
    }

    /// Chooses all new values; nothing is written or counted yet, so that conditions see the old ones and a record can
    /// be tried again with more of its bytes.
    ///
    /// - Parameters:
    ///   - record: its first bytes.
    ///   - available: how many of them there are.
    ///   - length: bytes of the whole record.
    ///   - tree: the record's.
    /// - Throws: why it can't be patched, or how many more of its bytes are needed.
    @unsafe @inline(__always) func choose(
        _ record: UnsafeRawPointer, available: Int, length: Int, _ tree: PatchProgram.Tree
    ) throws(Misfit) {
        let count = try unsafe findCells(record, available: available, length: length, width: tree.width)
        var step = tree.steps.lowerBound
        while step < tree.steps.upperBound {
            unsafe choices[step] = try unsafe choice(program.steps[step], record, available: available, count: count)
            step &+= 1
        }
    }

    /// Finds the first cells of a record.
    /// - Returns: how many of them it has.
    @unsafe private func findCells(
        _ record: UnsafeRawPointer, available: Int, length: Int, width: Int
    ) throws(Misfit) -> Int {
        let (header, lengthOfLength) = unsafe Varint.read(record, before: record + available)
        guard lengthOfLength > 0, header >= UInt64(lengthOfLength), header <= UInt64(min(length, Self.longestHeader))
        else { throw .badRecord(column: 0) }
        let headerEnd = Int(header)
        let end = unsafe record + min(headerEnd, available)
        var (cursor, body, column) = (lengthOfLength, headerEnd, 0)
        while column < width, cursor < headerEnd {
            let (raw, size) = unsafe Varint.read(record + cursor, before: end)
            if size == 0 { throw headerEnd > available ? .isLonger(headerEnd) : .badRecord(column: column) }
            let type = SerialType(rawValue: UInt32(truncatingIfNeeded: raw))
            guard raw <= UInt64(UInt32.max), !type.isReserved else { throw .badRecord(column: column) }
            unsafe found[column] = Found(type: type.rawValue, offset: body)
            body &+= type.length
            guard body <= length else { throw .badRecord(column: column) }
            cursor &+= size
            column &+= 1
        }
        return column
    }

    /// The integer of a cell; nil for another storage class.
    @unsafe @inline(__always) private func integer(
        _ column: Int, _ record: UnsafeRawPointer, available: Int
    ) throws(Misfit) -> Int64? {
        let type = unsafe SerialType(rawValue: found[column].type)
        guard type.isInteger else { return nil }
        let offset = unsafe found[column].offset
        guard offset &+ type.length <= available else {
            throw offset > Self.farthest ? .tooFar(column: column) : .isLonger(offset + type.length)
        }
        return unsafe type.integer(at: record + offset)
    }

    @unsafe @inline(__always) private func choice(
        _ step: PatchProgram.Step, _ record: UnsafeRawPointer, available: Int, count: Int
    ) throws(Misfit) -> Choice {
        let others = step.firstCounter &+ step.map.count
        if step.conditionColumn >= 0 {
            let value =
                step.conditionColumn < count
                ? try unsafe integer(step.conditionColumn, record, available: available) : nil
            guard let value, program.find(value, in: step.condition) >= 0 else { return Choice(counter: others &+ 2) }
        }
        guard step.column < count, unsafe found[step.column].type != 0 else {
            if !step.mayBeNull { throw .unknownValue(column: step.column, nil) }
            return Choice(counter: others &+ 1)
        }
        let value = try unsafe integer(step.column, record, available: available)
        let pair = value.map { program.find($0, in: step.map) } ?? -1
        if pair < 0 {
            if !step.mayStay { throw .unknownValue(column: step.column, value) }
            return Choice(counter: others)
        }
        return Choice(pair: pair, counter: step.firstCounter &+ pair)
    }

    /// Overwrites what was chosen, in the record's own bytes.
    @unsafe @inline(__always) func apply(to record: UnsafeMutableRawPointer, _ tree: PatchProgram.Tree) {
        var step = tree.steps.lowerBound
        while step < tree.steps.upperBound {
            let pair = unsafe choices[step].pair
            if pair >= 0 {
                let (column, map) = unsafe (program.steps[step].column, program.steps[step].map)
                let type = unsafe SerialType(rawValue: found[column].type)
                unsafe type.overwrite(record + found[column].offset, with: program.newValue(pair, in: map))
            }
            step &+= 1
        }
    }

    /// Overwrites what was chosen in a record's beginning.
    /// - Returns: the bytes that were overwritten.
    func apply(to record: RecordPrefix, _ tree: PatchProgram.Tree) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        for step in tree.steps {
            let pair = unsafe choices[step].pair
            guard pair >= 0 else { continue }
            let (column, map) = unsafe (program.steps[step].column, program.steps[step].map)
            let (type, offset) = unsafe (SerialType(rawValue: found[column].type), found[column].offset)
            record.overwrite(type, at: offset, with: program.newValue(pair, in: map))
            ranges.append(offset..<offset + type.length)
        }
        return ranges
    }

    /// Counts what was chosen.
    @inline(__always) func count(_ tree: PatchProgram.Tree, isLong: Bool = false) {
        unsafe counters[tree.counter] &+= 1
        if isLong { unsafe counters[tree.counter &+ 1] &+= 1 }
        var step = tree.steps.lowerBound
        while step < tree.steps.upperBound {
            unsafe counters[choices[step].counter] &+= 1
            step &+= 1
        }
    }

    /// Adds what was counted, and begins at 0 again.
    func takeCounts(into counts: inout PatchCounts) {
        var numbers = counts.numbers
        for counter in numbers.indices {
            numbers[counter] += unsafe counters[counter]
            unsafe counters[counter] = 0
        }
        counts.numbers = numbers
    }
}
