#if canImport(Darwin)
    internal import Darwin
#else
    internal import CausewayCPlatform
    internal import Glibc
#endif

extension Files {
    /// Copies everything except the content from `source` to `target`: the owner, the permissions, then the extended
    /// attributes with the access control list; on macOS by `copyfile`.
    ///
    /// Attributes that only `target` has are removed: it may have inherited an access control list from its folder that
    /// lets others in. `source` is only read by its path, so SQLite may have it open.
    ///
    /// - Parameters:
    ///   - source: The file whose attributes are wanted; links are followed.
    ///   - target: The file that gets them; no link, and not open in SQLite.
    ///   - ignoringOwner: The owner stays where the process may not change it.
    ///   - mark: The target's own mark; nil for none. The source's is never copied.
    /// - Returns: The names of attributes that stay different because only the system or root may change them: those of
    ///   `security.` and `trusted.` that were refused with EPERM or ENOTSUP. Everything else that is refused is an
    ///   error.
    /// - Throws: `.permissionDenied` when the owner differs and the process may not change it.
    @discardableResult
    package static func copyAttributes(
        from source: String, to target: String, ignoringOwner: Bool = false, mark: String? = nil
    ) throws(FileError) -> [String] {
        let wanted = try status(of: source)
        let file = try OpenFile(target, mode: .read, followsLinks: false)
        let found = try file.status()
        if found.userID != wanted.userID || found.groupID != wanted.groupID {
            do throws(FileError) {
                try file.setOwner(userID: wanted.userID, groupID: wanted.groupID)
            } catch {
                guard ignoringOwner, error.code == .permissionDenied else { throw error }
                // The group may still be one of the caller's; if not, it stays.
                try? file.setOwner(userID: found.userID, groupID: wanted.groupID)
            }
        }
        #if canImport(Darwin)
            // After the owner: changing that clears the set-user-ID bits.
            try file.setPermissions(wanted.mode)
            _ = try SystemCall.run("copy the attributes of", source) {
                unsafe copyfile(source, target, nil, copyfile_flags_t(COPYFILE_XATTR | COPYFILE_ACL))
            }
            try file.setMark(mark)
            return []
        #else
            let attributes = try ExtendedAttributes.names(of: source).filter { $0 != markName }
            // Before the permissions: while there is an access control list, they set its mask.
            var refused = try file.removeAttributes(except: attributes)
            // They may be those of a file that nobody may write to.
            try file.setMark(mark)
            try file.setPermissions(wanted.mode)
            for name in attributes {
                let value = try ExtendedAttributes.value(of: name, of: source)
                if try !file.setAttribute(name, value) { refused.append(name) }
            }
            return refused
        #endif
    }
}

#if !canImport(Darwin)
    private enum ExtendedAttributes {
        /// Bytes of a value, and of all names of a file with their NULs, that Linux gives at most (XATTR_SIZE_MAX and
        /// XATTR_LIST_MAX of its limits.h): a buffer of this length is never too short.
        static let maximumLength = 65_536

        static func names(of path: String) throws(FileError) -> [String] {
            try SystemCall.check("list the attributes of", path)
            return try unsafe names(of: path) { buffer, size in unsafe causeway_listxattr(path, buffer, size) }
        }

        static func value(of name: String, of path: String) throws(FileError) -> [UInt8] {
            var buffer = [UInt8](repeating: 0, count: maximumLength)
            let count = try SystemCall.run("read the attribute \(name) of", path) {
                unsafe causeway_getxattr(path, name, &buffer, maximumLength)
            }
            return Array(buffer.prefix(count))
        }

        /// The names that a call lists; none where the file system has no attributes.
        static func names(
            of path: String, _ call: (_ buffer: UnsafeMutablePointer<CChar>, _ size: Int) -> Int
        ) throws(FileError) -> [String] {
            var buffer = [CChar](repeating: 0, count: maximumLength)
            let count: Int
            do throws(FileError) {
                count = try SystemCall.run("list the attributes of", path) { unsafe call(&buffer, maximumLength) }
            } catch {
                if error.errorNumber == ENOTSUP { return [] }
                throw error
            }
            return try buffer.prefix(count).split(separator: 0).map { bytes throws(FileError) in
                guard let name = String(validating: bytes.map { UInt8(bitPattern: $0) }, as: UTF8.self) else {
                    throw FileError(
                        code: .badName, operation: "list the attributes of", path: path,
                        message: "an extended attribute has a name that isn't UTF-8; remove it (setfattr -x)")
                }
                return name
            }
        }

        /// Whether a refusal is ignored: attributes of the kernel's security modules, and those of administrators.
        static func isPrivileged(_ name: String, _ error: FileError) -> Bool {
            (name.hasPrefix("security.") || name.hasPrefix("trusted."))
                && (error.errorNumber == EPERM || error.errorNumber == ENOTSUP)
        }
    }

    extension OpenFile {
        /// - Returns: the names of those that may not be removed.
        fileprivate func removeAttributes(except kept: [String]) throws(FileError) -> [String] {
            let descriptor = descriptor
            let found = try unsafe ExtendedAttributes.names(of: path) { buffer, size in
                unsafe causeway_flistxattr(descriptor, buffer, size)
            }
            var refused: [String] = []
            for name in found where !kept.contains(name) {
                do throws(FileError) {
                    _ = try SystemCall.run("remove the attribute \(name) of", path) {
                        unsafe causeway_fremovexattr(descriptor, name)
                    }
                } catch {
                    guard ExtendedAttributes.isPrivileged(name, error) else { throw error }
                    refused.append(name)
                }
            }
            return refused
        }

        /// - Returns: false where only the system or root may set it.
        fileprivate func setAttribute(_ name: String, _ value: [UInt8]) throws(FileError) -> Bool {
            let descriptor = descriptor
            // Security modules refuse to set an existing attribute.
            var buffer = [UInt8](repeating: 0, count: ExtendedAttributes.maximumLength)
            let count = unsafe causeway_fgetxattr(descriptor, name, &buffer, buffer.count)
            if count >= 0, buffer.prefix(count) == value[...] { return true }
            do throws(FileError) {
                _ = try SystemCall.run("set the attribute \(name) of", path) {
                    unsafe causeway_fsetxattr(descriptor, name, value, value.count)
                }
                return true
            } catch {
                guard ExtendedAttributes.isPrivileged(name, error) else { throw error }
                return false
            }
        }
    }
#endif
