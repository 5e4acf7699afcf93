import Foundation
import Testing

/// A store of external data with its models, in a folder of its own, which can be given to others.
struct OwnedStore {
    let folder: WorkFolder
    let store: String

    /// Fixtures/Orchard, external data included, in a folder of its own.
    init() throws {
        folder = try WorkFolder()
        store = try folder.addOrchard()
        // It is in WAL mode, where a folder without write permission affects the -shm (`ClosedStoreTests`).
        try setWAL(false)
    }

    /// Changes the header's flag; there is no -wal.
    func setWAL(_ isOn: Bool) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: store))
        try file.seek(toOffset: 18)
        try file.write(contentsOf: isOn ? [2, 2] : [1, 1])
        try file.close()
    }

    func migrate(_ options: [String] = [], as user: UInt32?) throws -> ToolProcess {
        try ToolProcess(
            ["migrate", store, "--models", folder.path("Orchard/Orchard.xcdatamodeld")] + options,
            environment: ["TMPDIR": folder.path("Orchard")], as: user)
    }

    /// Gives the folder one owner, and everything in it another.
    func give(_ place: UInt32, _ content: UInt32, mode: Int = 0o644) throws {
        let root = folder.path("Orchard")
        for name in try FileManager.default.subpathsOfDirectory(atPath: root) {
            let path = root + "/" + name
            let type = try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
            try FileManager.default.setAttributes(
                [.ownerAccountID: content, .groupOwnerAccountID: content], ofItemAtPath: path)
            try FileManager.default.setAttributes(
                [.posixPermissions: type == .typeDirectory ? 0o755 : mode], ofItemAtPath: path)
        }
        try FileManager.default.setAttributes(
            [.ownerAccountID: place, .groupOwnerAccountID: place], ofItemAtPath: root)
    }
}

/// A user with no rights of its own.
enum OtherUser {
    /// Debian's “nobody”; the number needs no name.
    static let number: UInt32 = 65_534

    static let orchard = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Fixtures/Orchard").path

    /// Whether this user can run the tool: others can't read a build in a home folder.
    static let canRun = getuid() == 0 && (try? ToolProcess(["--version"], as: number))?.status == 0
}
