/// A row of a table as a leaf holds it.
package struct SalvagedRow {
    package let rowid: Int64
    /// Its cells; nil where the row isn't whole.
    package let cells: [CellValue]?
    /// The cells of a row that isn't whole, because the file ends inside of it, or its overflow chain breaks: a text or
    /// blob as far as it is there, NULL for what isn't. nil where not even the row's header is there.
    package let part: [CellValue]?

    fileprivate init(_ rowid: Int64, cells: [CellValue]? = nil, part: [CellValue]? = nil) {
        (self.rowid, self.cells, self.part) = (rowid, cells, part)
    }
}

extension SalvageFile {
    /// The rows of a table's leaf, in its order. One whose pointer, header, body or overflow chain is broken has no
    /// cells, or some of them.
    package func rows(of page: SalvagePage) -> [SalvagedRow] {
        guard page.isTableLeaf else { return [] }
        return (0..<page.cellCount).map { index in
            guard let start = page.cellStart(index) else { return SalvagedRow(0) }
            let row = row(page, at: start, usableSize: usableSize)
            guard row.cells == nil, usableSize < pageSize else { return row }
            // What the header says of reserved bytes may be wrong; Core Data reserves none.
            let other = self.row(page, at: start, usableSize: pageSize)
            return other.cells != nil || row.part == nil ? other : row
        }
    }

    private func row(_ page: SalvagePage, at start: Int, usableSize: Int) -> SalvagedRow {
        let spill = PayloadSpill.table(pageSize: usableSize)
        let extent = unsafe page.bytes.withUnsafeBytes { bytes -> CellExtent? in
            guard let base = bytes.baseAddress else { return nil }
            return try? unsafe CellExtent(base + start, before: base + bytes.count, kind: .table, spill)
        }
        // The key must be there: the rest may be zeros in place of what the file lacks, as SQLite reads it.
        guard let extent, start + extent.payloadStart <= page.end else { return SalvagedRow(0) }
        let local = start + extent.payloadStart
        var payload = SalvagedPayload(
            page.bytes[local..<local + extent.localLength], there: page.end - local, of: extent.payloadLength)
        if let pointer = extent.overflowPointer, start + pointer + 4 <= page.end {
            let offset = start + pointer
            follow(page.bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }, to: &payload, usableSize)
        }
        return payload.isWhole
            ? SalvagedRow(extent.rowid, cells: cells(of: payload.bytes))
            : SalvagedRow(extent.rowid, part: payload.cells(encoding, limit: reader.capacity))
    }

    /// Appends an overflow chain's content, until the payload is complete or the chain ends or breaks.
    private func follow(_ first: Int, to payload: inout SalvagedPayload, _ usableSize: Int) {
        // A damaged length must not read the file again and again.
        guard payload.length / usableSize <= pageCount else { return }
        var next = first
        while payload.bytes.count < payload.length {
            let wanted = min(usableSize, 4 + payload.length - payload.bytes.count)
            guard next >= 2, let bytes = bytes(next), bytes.count >= 4 else { return }
            guard payload.append(bytes.prefix(wanted).dropFirst(4), wanted: wanted - 4) else { return }
            next = bytes[..<4].reduce(0) { $0 << 8 | Int($1) }
        }
    }

    /// The cells of a record; nil where it breaks the format.
    private func cells(of payload: [UInt8]) -> [CellValue]? {
        let (reader, encoding) = (reader, encoding)
        return unsafe payload.withUnsafeBytes { bytes -> [CellValue]? in
            guard (try? unsafe reader.load(bytes)) != nil else { return nil }
            return (0..<reader.count).map { index in
                let type = reader.serialType(at: index)
                if let number = reader.integer(at: index) { return .integer(number) }
                if let number = reader.real(at: index) { return .real(number) }
                if type.isNull { return .null }
                let value = unsafe Array(reader.unsafeBytes(at: index))
                return type.isText ? .text(encoding.text(value)) : .blob(value)
            }
        }
    }
}

extension DatabaseHeader.TextEncoding {
    /// A text; what isn't of the encoding is replaced.
    func text(_ bytes: [UInt8]) -> String {
        if self == .utf8 { return String(decoding: bytes, as: UTF8.self) }
        let isLittle = self == .utf16LittleEndian
        var units: [UInt16] = []
        for place in stride(from: 0, to: bytes.count - 1, by: 2) {
            let (first, second) = (UInt16(bytes[place]), UInt16(bytes[place + 1]))
            units.append(isLittle ? second << 8 | first : first << 8 | second)
        }
        return String(decoding: units, as: UTF16.self)
    }
}
