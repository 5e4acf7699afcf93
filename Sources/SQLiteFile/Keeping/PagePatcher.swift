/// Overwrites integers in the pages of patched trees, one page after another.
///
/// Used by one thread; allocates nothing for a page or a row.
@safe
final class PagePatcher {
    /// A cell of a record.
    private struct Found {
        var type: UInt32 = 0
        /// Byte in the cell's local part.
        var offset = 0
    }

    private let program: PatchProgram
    private let coverage: PageCoverage
    private let split: PayloadSplit
    private let found: UnsafeMutablePointer<Found>
    /// The chosen pair of each step; -1 for none.
    private let chosen: UnsafeMutablePointer<Int>
    private let counters: UnsafeMutablePointer<Int>

    init(_ program: PatchProgram, _ layout: DatabaseLayout) {
        self.program = program
        coverage = PageCoverage(pageSize: layout.pageSize)
        split = PayloadSplit(usable: layout.usableSize)
        unsafe found = .allocate(capacity: program.width + 1)
        unsafe found.initialize(repeating: Found(), count: program.width + 1)
        unsafe chosen = .allocate(capacity: program.steps.count + 1)
        unsafe chosen.initialize(repeating: -1, count: program.steps.count + 1)
        unsafe counters = .allocate(capacity: program.counterCount + 1)
        unsafe counters.initialize(repeating: 0, count: program.counterCount + 1)
    }

    deinit {
        unsafe found.deallocate()
        unsafe chosen.deallocate()
        unsafe counters.deallocate()
    }

    /// Patches a page in memory.
    ///
    /// - Parameters:
    ///   - bytes: the whole page.
    ///   - number: the page's.
    ///   - owner: place of its tree in the program.
    ///   - isLeaf: whether it must be a leaf.
    /// - Throws: what is damaged, or doesn't fit.
    @unsafe func patch(
        _ bytes: UnsafeMutableRawPointer, number: Int, owner: Int, isLeaf: Bool
    ) throws(PageCopyError) {
        let tree = unsafe program.trees[owner]
        let page: TreePage
        do throws(PageReadError) {
            page = try unsafe TreePage(bytes, number: number, usable: split.usable)
            guard page.kind.isTable == tree.isTable else {
                throw PageReadError(.badKind, page: number, value: Int64(page.kind.rawValue))
            }
            guard page.kind.isLeaf == isLeaf else { throw PageReadError(.unequalDepth, page: number) }
        } catch {
            throw .source(error)
        }
        coverage.begin()
        var last: Int64 = .min
        for index in 0..<page.cellCount {
            let cell: PayloadCell
            do throws(PageReadError) {
                cell = try PayloadCell(page, at: index, split)
                guard coverage.mark(cell.start, length: cell.size) else { throw PageReadError(.overlap, page: number) }
                if index > 0, tree.isTable, cell.rowid <= last {
                    throw PageReadError(.rowidOutOfOrder, page: number, value: cell.rowid)
                }
            } catch {
                throw .source(error)
            }
            last = cell.rowid
            do throws(Misfit) {
                try unsafe patch(bytes + cell.localStart, cell, tree)
            } catch {
                throw .record(
                    PatchError(
                        error.code, page: number, root: tree.root, rowid: tree.isTable ? cell.rowid : nil,
                        column: error.column, value: error.value))
            }
        }
        do throws(PageReadError) {
            try coverage.finish(page)
        } catch {
            throw .source(error)
        }
    }

    /// What of a `PatchError` a record knows.
    private struct Misfit: Error {
        let code: PatchError.Code
        let column: Int
        var value: Int64?
    }

    /// Chooses all new values before the first is written: conditions see the old ones.
    @unsafe private func patch(
        _ record: UnsafeMutableRawPointer, _ cell: PayloadCell, _ tree: PatchProgram.Tree
    ) throws(Misfit) {
        let count = try unsafe findCells(record, cell, width: tree.width)
        unsafe counters[tree.counter] &+= 1
        var step = tree.steps.lowerBound
        while step < tree.steps.upperBound {
            unsafe chosen[step] = try unsafe choose(program.steps[step], record, cell, count: count)
            step &+= 1
        }
        step = tree.steps.lowerBound
        while step < tree.steps.upperBound {
            let pair = unsafe chosen[step]
            if pair >= 0 {
                let (column, map) = unsafe (program.steps[step].column, program.steps[step].map)
                let type = unsafe SerialType(rawValue: found[column].type)
                unsafe type.overwrite(record + found[column].offset, with: program.newValue(pair, in: map))
            }
            step &+= 1
        }
    }

