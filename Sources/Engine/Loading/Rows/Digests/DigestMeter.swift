import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewaySQLiteFile
import CausewayStoreFormat

/// Digests the rows of a pass as they are moved: one per worker.
///
/// A carried cell has one hash, which counts for both sides. That is safe because the new record is compared with the
/// source's first: every byte of type and value of each such cell. Two hashes couldn't show more, and would cost more.
///
/// Allocates nothing per row and touches no reference count per plain cell: the loop's data is behind pointers of its
/// own.
@safe
final class DigestMeter {
    /// A cell as the hot loop needs it.
    private struct Slot {
        let input: Int32
        let output: Int32
        /// Among `ruled`; −1 for a cell that is carried as it is.
        let ruled: Int32
    }

    /// Cells that are carried as they are, side by side before and after.
    private struct Run {
        let inputs: Range<Int>
        let output: Int
    }

    private struct Group {
        let slots: Range<Int>
        let runs: Range<Int>
        /// Place of the group's first value.
        let offset: Int
    }

    private let shape: DigestShape
    private let isKeyed: Bool
    /// Cells that a pass changes.
    private let ruled: [DigestShape.Cell]
    private let slots: UnsafeMutablePointer<Slot>
    private let runs: UnsafeMutablePointer<Run>
    private let groups: UnsafeMutablePointer<Group>
    /// The sums that both sides share, then the rest of the source's, then the rest of the destination's:
    /// `shape.valueCount` each.
    private let values: UnsafeMutablePointer<UInt64>

    init(_ shape: DigestShape) {
        self.shape = shape
        isKeyed = shape.key != nil
        var (slots, runs, groups, ruled): ([Slot], [Run], [Group], [DigestShape.Cell]) = ([], [], [], [])
        for group in shape.groups {
            let (firstSlot, firstRun) = (slots.count, runs.count)
            for cell in group.cells {
                slots.append(
                    Slot(
                        input: Int32(truncatingIfNeeded: cell.input), output: Int32(truncatingIfNeeded: cell.output),
                        ruled: cell.isPlain ? -1 : Int32(truncatingIfNeeded: ruled.count)))
                if !cell.isPlain {
                    ruled.append(cell)
                } else if runs.count > firstRun, let last = runs.last, last.inputs.upperBound == cell.input,
                    last.output + last.inputs.count == cell.output
                {
                    runs[runs.count - 1] = Run(inputs: last.inputs.lowerBound..<cell.input + 1, output: last.output)
                } else {
                    runs.append(Run(inputs: cell.input..<cell.input + 1, output: cell.output))
                }
            }
            groups.append(Group(slots: firstSlot..<slots.count, runs: firstRun..<runs.count, offset: group.offset))
        }
        self.ruled = ruled
        unsafe self.slots = Self.copy(slots)
        unsafe self.runs = Self.copy(runs)
        unsafe self.groups = Self.copy(groups)
        unsafe values = Self.copy(Array(repeating: 0, count: shape.valueCount * 3))
    }

    private static func copy<Element>(_ elements: [Element]) -> UnsafeMutablePointer<Element> {
        let result = UnsafeMutablePointer<Element>.allocate(capacity: max(1, elements.count))
        for (index, element) in elements.enumerated() { unsafe (result + index).initialize(to: element) }
        return unsafe result
    }

    deinit {
        unsafe slots.deallocate()
        unsafe runs.deallocate()
        unsafe groups.deallocate()
        unsafe values.deallocate()
    }

    /// The digest of the rows since the last call.
    func take() -> PassDigest {
        let count = shape.valueCount
        var result = PassDigest(shape)
        for place in 0..<count {
            result.source[place] = unsafe values[place] &+ values[place + count]
            result.destination[place] = unsafe values[place] &+ values[place + count * 2]
        }
        unsafe values.update(repeating: 0, count: count * 3)
        return result
    }

    /// Adds a row as the source has it, and as the destination gets it, read back from the new record.
    ///
    /// - Parameters:
    ///   - row: the source's.
    ///   - made: the new record, with all of the destination's columns.
    ///   - key: the row's on both sides.
    ///   - group: place of its projection among the shape's groups.
    /// - Returns: false if `made` differs from what the row's projection carries; then nothing was added.
    func add(_ row: RowView, made: RowView, key: Int64, group: Int) -> Bool {
        let group = unsafe groups[group]
        for run in group.runs {
            let run = unsafe runs[run]
            guard row.isCarried(run.inputs, into: made, at: run.output) else { return false }
        }
        unsafe values[group.offset] &+= 1
        if isKeyed {
            addCells(row, made, CellHash.row(key: key), group)
        } else {
            addWhole(row, made, group)
        }
        return true
    }

