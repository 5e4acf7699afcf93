internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A folder into which states are written, one after the other.
struct StateFolder {
    let path: String

    init(_ path: String) throws {
        self.path = path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    /// Empties the folder and writes a state.
    ///
    /// - Parameters:
    ///   - state: the state after a crash.
    ///   - without: a folder of the state that is left out.
    /// - Throws: errors of the file system.
    func fill(_ state: CrashState, without: String? = nil) throws {
        try clear()
        for folder in state.folders where folder.path != without {
            guard unsafe mkdir(path + "/" + folder.path, 0o700) == 0 else { throw failure(folder.path) }
            guard unsafe chmod(path + "/" + folder.path, folder.mode) == 0 else { throw failure(folder.path) }
        }
        let files = state.files.filter { file in without.map { !file.path.hasPrefix($0 + "/") } ?? true }
        for file in files { try write(file.content.bytes, file.path, file.mode) }
        try join(files)
        try renumber(files)
    }

    /// A crash keeps the inode numbers of files, which a record may contain. The files here have new numbers, which are
    /// written into the record.
    private func renumber(_ files: [CrashState.File]) throws {
        for file in files where Self.isRecord(file.path) {
            var text = String(decoding: file.content.bytes, as: UTF8.self)
            for named in files where text.contains("\(named.inode)") {
                let status = try FileManager.default.attributesOfItem(atPath: path + "/" + named.path)
                guard let inode = status[.systemFileNumber] as? NSNumber else { throw failure(named.path) }
                text = text.replacingOccurrences(
                    of: "\\b\(named.inode)\\b", with: "\(inode.uint64Value)", options: .regularExpression)
            }
            guard Array(text.utf8) != file.content.bytes else { continue }
            guard unsafe unlink(path + "/" + file.path) == 0 else { throw failure(file.path) }
            try write(Array(text.utf8), file.path, file.mode)
        }
    }

    private static func isRecord(_ path: String) -> Bool {
        path.hasPrefix(Subject.workName + "/") && (path.hasSuffix(".json") || path.hasSuffix(".json.tmp"))
    }

    /// Makes names of one file names of one file again.
    private func join(_ files: [CrashState.File]) throws {
        for (index, file) in files.enumerated() {
            guard let first = files[..<index].first(where: { $0.node == file.node }) else { continue }
            let name = path + "/" + file.path
            guard unsafe unlink(name) == 0, unsafe link(path + "/" + first.path, name) == 0 else {
                throw failure(file.path)
            }
        }
    }

    private func write(_ bytes: [UInt8], _ name: String, _ mode: UInt32) throws {
        let descriptor = unsafe open(path + "/" + name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw failure(name) }
        defer { _ = close(descriptor) }
        var written = 0
        while written < bytes.count {
            let done = unsafe bytes[written...].withUnsafeBytes { rest in
                #if canImport(Darwin)
                    unsafe Darwin.write(descriptor, rest.baseAddress, rest.count)
                #else
                    unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
                #endif
            }
            guard done > 0 else { throw failure(name) }
            written += done
        }
        guard fchmod(descriptor, mode) == 0 else { throw failure(name) }
    }

    private func clear() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            try FileManager.default.removeItem(atPath: path + "/" + name)
        }
    }

    private func failure(_ name: String) -> HarnessError {
        HarnessError("\(path)/\(name): can't be made: errno \(errno)")
    }
}