    /// Finds the first cells of a record.
    /// - Returns: how many of them it has.
    @unsafe private func findCells(
        _ record: UnsafeMutableRawPointer, _ cell: PayloadCell, width: Int
    ) throws(Misfit) -> Int {
        let local = unsafe UnsafeRawPointer(record + cell.localLength)
        let (header, lengthOfLength) = unsafe Varint.read(record, before: local)
        guard lengthOfLength > 0, header >= UInt64(lengthOfLength), header <= UInt64(cell.length) else {
            throw Misfit(code: .badRecord, column: 0)
        }
        let headerEnd = Int(header)
        let end = unsafe UnsafeRawPointer(record + min(headerEnd, cell.localLength))
        var (cursor, body, column) = (lengthOfLength, headerEnd, 0)
        while column < width, cursor < headerEnd {
            let (raw, length) = unsafe Varint.read(record + cursor, before: end)
            if length == 0 {
                throw Misfit(code: headerEnd > cell.localLength ? .notOnPage : .badRecord, column: column)
            }
            let type = SerialType(rawValue: UInt32(truncatingIfNeeded: raw))
            guard raw <= UInt64(UInt32.max), !type.isReserved else { throw Misfit(code: .badRecord, column: column) }
            unsafe found[column] = Found(type: type.rawValue, offset: body)
            body &+= type.length
            guard body <= cell.length else { throw Misfit(code: .badRecord, column: column) }
            cursor &+= length
            column &+= 1
        }
        return column
    }

    /// The integer of a cell; nil for another storage class.
    @unsafe @inline(__always) private func integer(
        _ column: Int, _ record: UnsafeMutableRawPointer, _ cell: PayloadCell
    ) throws(Misfit) -> Int64? {
        let type = unsafe SerialType(rawValue: found[column].type)
        guard type.isInteger else { return nil }
        let offset = unsafe found[column].offset
        guard offset &+ type.length <= cell.localLength else { throw Misfit(code: .notOnPage, column: column) }
        return unsafe type.integer(at: record + offset)
    }

    /// Counts the cell.
    /// - Returns: the pair with the new value; -1 where the cell stays.
    @unsafe @inline(__always) private func choose(
        _ step: PatchProgram.Step, _ record: UnsafeMutableRawPointer, _ cell: PayloadCell, count: Int
    ) throws(Misfit) -> Int {
        let others = step.firstCounter &+ step.map.count
        if step.conditionColumn >= 0 {
            let value =
                step.conditionColumn < count ? try unsafe integer(step.conditionColumn, record, cell) : nil
            guard let value, program.find(value, in: step.condition) >= 0 else {
                unsafe counters[others &+ 2] &+= 1
                return -1
            }
        }
        guard step.column < count, unsafe found[step.column].type != 0 else {
            unsafe counters[others &+ 1] &+= 1
            return -1
        }
        let value = try unsafe integer(step.column, record, cell)
        let pair = value.map { program.find($0, in: step.map) } ?? -1
        guard pair >= 0 else {
            if !step.mayStay { throw Misfit(code: .unknownValue, column: step.column, value: value) }
            unsafe counters[others] &+= 1
            return -1
        }
        unsafe counters[step.firstCounter &+ pair] &+= 1
        return pair
    }

    /// Adds what was counted, and begins at 0 again.
    func takeCounts(into counts: inout PatchCounts) {
        for tree in counts.trees.indices {
            var counter = unsafe program.trees[tree].counter
            func next() -> Int {
                defer {
                    unsafe counters[counter] = 0
                    counter += 1
                }
                return unsafe counters[counter]
            }
            counts.trees[tree].records += next()
            for column in counts.trees[tree].columns.indices {
                for value in counts.trees[tree].columns[column].values.indices {
                    counts.trees[tree].columns[column].values[value] += next()
                }
                counts.trees[tree].columns[column].others += next()
                counts.trees[tree].columns[column].nulls += next()
                counts.trees[tree].columns[column].leftOut += next()
            }
        }
    }
}