    /// Counts rows without digesting them.
    ///
    /// - Parameters:
    ///   - rows: of the group, without differences between source and destination.
    ///   - cells: of each column, those that aren't NULL; empty where only rows are counted.
    ///   - group: place of their projection among the shape's groups.
    func add(rows: Int, cells: [Int], group: Int) {
        let group = unsafe groups[group]
        unsafe values[group.offset] &+= UInt64(rows)
        for (place, count) in cells.enumerated() {
            unsafe values[group.offset + 1 + place * DigestShape.valuesPerColumn + 2] &+= UInt64(count)
        }
    }

    /// Cell by cell, each into the sums of its column.
    private func addCells(_ row: RowView, _ made: RowView, _ place: HashLanes, _ group: Group) {
        let count = shape.valueCount
        var sums = unsafe values + group.offset + 1
        for slot in group.slots {
            let slot = unsafe slots[slot]
            if slot.ruled < 0 {
                unsafe Self.add(Self.content(row, Int(slot.input)), in: place, to: sums)
            } else {
                unsafe Self.add(Self.content(row, ruled[Int(slot.ruled)]), in: place, to: sums + count)
                unsafe Self.add(Self.content(made, Int(slot.output)), in: place, to: sums + count * 2)
            }
            unsafe sums += DigestShape.valuesPerColumn
        }
    }

    /// A row without a key: one hash over all of its cells, or two from the first cell on that may differ.
    private func addWhole(_ row: RowView, _ made: RowView, _ group: Group) {
        let count = shape.valueCount
        let sums = unsafe values + group.offset + 1
        var source = CellHash.start
        var destination: HashLanes?
        for slot in group.slots {
            let slot = unsafe slots[slot]
            if slot.ruled < 0 {
                let content = Self.content(row, Int(slot.input)) ?? CellHash.null
                source = CellHash.lanes(of: content, in: source)
                destination = destination.map { CellHash.lanes(of: content, in: $0) }
            } else {
                let content = Self.content(made, Int(slot.output)) ?? CellHash.null
                destination = CellHash.lanes(of: content, in: destination ?? source)
                source = CellHash.lanes(of: Self.content(row, ruled[Int(slot.ruled)]) ?? CellHash.null, in: source)
            }
        }
        if let destination {
            unsafe Self.add(source, to: sums + count)
            unsafe Self.add(destination, to: sums + count * 2)
        } else {
            unsafe Self.add(source, to: sums)
        }
    }

    @unsafe @inline(__always) private static func add(
        _ content: CellContent?, in row: HashLanes, to sums: UnsafeMutablePointer<UInt64>
    ) {
        guard let content else { return }
        unsafe add(CellHash.lanes(of: content, in: row), to: sums)
    }

    @unsafe @inline(__always) private static func add(_ lanes: HashLanes, to sums: UnsafeMutablePointer<UInt64>) {
        unsafe sums[0] &+= lanes.first
        unsafe sums[1] &+= lanes.second
        unsafe sums[2] &+= 1
    }

    /// nil for NULL.
    @inline(__always) private static func content(_ row: RowView, _ cell: Int) -> CellContent? {
        let type = row.serialType(at: cell)
        if type.isNull { return nil }
        if let integer = row.integer(at: cell) { return CellHash.integer(integer) }
        if let real = row.real(at: cell) { return CellHash.real(real) }
        return unsafe type.isText
            ? CellHash.text(row.unsafeBytes(at: cell)) : CellHash.blob(row.unsafeBytes(at: cell))
    }

    /// The cell as its recipe carries it.
    private static func content(_ row: RowView, _ cell: DigestShape.Cell) -> CellContent? {
        if let position = cell.position, row.integer(at: position) != CellRecipe.firstPosition { return nil }
        switch cell.rule {
        case .plain: return content(row, cell.input)
        case .absent: return nil
        case .replacingNull(let literal): return content(row, cell.input) ?? CellContent(literal)
        case .converting(let conversion, let literal):
            if let number = row.number(at: cell.input) { return CellContent(conversion.applied(to: number)) }
            return content(row, cell.input) ?? literal.flatMap { CellContent($0) }
        case .ending(let entity, let dropped):
            if let number = row.integer(at: entity), let number = Int(exactly: number), dropped.contains(number) {
                return nil
            }
            return content(row, cell.input)
        }
    }
}

extension CellContent {
    init(_ number: StoredNumber) {
        switch number {
        case .integer(let value): self = CellHash.integer(value)
        case .real(let value): self = CellHash.real(value)
        }
    }

    /// nil for NULL.
    init?(_ literal: CellValue) {
        switch literal {
        case .null: return nil
        case .integer(let value): self = CellHash.integer(value)
        case .real(let value): self = CellHash.real(value)
        case .text(let value):
            var value = value
            self = value.withUTF8 { unsafe CellHash.text(UnsafeRawBufferPointer($0)) }
        case .blob(let value): self = unsafe value.withUnsafeBytes { unsafe CellHash.blob($0) }
        }
    }
}
