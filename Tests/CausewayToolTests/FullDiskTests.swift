import CausewayReliabilityKit
import Foundation
import Testing

/// A file system in memory, filled to its last byte, as far as one can be mounted.
@Suite("A full disk, on the command line", .timeLimit(.minutes(60)))
struct FullDiskTests {
    private let folder: WorkFolder
    private let models: String

    init() throws {
        folder = try WorkFolder()
        models = folder.path("App.xcdatamodeld")
        let more = #"<attribute name="more" optional="YES" attributeType="String"/>"#
        for (version, more) in [("V1", ""), ("V2", more)] {
            let path = models + "/\(version).xcdatamodel"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            let text = """
                <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
                <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0"><entity name="Note">\
                <attribute name="text" optional="YES" attributeType="String"/>\(more)</entity></model>
                """
            try Data(text.utf8).write(to: URL(fileURLWithPath: path + "/contents"))
        }
    }

    /// Runs `body` with a folder on a disk of its own.
    private func onDisk(_ type: String, _ body: (String) throws -> Void) throws {
        let (place, image, log) = (folder.path("disk"), folder.path("image"), folder.path("mount.log"))
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        let disk: MountedDisk
        if type == "tmpfs" {
            disk = try MountedDisk.memory(at: place, bytes: 12 << 20, log: log)
        } else {
            try MountedDisk.format(image, as: type, bytes: 24 << 20, log: log)
            disk = try MountedDisk.image(image, as: type, at: place, log: log)
        }
        let result = Result { try body(place) }
        try disk.unmount()
        try result.get()
    }

    private func fill(_ place: String) throws {
        let file = place + "/fill"
        #expect(FileManager.default.createFile(atPath: file, contents: nil))
        let handle = try #require(FileHandle(forWritingAtPath: file))
        for size in [65_536, 4_096, 1] {
            while (try? handle.write(contentsOf: Data(count: size))) != nil {}
        }
        try handle.close()
    }

    private func generate(_ store: String) throws {
        let made = try ToolProcess(["generate", models, store, "--version", "V1", "--rows", "40", "--seed", "3"])
        #expect(made.status == 0, "\(made.errors)")
    }

    /// Core Data's mode; the `-wal` went with the last connection.
    private func setWAL(_ store: String) throws {
        let handle = try #require(FileHandle(forUpdatingAtPath: store))
        try handle.seek(toOffset: 18)
        try handle.write(contentsOf: Data([2, 2]))
        try handle.close()
    }

    @Test(
        "a store in WAL mode is read where no -shm can be made; migrate says what is missing, and purge-backup makes room",
        .enabled(if: MountedDisk.refusal(["mkfs.ext4"]) == nil, "no file system can be mounted here"),
        arguments: ["tmpfs", "ext4"])
    func full(type: String) throws {
        try onDisk(type) { place in
            let (old, new) = (place + "/Old.sqlite", place + "/New.sqlite")
            for store in [old, new] { try generate(store) }
            try #require(try ToolProcess(["migrate", new, "--models", models]).status == 0)
            for store in [old, new] { try setWAL(store) }
            try fill(place)
            let names = try FileManager.default.contentsOfDirectory(atPath: place).sorted()
            for command in [["inspect", new], ["verify", new], ["plan", old, "--models", models]] {
                let run = try ToolProcess(command)
                #expect(run.status == 0, "\(command): \(run.errors)")
            }
            let refused = try ToolProcess(["migrate", old, "--models", models])
            #expect(refused.status == 74)
            #expect(refused.errors.contains("make room") || refused.errors.contains("make space"), "\(refused.errors)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: place).sorted() == names)
            let purged = try ToolProcess(["purge-backup", new])
            #expect(purged.status == 0, "\(purged.errors)")
            #expect(purged.output.contains("removed \(new).premigration-"))
        }
    }

    @Test(
        "what can't be written to a full disk fails as such, and leaves nothing behind",
        .enabled(if: MountedDisk.refusal(["mkfs.ext4"]) == nil, "no file system can be mounted here"),
        arguments: ["tmpfs", "ext4"])
    func outputs(type: String) throws {
        let store = folder.path("Store.sqlite")
        try generate(store)
        try onDisk(type) { place in
            try fill(place)
            let names = try FileManager.default.contentsOfDirectory(atPath: place).sorted()
            let exports = [["--as", "jsonl"], ["--as", "csv"], ["--as", "sqlite"], ["--salvage"]]
            let commands =
                exports.map { ["export", store, "--output", place + "/Out"] + $0 }
                + [["models", models, "--check", place + "/shipped.json", "--record"]]
            for command in commands {
                let run = try ToolProcess(command)
                #expect(run.status == 74, "\(command): \(run.errors)")
                #expect(
                    ["make room", "make space", "is full"].contains { run.errors.contains($0) },
                    "\(command): \(run.errors)")
                #expect(try FileManager.default.contentsOfDirectory(atPath: place).sorted() == names)
            }
        }
    }
}
