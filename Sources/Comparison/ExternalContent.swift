import CausewayDigests
import CausewayPlatform
import CausewaySQLite
import CausewayStores

/// Values of attributes that allow external storage, compared by their data: one store may have in a file what the
/// other has in its row, and the files' names are random (InsideStoreFormat §4.3).
struct ExternalContent {
    /// The folders of the two stores.
    let a: ExternalValues
    let b: ExternalValues
    /// References whose files can't be read, of both stores.
    private(set) var unreadable = 0

    init(_ a: StoreLocation, _ b: StoreLocation) {
        self.a = ExternalValues(directory: a.externalData)
        self.b = ExternalValues(directory: b.externalData)
    }

    /// Compares two cells.
    mutating func verdict(
        _ row: borrowing Statement, _ first: Int, _ other: borrowing Statement, _ second: Int
    ) throws -> CellVerdict {
        let plain = CellComparison.verdict(row, first, other, second)
        let (name, otherName) = (Self.fileName(in: row, first), Self.fileName(in: other, second))
        if name == nil, otherName == nil { return plain }
        guard row.type(at: first) == .blob, other.type(at: second) == .blob else { return plain }
        let path = try name.flatMap { try readable($0, in: a) }
        let otherPath = try otherName.flatMap { try readable($0, in: b) }
        if name != nil && path == nil || otherName != nil && otherPath == nil {
            // Two missing files are equal if they are the same one.
            return path == nil && otherPath == nil ? plain : .different
        }
        let isEqual: Bool
        switch (path, otherPath) {
        case (let path?, let otherPath?): isEqual = try path == otherPath || Files.haveSameContent(path, otherPath)
        case (let path?, nil): isEqual = try isInline(other.bytes(at: second), equalTo: path)
        case (nil, let otherPath?): isEqual = try isInline(row.bytes(at: first), equalTo: otherPath)
        case (nil, nil): return plain
        }
        return isEqual ? .equal : .different
    }

    /// The digest of a value's data; nil where its file can't be read.
    mutating func digest(of row: borrowing Statement, _ column: Int, isFirst: Bool) throws -> [UInt8]? {
        let values = isFirst ? a : b
        guard let name = Self.fileName(in: row, column) else {
            let bytes = row.bytes(at: column) ?? []
            let isPrefixed = bytes.first == ExternalValues.inlinePrefix
            return MessageDigest.of(isPrefixed ? bytes.dropFirst() : bytes[...])
        }
        guard let path = try readable(name, in: values) else { return nil }
        return try Self.digest(ofFile: path)
    }

    /// A reference is short: longer values aren't copied.
    private static func fileName(in row: borrowing Statement, _ column: Int) -> String? {
        guard row.type(at: column) == .blob, row.byteCount(at: column) == ExternalValues.referenceLength else {
            return nil
        }
        return row.bytes(at: column).flatMap { ExternalValues.fileName(in: $0) }
    }

    private mutating func readable(_ name: String, in values: ExternalValues) throws -> String? {
        guard try values.trouble(withFile: name) == nil else {
            unreadable += 1
            return nil
        }
        return values.directory + "/" + name
    }

    /// Whether a value in a row, after its first byte, is a file's content. The file is read only if it is as long.
    private func isInline(_ value: [UInt8]?, equalTo path: String) throws -> Bool {
        guard let value, value.first == ExternalValues.inlinePrefix,
            try Files.status(of: path).size == Int64(value.count - 1)
        else { return false }
        return try Files.readFile(path, limit: value.count, followsLinks: false).elementsEqual(value.dropFirst())
    }

    /// Bytes of a file that are read at once.
    private static let piece = 1 << 20

    private static func digest(ofFile path: String) throws -> [UInt8] {
        let file = try OpenFile(path, mode: .read, followsLinks: false)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: piece, alignment: 4_096)
        defer { unsafe buffer.deallocate() }
        var digest = MessageDigest(.sha256)
        var offset: Int64 = 0
        while true {
            let count = try unsafe file.read(into: buffer, at: offset)
            unsafe digest.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            if count < piece { return digest.finish() }
            offset += Int64(count)
        }
    }
}

extension Statement {
    /// Bytes of a blob; 0 for NULL.
    fileprivate func byteCount(at column: Int) -> Int { unsafe unsafeBytes(at: column).count }
}
