#if canImport(Darwin)
    internal import Darwin
#else
    internal import CausewayCPlatform
    internal import Glibc
#endif

/// Causeway's own mark of a file: a short text in an extended attribute, which moves with the file and is no content of
/// it. `copyAttributes` never copies it.
extension Files {
    #if canImport(Darwin)
        static let markName = "causeway.made-of"
    #else
        static let markName = "user.causeway.made-of"
    #endif
    /// Bytes that a mark has at most.
    private static let markLength = 256

    /// The file's mark; nil where it has none, or where the file system has no attributes.
    package static func mark(of path: String) throws(FileError) -> String? {
        var buffer = [UInt8](repeating: 0, count: markLength)
        do throws(FileError) {
            let count = try SystemCall.run("read the attribute \(markName) of", path) {
                #if canImport(Darwin)
                    unsafe getxattr(path, markName, &buffer, markLength, 0, 0)
                #else
                    unsafe causeway_getxattr(path, markName, &buffer, markLength)
                #endif
            }
            return String(validating: buffer.prefix(count), as: UTF8.self)
        } catch {
            #if canImport(Darwin)
                let isAbsent = error.errorNumber == ENOATTR
            #else
                let isAbsent = error.errorNumber == ENODATA
            #endif
            // Another program's attribute of that name may be longer.
            guard isAbsent || error.errorNumber == ENOTSUP || error.errorNumber == ERANGE else { throw error }
            return nil
        }
    }
}

extension OpenFile {
    /// Gives the file this mark and no other; none where the file system has no attributes, or no room for them.
    func setMark(_ text: String?) throws(FileError) {
        let descriptor = descriptor
        do throws(FileError) {
            guard let text else { return try removeMark() }
            let value = Array(text.utf8)
            _ = try SystemCall.run("set the attribute \(Files.markName) of", path) {
                #if canImport(Darwin)
                    unsafe fsetxattr(descriptor, Files.markName, value, value.count, 0, 0)
                #else
                    unsafe causeway_fsetxattr(descriptor, Files.markName, value, value.count)
                #endif
            }
        } catch {
            guard [ENOTSUP, ENOSPC, EDQUOT, EPERM, EACCES].contains(error.errorNumber) else { throw error }
        }
    }

    /// `copyfile` has copied the source's; elsewhere there is none.
    private func removeMark() throws(FileError) {
        #if canImport(Darwin)
            let descriptor = descriptor
            do throws(FileError) {
                _ = try SystemCall.run("remove the attribute \(Files.markName) of", path) {
                    fremovexattr(descriptor, Files.markName, 0)
                }
            } catch {
                guard error.errorNumber == ENOATTR else { throw error }
            }
        #endif
    }
}
