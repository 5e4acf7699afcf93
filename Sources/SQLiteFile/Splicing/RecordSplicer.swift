/// Makes the records of a table from those of another and packs them, each run of carried cells with one copy from the
/// page that was read to the page that will be written.
///
/// One per worker, for the whole pass: it allocates nothing per row and touches no reference count. What it can't do is
/// left to the caller, row by row: damaged records, rows without a program, exceptions of a program, and numbers that
/// the new table stores in another form.
@safe
package final class RecordSplicer {
    private struct Check {
        let column: Int
        let form: RecordForm.Numbers
    }

    private struct Refusal {
        enum Kind {
            case null, otherThanInteger
            case among(Set<Int>)
        }
        let column: Int
        let kind: Kind
    }

    @unsafe private struct Program {
        let steps: SpliceSteps
        let reals: UnsafeMutableBufferPointer<Check>
        let wholeReals: UnsafeMutableBufferPointer<Check>
        let refusals: UnsafeMutableBufferPointer<Refusal>
        /// Columns to count; −1 for every row.
        let counted: UnsafeMutableBufferPointer<Int>
        /// Rows, then the counts.
        let tally: UnsafeMutableBufferPointer<Int>
    }

    @unsafe private struct State {
        var marks: RecordMarks
        var records = EntrySum()
        var bytes = 0
        /// Room for a record that isn't whole on its page.
        var room = UnsafeMutableRawPointer.allocate(byteCount: 4_096, alignment: 8)
        var roomLength = 4_096

        init(columns: Int) { unsafe marks = RecordMarks(capacity: columns) }
    }

    /// Behind one pointer: properties of a class can cost a runtime exclusivity check for each access.
    private let state: UnsafeMutablePointer<State>
    private let programs: UnsafeMutableBufferPointer<Program>
    private let choices: UnsafeMutableBufferPointer<Int32>
    /// −1 where the first program is for all rows.
    private let choosing: Int
    private let takesSums: Bool
    /// Of carried indexes; nil where there is none.
    private let entries: EntrySummer?
    /// Keeps the constants.
    private let kept: [SpliceProgram]

    /// - Parameters:
    ///   - programs: at least one.
    ///   - choice: which of them is for a row.
    ///   - columns: of the source's table.
    ///   - takesSums: whether records are digested and cells counted.
    ///   - entries: is given every record that is spliced.
    package init(
        _ programs: [SpliceProgram], choice: SpliceChoice, columns: Int, takesSums: Bool, entries: EntrySummer? = nil
    ) {
        precondition(!programs.isEmpty, "there is something to splice")
        kept = programs
        self.takesSums = takesSums
        self.entries = entries
        choosing = choice.column ?? -1
        unsafe choices = UnsafeMutableBufferPointer(copying: choice.programs)
        unsafe self.programs = UnsafeMutableBufferPointer(copying: programs.map { unsafe Self.program($0) })
        unsafe state = .allocate(capacity: 1)
        unsafe state.initialize(to: State(columns: columns))
    }

    deinit {
        for place in unsafe programs.indices {
            let program = unsafe programs[place]
            unsafe program.steps.deallocate()
            unsafe program.reals.deallocate()
            unsafe program.wholeReals.deallocate()
            unsafe program.refusals.deinitialize().deallocate()
            unsafe program.counted.deallocate()
            unsafe program.tally.deallocate()
        }
        unsafe programs.deallocate()
        unsafe choices.deallocate()
        unsafe state.pointee.marks.deallocate()
        unsafe state.pointee.room.deallocate()
        unsafe state.deallocate()
    }

    @unsafe private static func program(_ program: SpliceProgram) -> Program {
        let refusals = program.exceptions.map { exception in
            switch exception {
            case .null(let column): Refusal(column: column, kind: .null)
            case .integer(let column, let among): Refusal(column: column, kind: .among(among))
            case .otherThanInteger(let column): Refusal(column: column, kind: .otherThanInteger)
            }
        }
        let (reals, wholeReals) = (
            program.reals.map { Check(column: $0.column, form: $0.form) },
            program.wholeReals.map { Check(column: $0.column, form: $0.form) }
        )
        return unsafe Program(
            steps: SpliceSteps(program.steps), reals: UnsafeMutableBufferPointer(copying: reals),
            wholeReals: UnsafeMutableBufferPointer(copying: wholeReals),
            refusals: UnsafeMutableBufferPointer(copying: refusals),
            counted: UnsafeMutableBufferPointer(copying: program.counted.map { $0 ?? -1 }),
            tally: UnsafeMutableBufferPointer(copying: Array(repeating: 0, count: program.counted.count + 1)))
    }

    // MARK: - Rows

    /// Splices rows of a batch from `first` on, until one must be made otherwise.
    ///
    /// - Parameters:
    ///   - rows: records of the source's table.
    ///   - first: index of the first row.
    ///   - packer: has begun a buffer.
    /// - Returns: the index of the row that was left, or the number of rows.
    /// - Throws: `.outOfOrder` for a rowid that isn't greater than the one before it.
    package func splice(_ rows: RowBatch, from first: Int, into packer: LeafPacker) throws(PageBuildError) -> Int {
        var index = first
        while index < rows.count {
            guard try unsafe splice(rows.record(at: index), rows.rowid(at: index), into: packer) else { return index }
            index &+= 1
        }
        return index
    }

    /// Adds records that were made otherwise to the sums.
    package func note(_ rows: RowBatch) {
        unsafe state.pointee.bytes &+= rows.byteCount
        if takesSums { unsafe state.pointee.records.add(rows) }
    }

    /// What was made since the last call.
    package func takeTally() -> SpliceTally {
        var tally = SpliceTally()
        for place in unsafe programs.indices {
            let program = unsafe programs[place]
            unsafe tally.rows.append(program.tally[0])
            unsafe tally.cells.append(Array(program.tally.dropFirst()))
            unsafe program.tally.update(repeating: 0)
        }
        (tally.records, tally.bytes) = unsafe (state.pointee.records, state.pointee.bytes)
        unsafe (state.pointee.records, state.pointee.bytes) = (EntrySum(), 0)
        // The memory of one huge row must not stay.
        if unsafe state.pointee.roomLength > Self.largestRoom { _ = unsafe room(of: Self.largestRoom) }
        return tally
    }

    /// - Returns: false where the row must be made otherwise; nothing was packed then.
    @unsafe @inline(__always) private func splice(
        _ record: UnsafeRawBufferPointer, _ rowid: Int64, into packer: LeafPacker
    ) throws(PageBuildError) -> Bool {
        guard unsafe state.pointee.marks.find(record) else { return false }
        let marks = unsafe state.pointee.marks
        guard let place = unsafe place(marks) else { return false }
        let program = unsafe programs.baseAddress.unsafelyUnwrapped + place
        guard unsafe isPlain(marks, program.pointee) else { return false }
        let (headerLength, bodyLength) = unsafe program.pointee.steps.lengths(marks)
        let prefixed = RecordWriter.lengthWithPrefix(headerLength)
        let length = prefixed &+ bodyLength
        if length > Int(Int32.max) { return false }
        if let target = try unsafe packer.place(rowid: rowid, length: length) {
            unsafe program.pointee.steps.write(marks, headerLength: prefixed, to: target)
            try unsafe count(marks, program.pointee, UnsafeRawBufferPointer(start: target, count: length), rowid)
        } else {
            let target = unsafe room(for: length)
            unsafe program.pointee.steps.write(marks, headerLength: prefixed, to: target)
            let made = unsafe UnsafeRawBufferPointer(start: target, count: length)
            try unsafe packer.append(rowid: rowid, record: made)
            try unsafe count(marks, program.pointee, made, rowid)
        }
        return true
    }

    /// The row's program.
    @unsafe @inline(__always) private func place(_ marks: RecordMarks) -> Int? {
        if choosing < 0 { return 0 }
        guard let number = unsafe marks.integer(choosing), number >= 0, unsafe number < Int64(choices.count) else {
            return nil
        }
        let place = unsafe Int(choices[Int(number)])
        return place < 0 ? nil : place
    }

    @unsafe @inline(__always) private func isPlain(_ marks: RecordMarks, _ program: Program) -> Bool {
        if unsafe marks.hasReals {
            if unsafe marks.hasNaN { return false }
            for index in unsafe 0..<program.reals.count {
                let check = unsafe program.reals[index]
                if unsafe marks.isWhole(check.column, as: check.form) { return false }
            }
        }
        for index in unsafe 0..<program.wholeReals.count {
            let check = unsafe program.wholeReals[index]
            if unsafe marks.isRestored(check.column, as: check.form) { return false }
        }
        return unsafe program.refusals.isEmpty || !isRefused(marks, program)
    }

    @unsafe @inline(never) private func isRefused(_ marks: RecordMarks, _ program: Program) -> Bool {
        unsafe program.refusals.contains { refusal in
            switch refusal.kind {
            case .null: return unsafe marks.isNull(refusal.column)
            case .otherThanInteger:
                return unsafe !marks.isNull(refusal.column) && marks.integer(refusal.column) == nil
            case .among(let among):
                return unsafe marks.integer(refusal.column).map { among.contains(Int($0)) } ?? false
            }
        }
    }

    @unsafe @inline(__always) private func count(
        _ marks: RecordMarks, _ program: Program, _ record: UnsafeRawBufferPointer, _ rowid: Int64
    ) throws(PageBuildError) {
        unsafe program.tally[0] &+= 1
        unsafe state.pointee.bytes &+= record.count
        if let entries { try unsafe add(record, rowid, to: entries) }
        guard takesSums else { return }
        unsafe state.pointee.records.add(record, rowid: rowid)
        for index in unsafe 0..<program.counted.count {
            let column = unsafe program.counted[index]
            if unsafe column < 0 || !marks.isNull(column) { unsafe program.tally[index &+ 1] &+= 1 }
        }
    }

    @unsafe @inline(__always) private func add(
        _ record: UnsafeRawBufferPointer, _ rowid: Int64, to entries: EntrySummer
    ) throws(PageBuildError) {
        do throws(IndexSortError) {
            try unsafe entries.add(record, rowid: rowid)
        } catch {
            // The record was just made: nothing else can be wrong with it.
            throw .payloadTooLong
        }
    }

    /// Bytes that stay from batch to batch.
    private static let largestRoom = 1 << 20

    @unsafe private func room(for length: Int) -> UnsafeMutableRawPointer {
        if unsafe length <= state.pointee.roomLength { return unsafe state.pointee.room }
        return unsafe room(of: length * 2)
    }

    @unsafe @inline(never) private func room(of length: Int) -> UnsafeMutableRawPointer {
        unsafe state.pointee.room.deallocate()
        unsafe state.pointee.room = .allocate(byteCount: length, alignment: 8)
        unsafe state.pointee.roomLength = length
        return unsafe state.pointee.room
    }
}

extension UnsafeMutableBufferPointer {
    /// The caller deallocates it.
    init(copying elements: [Element]) {
        unsafe self = .allocate(capacity: elements.count)
        _ = unsafe initialize(from: elements)
    }
}
