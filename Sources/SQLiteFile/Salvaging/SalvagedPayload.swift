/// A record as far as a damaged file has it: its end may be missing, and a part within it that would be where the file
/// ends, since a later page of its overflow chain may come before that.
struct SalvagedPayload {
    /// From the record's first byte on, with zeros where the file has none.
    private(set) var bytes: [UInt8]
    /// Bytes of the whole record, as its cell says.
    let length: Int
    /// Bytes that the file lacks, before the last of those that it has.
    private var hole: Range<Int>?

    /// - Parameters:
    ///   - local: what is on the leaf, or would be.
    ///   - there: bytes of it that the file has.
    ///   - length: of the whole record.
    init(_ local: ArraySlice<UInt8>, there: Int, of length: Int) {
        bytes = Array(local)
        self.length = length
        hole = there < local.count ? there..<local.count : nil
    }

    var isWhole: Bool { bytes.count == length && hole == nil }

    /// Appends what an overflow page has of the `wanted` bytes.
    /// - Returns: false where a second page lacks some: the file has one end, so the chain is damaged, too.
    mutating func append(_ content: ArraySlice<UInt8>, wanted: Int) -> Bool {
        let missing = wanted - content.count
        if missing > 0, hole != nil { return false }
        bytes += content
        if missing > 0 {
            hole = bytes.count..<bytes.count + missing
            bytes += [UInt8](repeating: 0, count: missing)
        }
        return true
    }

    private func has(_ range: Range<Int>) -> Bool {
        range.isEmpty || range.upperBound <= bytes.count && !(hole?.overlaps(range) ?? false)
    }

    /// The cells as far as they are there: a text or blob from its beginning, NULL in place of anything else that is
    /// cut.
    ///
    /// - Parameters:
    ///   - encoding: of texts.
    ///   - limit: most cells that a record has.
    /// - Returns: nil where the header is cut, or isn't that of a record of this length: then nothing tells that this
    ///   is one.
    func cells(_ encoding: DatabaseHeader.TextEncoding, limit: Int) -> [CellValue]? {
        unsafe bytes.withUnsafeBytes { buffer -> [CellValue]? in
            guard let start = buffer.baseAddress else { return nil }
            let (header, lengthOfLength) = unsafe Varint.read(start, before: start + buffer.count)
            guard lengthOfLength > 0, header >= UInt64(lengthOfLength), header <= UInt64(buffer.count),
                has(0..<Int(header))
            else { return nil }
            var (cursor, place) = (lengthOfLength, Int(header))
            var cells: [CellValue] = []
            while cursor < Int(header) {
                let (raw, count) = unsafe Varint.read(start + cursor, before: start + Int(header))
                guard count > 0, cells.count < limit, let narrow = UInt32(exactly: raw) else { return nil }
                let type = SerialType(rawValue: narrow)
                guard !type.isReserved, place + type.length <= length else { return nil }
                cells.append(cell(type, place..<place + type.length, encoding))
                place += type.length
                cursor += count
            }
            return place == length ? cells : nil
        }
    }

    private func cell(
        _ type: SerialType, _ range: Range<Int>, _ encoding: DatabaseHeader.TextEncoding
    ) -> CellValue {
        if type.isNull { return .null }
        if type.isText || type.isBlob {
            let end = min(bytes.count, hole.map { $0.overlaps(range) ? $0.lowerBound : .max } ?? .max)
            guard end > range.lowerBound || range.isEmpty else { return .null }
            let value = range.isEmpty ? [] : Array(bytes[range.lowerBound..<min(end, range.upperBound)])
            return type.isText ? .text(encoding.text(value)) : .blob(value)
        }
        guard has(range) else { return .null }
        return unsafe bytes.withUnsafeBytes { buffer -> CellValue in
            // 0 and 1 have no bytes, wherever they are.
            guard let base = buffer.baseAddress else { return .null }
            let start = unsafe base + (range.isEmpty ? 0 : range.lowerBound)
            if let number = unsafe type.integer(at: start) { return .integer(number) }
            return .real(Double(bitPattern: UInt64(bigEndian: unsafe start.loadUnaligned(as: UInt64.self))))
        }
    }
}
