import CausewayPlatform
import Foundation
import Testing

/// `setfattr` and `getfattr` aren't everywhere: Python's `os` module sets and reads the attributes.
@Suite("Owner, permissions and extended attributes", .timeLimit(.minutes(60))) struct AttributeTests {
    let folder: TemporaryFolder
    let (source, target): (String, String)

    init() throws {
        folder = try TemporaryFolder()
        (source, target) = (folder("from"), folder("to"))
        for path in [source, target] { try Data([1, 2]).write(to: URL(filePath: path)) }
    }

    /// Runs Python's `code` with `os` and the paths; nil if Python is missing or fails, as where there are no
    /// attributes.
    private static func python(_ code: String, _ paths: [String]) throws -> String? {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-c", "import os, sys\nsource, target = sys.argv[1:]\n" + code] + paths
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return process.terminationStatus == 0 ? String(decoding: text, as: UTF8.self) : nil
    }

    private func python(_ code: String) throws -> String? { try Self.python(code, [source, target]) }

    private static let hasAttributes: Bool = {
        let file = NSTemporaryDirectory() + "causeway-attributes-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: file) }
        return (try? python("open(source, 'w'); os.setxattr(source, 'user.text', b'1')", [file, file])) ?? nil != nil
    }()

    @Test("owner and permissions are carried over")
    func permissions() throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o604], ofItemAtPath: source)
        try Files.copyAttributes(from: source, to: target)
        let (from, to) = (try Files.status(of: source), try Files.status(of: target))
        #expect(to.mode == 0o604)
        #expect(to.userID == from.userID)
        #expect(to.groupID == from.groupID)
    }

    @Test(
        "the owner is carried over",
        .enabled(if: ProcessFacts.userID == 0, "only root can give a file to somebody else"))
    func owner() throws {
        try FileManager.default.setAttributes(
            [.ownerAccountID: 12_345, .groupOwnerAccountID: 12_346], ofItemAtPath: source)
        #expect(try Files.copyAttributes(from: source, to: target) == [])
        let status = try Files.status(of: target)
        #expect(status.userID == 12_345)
        #expect(status.groupID == 12_346)
    }

    #if os(Linux)
        @Test(
            "extended attributes are carried over, whatever their bytes",
            .enabled(if: hasAttributes, "no Python, or a file system without extended attributes"))
        func attributes() throws {
            let made = try python(
                """
                os.setxattr(source, "user.text", b"value")
                os.setxattr(source, "user.empty", b"")
                os.setxattr(source, "user.bytes", bytes(range(256)) * 8)
                os.setxattr(target, "user.text", b"another")
                """)
            #expect(made != nil)
            #expect(try Files.copyAttributes(from: source, to: target) == [])
            let values = try python("print([(n, os.getxattr(target, n)) for n in sorted(os.listxattr(source))])")
            #expect(values?.contains("user.text") == true)
            #expect(try python("print([(n, os.getxattr(source, n)) for n in sorted(os.listxattr(target))])") == values)
        }

        @Test(
            "an access control list is carried over; one that only the target has is removed",
            .enabled(if: hasAttributes, "no Python, or a file system without extended attributes"))
        func accessControlLists() throws {
            // The version, 2; then tag, permissions and number: owner rw, user 4711 r, group none, mask r, others none.
            let list = """
                import struct
                entries = [(1, 6, 0xFFFFFFFF), (2, 4, 4711), (4, 0, 0xFFFFFFFF), (16, 4, 0xFFFFFFFF), (32, 0, 0xFFFFFFFF)]
                acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)

                """
            #expect(try python(list + "os.setxattr(source, 'system.posix_acl_access', acl)") != nil)
            try Files.copyAttributes(from: source, to: target)
            #expect(try python(list + "print(os.getxattr(target, 'system.posix_acl_access') == acl)") == "True\n")
            #expect(try Files.status(of: target).mode == Files.status(of: source).mode)

            _ = try python("os.removexattr(source, 'system.posix_acl_access'); os.chmod(source, 0o600)")
            try Files.copyAttributes(from: source, to: target)
            #expect(try python("print([n for n in os.listxattr(target) if n.startswith('system.')])") == "[]\n")
            #expect(try Files.status(of: target).mode == 0o600)
        }
    #endif

    @Test("a link in the target's place is not followed")
    func linkedTarget() throws {
        try FileManager.default.createSymbolicLink(atPath: folder("link"), withDestinationPath: target)
        let error = #expect(throws: FileError.self) { try Files.copyAttributes(from: source, to: folder("link")) }
        #expect(error?.code == .symbolicLink)
    }

    @Test(
        "a folder where everybody may rename others' files is no safe parent",
        arguments: [(0o755, true), (0o700, true), (0o775, true), (0o777, false), (0o1777, true), (0o702, false)])
    func safeParents(mode: Int, isSafe: Bool) throws {
        try Files.makeDirectory(folder("parent"))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder("parent"))
        #expect(try Files.isSafeParent(folder("parent")) == isSafe)
    }

    @Test("a file and nothing at all are no parents")
    func noParent() {
        let file = #expect(throws: FileError.self) { try Files.isSafeParent(source) }
        #expect(file?.code == .notADirectory)
        let missing = #expect(throws: FileError.self) { try Files.isSafeParent(folder("none")) }
        #expect(missing?.code == .notFound)
    }
}
