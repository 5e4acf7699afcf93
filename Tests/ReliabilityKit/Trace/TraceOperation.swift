/// One operation of a traced command on a file under the watched folder, in the kernel's order.
package struct TraceOperation: Sendable {
    /// As in causeway_fault_shim.h.
    package enum Kind: UInt16, Sendable {
        case create = 1, cut, write, truncate, sync, rename, link, unlink, makeDirectory, removeDirectory
        case changeMode, changeOwner, setAttribute, allocate
        /// A write to standard output or error; `path` is its number.
        case output
    }

    package var kind: Kind
    /// A failed sync. No other failed call is recorded, because it changes nothing.
    package var failed = false
    package var inode: UInt64 = 0
    package var offset = 0
    package var flags: UInt32 = 0
    package var path = ""
    package var path2 = ""
    package var data: [UInt8] = []

    package init(
        kind: Kind, failed: Bool = false, inode: UInt64 = 0, offset: Int = 0, flags: UInt32 = 0, path: String = "",
        path2: String = "", data: [UInt8] = []
    ) {
        self.kind = kind
        self.failed = failed
        self.inode = inode
        self.offset = offset
        self.flags = flags
        self.path = path
        self.path2 = path2
        self.data = data
    }
}

/// What a command did under a folder.
package struct Trace: Sendable {
    package var operations: [TraceOperation]

    package init(_ operations: [TraceOperation]) {
        self.operations = operations
    }
}

extension Trace {
    private static let recordMagic: UInt64 = 0x5246_5743
    private static let headLength = 48

    /// Reads what the shim has written.
    ///
    /// - Throws: `HarnessError` if the bytes aren't a trace. A last record that the command's end cut short is ignored.
    package init(_ bytes: [UInt8]) throws {
        var operations: [TraceOperation] = []
        var position = 0
        while position + Self.headLength <= bytes.count {
            func number(_ offset: Int, _ length: Int) -> UInt64 {
                (0..<length).reduce(0) { $0 | UInt64(bytes[position + offset + $1]) << (8 * UInt64($1)) }
            }
            guard number(0, 4) == Self.recordMagic, let kind = TraceOperation.Kind(rawValue: UInt16(number(4, 2)))
            else { throw HarnessError("the trace can't be read at byte \(position)") }
            let (dataLength, pathLength, path2Length) = (Int(number(24, 8)), Int(number(36, 4)), Int(number(40, 4)))
            let pathStart = position + Self.headLength
            let path2Start = pathStart + pathLength
            let dataStart = path2Start + path2Length
            let end = dataStart + dataLength
            guard end <= bytes.count else { break }
            operations.append(
                TraceOperation(
                    kind: kind, failed: number(6, 2) != 0, inode: number(8, 8), offset: Int(number(16, 8)),
                    flags: UInt32(number(32, 4)),
                    path: String(decoding: bytes[pathStart..<path2Start], as: UTF8.self),
                    path2: String(decoding: bytes[path2Start..<dataStart], as: UTF8.self),
                    data: Array(bytes[dataStart..<end])))
            position = end
        }
        self.operations = operations
    }

    /// The same with paths relative to a folder; the folder itself is the empty path.
    package func relative(to folder: String) -> Trace {
        func shortened(_ path: String) -> String {
            if path == folder { return "" }
            return path.hasPrefix(folder + "/") ? String(path.dropFirst(folder.count + 1)) : path
        }
        return Trace(
            operations.map { operation in
                var operation = operation
                guard operation.kind != .output else { return operation }
                operation.path = shortened(operation.path)
                operation.path2 = operation.kind == .setAttribute ? operation.path2 : shortened(operation.path2)
                return operation
            })
    }
}
