import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewaySQLiteFile
import CausewayStoreFormat

/// Digests the rows of a pass as they go by: one a worker.
///
/// Allocates nothing per row and touches no reference count per cell: sums and cells lie behind pointers of its own, and
/// only cells with a rule other than `.plain` look at the shape.
@safe
final class DigestMeter {
    /// What the hot loop needs of a cell: 12 bytes.
    private struct Slot {
        let input: Int32
        let output: Int32
        let isPlain: Bool
    }

    private let shape: DigestShape
    private let isKeyed: Bool
    private let slots: UnsafeMutablePointer<Slot>
    private let slotCount: Int
    /// Of each group its first slot; one more for the end.
    private let firstSlots: UnsafeMutablePointer<Int>
    /// Of each group its first value.
    private let offsets: UnsafeMutablePointer<Int>
    /// The source's values, then the destination's.
    private let values: UnsafeMutablePointer<UInt64>

    init(_ shape: DigestShape) {
        self.shape = shape
        isKeyed = shape.key != nil
        slotCount = shape.groups.reduce(0) { $0 + $1.cells.count }
        unsafe slots = .allocate(capacity: max(1, slotCount))
        unsafe firstSlots = .allocate(capacity: shape.groups.count + 1)
        unsafe offsets = .allocate(capacity: shape.groups.count + 1)
        unsafe values = .allocate(capacity: max(1, shape.valueCount * 2))
        unsafe values.initialize(repeating: 0, count: shape.valueCount * 2)
        var next = 0
        for (index, group) in shape.groups.enumerated() {
            unsafe (firstSlots + index).initialize(to: next)
            unsafe (offsets + index).initialize(to: group.offset)
            for cell in group.cells {
                var isPlain = false
                if case .plain = cell.rule { isPlain = true }
                unsafe (slots + next).initialize(
                    to: Slot(
                        input: Int32(truncatingIfNeeded: cell.input), output: Int32(truncatingIfNeeded: cell.output),
                        isPlain: isPlain))
                next += 1
            }
        }
        unsafe (firstSlots + shape.groups.count).initialize(to: next)
        unsafe (offsets + shape.groups.count).initialize(to: shape.valueCount)
    }

    deinit {
        unsafe slots.deallocate()
        unsafe firstSlots.deallocate()
        unsafe offsets.deallocate()
        unsafe values.deallocate()
    }

    /// The digest of the rows since the last call.
    func take() -> PassDigest {
        let count = shape.valueCount
        let result = PassDigest(
            shape, source: unsafe Array(UnsafeBufferPointer(start: values, count: count)),
            destination: unsafe Array(UnsafeBufferPointer(start: values + count, count: count)))
        unsafe values.update(repeating: 0, count: count * 2)
        return result
    }

    /// A row as the source gave it. `group` is its projection's place among the shape's groups.
    func addSource(_ row: RecordReader, key: Int64, group: Int) {
        let first = unsafe firstSlots[group]
        let end = unsafe firstSlots[group + 1]
        var sums = unsafe values + offsets[group]
        unsafe sums.pointee &+= 1
        unsafe sums += 1
        var place = isKeyed ? CellHash.row(key: key) : CellHash.start
        var slot = first
        while slot < end {
            let cell = unsafe slots[slot]
            let input = Int(cell.input)
            let content = cell.isPlain ? Self.content(row, input) : content(row, group: group, cell: slot - first)
            if isKeyed {
                unsafe Self.add(content, in: place, to: sums)
                unsafe sums += DigestShape.valuesPerColumn
            } else {
                place = CellHash.lanes(of: content ?? CellHash.null, in: place)
            }
            slot &+= 1
        }
        if !isKeyed { unsafe Self.add(place, to: sums) }
    }

    /// The same row as it goes into the destination, read back from the record that was made.
    func addDestination(_ row: RecordReader, key: Int64, group: Int) {
        var slot = unsafe firstSlots[group]
        let end = unsafe firstSlots[group + 1]
        var sums = unsafe values + shape.valueCount + offsets[group]
        unsafe sums.pointee &+= 1
        unsafe sums += 1
        var place = isKeyed ? CellHash.row(key: key) : CellHash.start
        while slot < end {
            let content = unsafe Self.content(row, Int(slots[slot].output))
            if isKeyed {
                unsafe Self.add(content, in: place, to: sums)
                unsafe sums += DigestShape.valuesPerColumn
            } else {
                place = CellHash.lanes(of: content ?? CellHash.null, in: place)
            }
            slot &+= 1
        }
        if !isKeyed { unsafe Self.add(place, to: sums) }
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
    @inline(__always) private static func content(_ row: RecordReader, _ cell: Int) -> CellContent? {
        let type = row.serialType(at: cell)
        if type.isNull { return nil }
        if let integer = row.integer(at: cell) { return CellHash.integer(integer) }
        if let real = row.real(at: cell) { return CellHash.real(real) }
        return unsafe type.isText
            ? CellHash.text(row.unsafeBytes(at: cell)) : CellHash.blob(row.unsafeBytes(at: cell))
    }

    /// A cell to which something is done on its way.
    private func content(_ row: RecordReader, group: Int, cell: Int) -> CellContent? {
        let cell = shape.groups[group].cells[cell]
        return Self.content(row, cell.input, cell.rule)
    }

    private static func content(_ row: RecordReader, _ cell: Int, _ rule: DigestShape.Rule) -> CellContent? {
        switch rule {
        case .plain: return content(row, cell)
        case .absent: return nil
        case .replacingNull(let literal): return content(row, cell) ?? CellContent(literal)
        case .converting(let conversion, let literal):
            if let number = row.number(at: cell) { return CellContent(conversion.applied(to: number)) }
            return content(row, cell) ?? literal.flatMap { CellContent($0) }
        case .ending(let entity, let dropped):
            if let number = row.integer(at: entity), let number = Int(exactly: number), dropped.contains(number) {
                return nil
            }
            return content(row, cell)
        case .first(let rule, let position):
            return row.integer(at: position) == CellRecipe.firstPosition ? content(row, cell, rule) : nil
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
    init?(_ literal: StoredLiteral) {
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
