/// A value in one of SQLite's storage classes.
package enum CellValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
}

/// Cells that are the same in every record of a pass (defaults of new columns, Z_ENT), encoded once.
///
/// Sendable although it holds pointers: the bytes are written before `init` returns and never after.
@safe
@usableFromInline package final class EncodedCells: @unchecked Sendable {
    @usableFromInline let header: UnsafeRawPointer
    @usableFromInline let body: UnsafeRawPointer
    @usableFromInline let headerLength: Int
    @usableFromInline let bodyLength: Int
    package let count: Int

    private let storage: UnsafeMutableRawPointer

    /// - Throws: `.tooLong` when the values are together over SQLite's largest record.
    package init(_ values: [CellValue]) throws(RecordError) {
        var types: [UInt8] = []
        var bytes: [UInt8] = []
        for value in values {
            switch value {
            case .null:
                Self.appendType(.null, to: &types)
            case .integer(let integer):
                let type = SerialType.integer(integer)
                Self.appendType(type, to: &types)
                Self.appendBigEndian(UInt64(bitPattern: integer), length: type.length, to: &bytes)
            case .real(let real) where real.isNaN:
                Self.appendType(.null, to: &types)
            case .real(let real):
                Self.appendType(.real, to: &types)
                Self.appendBigEndian(real.bitPattern, length: 8, to: &bytes)
            case .text(let text):
                if text.utf8.count > SerialType.maximumValueLength { throw RecordError(code: .tooLong, offset: 0) }
                Self.appendType(.text(length: text.utf8.count), to: &types)
                bytes.append(contentsOf: text.utf8)
            case .blob(let blob):
                if blob.count > SerialType.maximumValueLength { throw RecordError(code: .tooLong, offset: 0) }
                Self.appendType(.blob(length: blob.count), to: &types)
                bytes.append(contentsOf: blob)
            }
        }
        if types.count + bytes.count > SerialType.maximumValueLength { throw RecordError(code: .tooLong, offset: 0) }
        count = values.count
        headerLength = types.count
        bodyLength = bytes.count
        unsafe storage = .allocate(byteCount: max(1, types.count + bytes.count), alignment: 8)
        unsafe storage.copyBytes(of: types)
        unsafe (storage + types.count).copyBytes(of: bytes)
        unsafe header = UnsafeRawPointer(storage)
        unsafe body = UnsafeRawPointer(storage + types.count)
    }

    deinit {
        unsafe storage.deallocate()
    }

    private static func appendType(_ type: SerialType, to bytes: inout [UInt8]) {
        unsafe withUnsafeTemporaryAllocation(byteCount: Varint.maximumLength, alignment: 1) { scratch in
            guard let start = scratch.baseAddress else { return }
            let length = unsafe Varint.write(UInt64(type.rawValue), to: start)
            unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: scratch[..<length]))
        }
    }

    private static func appendBigEndian(_ value: UInt64, length: Int, to bytes: inout [UInt8]) {
        for index in (0..<length).reversed() {
            bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * index)))
        }
    }
}

extension UnsafeMutableRawPointer {
    fileprivate func copyBytes(of bytes: [UInt8]) {
        unsafe bytes.withUnsafeBytes { source in
            guard let start = source.baseAddress else { return }
            unsafe copyMemory(from: start, byteCount: source.count)
        }
    }
}
