/// The steps of a program as the hot loop needs them: what they come to for a record, and how they are written.
@unsafe
struct SpliceSteps {
    private enum Kind { case carried, constants, renumbered }

    @unsafe private struct Step {
        let kind: Kind
        /// Columns; of a renumbered one, the first.
        var first = 0
        var last = 0
        /// Of constants.
        var header: UnsafeRawPointer?
        var body: UnsafeRawPointer?
        var headerLength = 0
        var bodyLength = 0
        /// By the integer of the column.
        var numbers: UnsafeMutableBufferPointer<Int64>?
    }

    private let steps: UnsafeMutableBufferPointer<Step>

    /// - Parameter steps: outlive this one.
    init(_ steps: [SpliceProgram.Step]) {
        let steps = unsafe steps.map { step -> Step in
            switch step {
            case .carried(let columns):
                return unsafe Step(kind: .carried, first: columns.lowerBound, last: columns.upperBound)
            case .constants(let cells):
                return unsafe Step(
                    kind: .constants, header: cells.header, body: cells.body, headerLength: cells.headerLength,
                    bodyLength: cells.bodyLength)
            case .renumbered(let column, let numbers):
                return unsafe Step(
                    kind: .renumbered, first: column, numbers: UnsafeMutableBufferPointer(copying: numbers))
            }
        }
        unsafe self.steps = UnsafeMutableBufferPointer(copying: steps)
    }

    func deallocate() {
        for place in unsafe steps.indices { unsafe steps[place].numbers?.deallocate() }
        unsafe steps.deallocate()
    }

    /// Bytes of serial types and of values.
    @inline(__always) func lengths(_ marks: RecordMarks) -> (header: Int, body: Int) {
        var (header, body) = (0, 0)
        let count = unsafe marks.count
        var index = 0
        while unsafe index < steps.count {
            let step = unsafe steps.baseAddress.unsafelyUnwrapped + index
            switch unsafe step.pointee.kind {
            case .carried:
                let (first, last) = unsafe (min(step.pointee.first, count), min(step.pointee.last, count))
                let (one, end) = unsafe (marks.marks[first], marks.marks[last])
                // A byte for each column that the record ends before.
                header &+= unsafe Int(end.head &- one.head) &+ step.pointee.last &- step.pointee.first &- last &+ first
                body &+= Int(end.body &- one.body)
            case .constants:
                header &+= unsafe step.pointee.headerLength
                body &+= unsafe step.pointee.bodyLength
            case .renumbered:
                header &+= 1
                body &+= unsafe Self.number(marks, step.pointee).map { SerialType.integer($0).length } ?? 0
            }
            index &+= 1
        }
        return (header, body)
    }

    /// Writes exactly the record.
    /// - Parameters:
    ///   - marks: those of the lengths.
    ///   - headerLength: bytes of the header, its own length included.
    ///   - target: has room for the record.
    @inline(__always) func write(_ marks: RecordMarks, headerLength: Int, to target: UnsafeMutableRawPointer) {
        var cursor = unsafe target
        unsafe cursor += Varint.write(UInt64(headerLength), to: cursor)
        var body = unsafe target + headerLength
        var index = 0
        while unsafe index < steps.count {
            let step = unsafe steps.baseAddress.unsafelyUnwrapped + index
            switch unsafe step.pointee.kind {
            case .carried: unsafe Self.carry(marks, step.pointee.first, step.pointee.last, &cursor, &body)
            case .constants:
                if let header = unsafe step.pointee.header, let values = unsafe step.pointee.body {
                    unsafe cursor.copyMemory(from: header, byteCount: step.pointee.headerLength)
                    unsafe body.copyMemory(from: values, byteCount: step.pointee.bodyLength)
                }
                unsafe cursor += step.pointee.headerLength
                unsafe body += step.pointee.bodyLength
            case .renumbered:
                let number = unsafe Self.number(marks, step.pointee)
                let type = number.map { SerialType.integer($0) } ?? .null
                unsafe cursor.storeBytes(of: UInt8(truncatingIfNeeded: type.rawValue), as: UInt8.self)
                unsafe cursor += 1
                if let number { unsafe type.overwrite(body, with: number) }
                unsafe body += type.length
            }
            index &+= 1
        }
    }

    @inline(__always) private static func carry(
        _ marks: RecordMarks, _ from: Int, _ to: Int, _ cursor: inout UnsafeMutableRawPointer,
        _ body: inout UnsafeMutableRawPointer
    ) {
        let (first, last) = unsafe (min(from, marks.count), min(to, marks.count))
        let (one, end) = unsafe (marks.marks[first], marks.marks[last])
        let (types, values) = (Int(end.head &- one.head), Int(end.body &- one.body))
        unsafe cursor.copyMemory(from: marks.start + Int(one.head), byteCount: types)
        unsafe cursor += types
        let missing = to &- from &- last &+ first
        unsafe cursor.zero(missing)
        unsafe cursor += missing
        unsafe body.copyMemory(from: marks.start + Int(one.body), byteCount: values)
        unsafe body += values
    }

    /// nil for NULL.
    @inline(__always) private static func number(_ marks: RecordMarks, _ step: Step) -> Int64? {
        guard let integer = unsafe marks.integer(step.first), let numbers = unsafe step.numbers, integer >= 0,
            integer < Int64(numbers.count)
        else { return nil }
        let number = unsafe numbers[Int(integer)]
        return number == SpliceProgram.noNumber ? nil : number
    }
}
