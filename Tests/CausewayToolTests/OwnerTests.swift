import Foundation
import Testing

/// Stores that belong to another user. The tests need root to change owners and users.
@Suite(
    "Owners", .timeLimit(.minutes(60)),
    .enabled(if: OtherUser.canRun, "needs root, setpriv, and a build that other users may run"))
struct OwnerTests {
    private let owned: OwnedStore
    private var folder: WorkFolder { owned.folder }
    private var store: String { owned.store }

    init() throws { owned = try OwnedStore() }

    private func migrate(_ options: [String] = [], as user: UInt32?) throws -> ToolProcess {
        try owned.migrate(options, as: user)
    }

    private func give(_ place: UInt32, _ content: UInt32, mode: Int = 0o644) throws {
        try owned.give(place, content, mode: mode)
    }

    private func owner(_ path: String) throws -> UInt32? {
        try FileManager.default.attributesOfItem(atPath: path)[.ownerAccountID] as? UInt32
    }

    private func backup() throws -> String {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("Orchard"))
        return folder.path("Orchard/" + (try #require(names.first { $0.contains(".premigration-") })))
    }

    @Test("another user's store is refused in place, and nothing is written")
    func refused() throws {
        try give(OtherUser.number, 0, mode: 0o666)
        let before = try folder.content()
        let run = try migrate(as: OtherUser.number)
        #expect(run.status == 73, "\(run.errors)")
        #expect(run.errors.contains("the store belongs to another user"))
        #expect(run.errors.contains("--ignore-ownership"))
        #expect(try folder.content() == before)
    }

    @Test("--ignore-ownership makes the new store the caller's; the original keeps its owner")
    func ignored() throws {
        try give(OtherUser.number, 0, mode: 0o666)
        let original = try Data(contentsOf: URL(fileURLWithPath: store))
        let run = try migrate(["--ignore-ownership"], as: OtherUser.number)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try owner(store) == OtherUser.number)
        #expect(try owner(backup()) == 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: backup())) == original)
    }

