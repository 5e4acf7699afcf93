/// Applies changes of data to a file's bytes.
enum FileImage {
    /// Bytes that a disk writes as one unit.
    static let sector = 512

    /// How much of a change is on the disk.
    enum Part: Hashable, Sendable {
        case whole
        /// The first half, cut at a sector.
        case front
        /// The second half; the first half is unchanged.
        case back
        /// The file has grown, but the new part is zeros.
        case size
    }

    static func apply(_ change: DiskModel.DataChange.Kind, _ part: Part, to bytes: inout [UInt8]) {
        switch change {
        case .truncate(let length): resize(&bytes, to: length)
        case .extend(let length): resize(&bytes, to: max(bytes.count, length))
        case .write(let offset, let data):
            let end = offset + data.count
            if end > bytes.count { resize(&bytes, to: part == .front ? max(bytes.count, cut(offset, end)) : end) }
            switch part {
            case .whole: copy(data, 0, data.count, to: &bytes, at: offset)
            case .front: copy(data, 0, cut(offset, end) - offset, to: &bytes, at: offset)
            case .back:
                let start = cut(offset, end)
                copy(data, start - offset, end - start, to: &bytes, at: start)
            case .size: break
            }
        }
    }

    /// The sector boundary in the middle of a write; its end if it contains none.
    private static func cut(_ start: Int, _ end: Int) -> Int {
        let middle = ((start + end) / 2 + sector - 1) / sector * sector
        return middle <= start || middle >= end ? end : middle
    }

    /// Whether half of the change differs from none and from all of it.
    static func canTear(_ change: DiskModel.DataChange.Kind) -> Bool {
        guard case .write(let offset, let data) = change else { return false }
        return cut(offset, offset + data.count) < offset + data.count
    }

    private static func resize(_ bytes: inout [UInt8], to length: Int) {
        if length < bytes.count {
            bytes.removeLast(bytes.count - length)
        } else if length > bytes.count {
            bytes.append(contentsOf: [UInt8](repeating: 0, count: length - bytes.count))
        }
    }

    private static func copy(_ data: [UInt8], _ start: Int, _ count: Int, to bytes: inout [UInt8], at offset: Int) {
        guard count > 0, start >= 0, start + count <= data.count, offset + count <= bytes.count else { return }
        unsafe bytes.withUnsafeMutableBytes { target in
            unsafe data.withUnsafeBytes { source in
                unsafe UnsafeMutableRawBufferPointer(rebasing: target[offset..<offset + count])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: source[start..<start + count]))
            }
        }
    }
}