    @Test("an output is the caller's, and the run says so; the source keeps its owner and bytes")
    func output() throws {
        try give(0, 0)
        let place = folder.path("mine")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.ownerAccountID: OtherUser.number], ofItemAtPath: place)
        let before = try folder.content().filter { $0.key.hasPrefix("Orchard") }
        let run = try migrate(["--output", place + "/New.sqlite"], as: OtherUser.number)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors.contains("belongs to you"))
        for name in try FileManager.default.subpathsOfDirectory(atPath: place) {
            #expect(try owner(place + "/" + name) == OtherUser.number, "\(name)")
        }
        #expect(FileManager.default.fileExists(atPath: place + "/New.sqlite"))
        #expect(try folder.content().filter { $0.key.hasPrefix("Orchard") } == before)
    }

    @Test("root migrates a user's store, and all of it stays the user's", arguments: [false, true])
    func root(hasOutput: Bool) throws {
        try give(OtherUser.number, OtherUser.number, mode: 0o640)
        let result = hasOutput ? folder.path("Orchard/New.sqlite") : store
        let run = try migrate(hasOutput ? ["--output", result] : [], as: nil)
        #expect(run.status == 0, "\(run.errors)")
        for path in hasOutput ? [store, result] : [try backup(), result] {
            #expect(try owner(path) == OtherUser.number, "\(path)")
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o640, "\(path)")
        }
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path("Orchard")) {
            #expect(try owner(folder.path("Orchard/" + name)) == OtherUser.number, "\(name)")
        }
    }

    @Test("a store of a group to which the caller can't give files is refused in place, before its rows are read")
    func foreignGroup() throws {
        try give(OtherUser.number, OtherUser.number)
        try FileManager.default.setAttributes([.groupOwnerAccountID: 0], ofItemAtPath: store)
        let before = try folder.content()
        let run = try migrate(as: OtherUser.number)
        #expect(run.status == 73, "\(run.errors)")
        #expect(run.errors.contains("belongs to group 0"))
        #expect(run.errors.contains("--ignore-ownership"))
        #expect(try folder.content() == before)
        #expect(try migrate(["--ignore-ownership"], as: OtherUser.number).status == 0)
    }

    @Test("in a setgid folder the new store can have the folder's group")
    func folderGroup() throws {
        try give(OtherUser.number, OtherUser.number)
        let root = folder.path("Orchard")
        for path in [store, root] {
            try FileManager.default.setAttributes([.groupOwnerAccountID: 0], ofItemAtPath: path)
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o2755], ofItemAtPath: root)
        let run = try migrate(as: OtherUser.number)
        #expect(run.status == 0, "\(run.errors)")
        let group = try FileManager.default.attributesOfItem(atPath: store)[.groupOwnerAccountID] as? UInt32
        #expect(group == 0)
    }

    @Test("a read-only store is refused in place, before its rows are read, and migrated to an output")
    func readOnly() throws {
        try give(OtherUser.number, OtherUser.number, mode: 0o444)
        let before = try folder.content()
        let run = try migrate(["-v"], as: OtherUser.number)
        #expect(run.status == 73, "\(run.errors)")
        #expect(run.errors.contains("read-only"))
        #expect(run.errors.contains("the store is untouched"))
        #expect(!run.errors.contains("check\n"))
        #expect(try folder.content() == before)
        let output = folder.path("Orchard/New.sqlite")
        let other = try migrate(["--output", output], as: OtherUser.number)
        #expect(other.status == 0, "\(other.errors)")
        #expect(try FileManager.default.attributesOfItem(atPath: output)[.posixPermissions] as? Int == 0o444)
    }

    @Test("another user's store in a folder with the sticky bit is refused, even with --ignore-ownership")
    func sticky() throws {
        try give(0, 0, mode: 0o666)
        try FileManager.default.setAttributes([.posixPermissions: 0o1777], ofItemAtPath: folder.path("Orchard"))
        let before = try folder.content()
        let run = try migrate(["--ignore-ownership"], as: OtherUser.number)
        #expect(run.status == 73, "\(run.errors)")
        #expect(run.errors.contains("sticky"))
        #expect(try folder.content() == before)
    }

    @Test("an external file that can't be read is found before the run", arguments: [false, true])
    func unreadableExternalFile(quarantines: Bool) throws {
        try give(OtherUser.number, OtherUser.number)
        let files = folder.path("Orchard/.Orchard-v1_SUPPORT/_EXTERNAL_DATA")
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: files).sorted().first)
        try FileManager.default.setAttributes(
            [.ownerAccountID: 0, .posixPermissions: 0o600], ofItemAtPath: files + "/" + name)
        let before = try folder.content()
        let output = folder.path("Orchard/New.sqlite")
        let rejects = folder.path("Orchard/rejects")
        let run = try migrate(
            ["--output", output] + (quarantines ? ["--bad-rows", "quarantine", "--rejects", rejects] : []),
            as: OtherUser.number)
        #expect(run.errors.contains("can't be read"))
        if quarantines {
            #expect(run.status == 0, "\(run.errors)")
            #expect(try String(contentsOfFile: rejects, encoding: .utf8).contains("\"kept\":true"))
            let copies = folder.path("Orchard/.New_SUPPORT/_EXTERNAL_DATA")
            #expect(try !FileManager.default.contentsOfDirectory(atPath: copies).contains(name))
        } else {
            #expect(run.status == 65, "\(run.errors)")
            #expect(try folder.content() == before)
        }
    }

    /// The mode of the external files' folder, nil for a file in its place, and the message about it.
    static let folders: [(mode: Int?, says: String)] = [
        (0o000, "can't be read"), (0o444, "can't be read"), (nil, "isn't in"),
    ]

    @Test("a folder of external files that can't be read is reported for the rows that need it", arguments: folders)
    func unreadableExternalFolder(mode: Int?, says: String) throws {
        try give(OtherUser.number, OtherUser.number)
        let files = folder.path("Orchard/.Orchard-v1_SUPPORT/_EXTERNAL_DATA")
        if let mode {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: files)
        } else {
            try FileManager.default.removeItem(atPath: files)
            try Data().write(to: URL(fileURLWithPath: files))
        }
        let verification = try ToolProcess(
            ["verify", store, "--models", folder.path("Orchard/Orchard.xcdatamodeld")], as: OtherUser.number)
        #expect(verification.status == 65, "\(verification.errors)")
        #expect((verification.output + verification.errors).contains(says), "\(verification.output)")
        let output = ["--output", folder.path("Orchard/New.sqlite")]
        let run = try migrate(output, as: OtherUser.number)
        // Where there are no files, an output lacks none.
        #expect(run.status == (mode == nil ? 0 : 65), "\(run.errors)")
        #expect(run.errors.contains(says) && run.errors.contains("x-coredata://"), "\(run.errors)")
        let quarantine = ["--bad-rows", "quarantine", "--rejects", folder.path("Orchard/rejects")]
        let another = ["--output", folder.path("Orchard/Another.sqlite")]
        let other = try migrate(another + quarantine, as: OtherUser.number)
        #expect(other.status == 0, "\(other.errors)")
    }

    @Test("an external files' folder that can't be listed is refused where the files must be copied")
    func unlistedExternalFolder() throws {
        try give(OtherUser.number, OtherUser.number)
        let files = folder.path("Orchard/.Orchard-v1_SUPPORT/_EXTERNAL_DATA")
        try FileManager.default.setAttributes([.posixPermissions: 0o111], ofItemAtPath: files)
        let before = try folder.content()
        let run = try migrate(["-v", "--output", folder.path("Orchard/New.sqlite")], as: OtherUser.number)
        #expect(run.status == 66, "\(run.errors)")
        #expect(run.errors.contains(files) && run.errors.contains("chmod u+r"), "\(run.errors)")
        #expect(!run.errors.contains("check\n"), "before the rows are read")
        #expect(try folder.content() == before)
        // In place they stay where they are.
        #expect(try migrate(as: OtherUser.number).status == 0)
    }

    @Test("a folder without write permission is refused in place")
    func closedFolder() throws {
        try give(0, OtherUser.number)
        let before = try folder.content()
        let run = try migrate(as: OtherUser.number)
        #expect(run.status == 73, "\(run.errors)")
        #expect(run.errors.contains("--output"))
        #expect(try folder.content() == before)
    }
}
