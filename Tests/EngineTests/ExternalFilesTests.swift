import CausewayEngine
import CausewayStores
import Foundation
import Testing

/// Copying the files of externally stored values to an output's folder.
@Suite("External files of an output", .timeLimit(.minutes(60)))
struct ExternalFilesTests {
    private static let name = "0A1B2C3D-0000-4000-8000-00000000ABCD"
    private static let content = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })

    private func scenario() throws -> Scenario {
        let scenario = try Scenario(FailureTests.from, FailureTests.to, rows: FailureTests.rows)
        try FileManager.default.createDirectory(atPath: from(scenario), withIntermediateDirectories: true)
        try Self.content.write(to: URL(filePath: "\(from(scenario))/\(Self.name)"))
        return scenario
    }

    private func from(_ scenario: Scenario) -> String { scenario.folder + "/.Store_SUPPORT/_EXTERNAL_DATA" }
    private func to(_ scenario: Scenario) -> String { scenario.folder + "/.Out_SUPPORT/_EXTERNAL_DATA" }

    private func set(_ mode: Int, _ path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    private func mode(_ path: String) throws -> Int? {
        (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
    }

    @Test(
        "an output that would share the source's folder is refused before a byte is written",
        arguments: ["Store.db", "Store"], [true, false])
    func shared(_ output: String, hasFiles: Bool) throws {
        let scenario = try scenario()
        if !hasFiles { try FileManager.default.removeItem(atPath: scenario.folder + "/.Store_SUPPORT") }
        let before = try snapshot(scenario.folder)
        let error = try failure { _ = try EngineRun.output(scenario.request(to: "V2"), as: output) }
        #expect(error.kind == .cannotCreate)
        #expect(error.message.contains("/Store.sqlite") && error.message.contains("/\(output) "), "\(error)")
        #expect(try snapshot(scenario.folder) == before)
    }

    @Test("a folder that is a link to the source's counts as the source's")
    func linked() throws {
        let scenario = try scenario()
        try FileManager.default.createSymbolicLink(
            atPath: scenario.folder + "/.Out_SUPPORT", withDestinationPath: ".Store_SUPPORT")
        #expect(
            try failure { _ = try EngineRun.output(scenario.request(to: "V2"), as: "Out.sqlite") }.kind == .cannotCreate
        )
        #expect(try Data(contentsOf: URL(filePath: "\(from(scenario))/\(Self.name)")) == Self.content)
    }

    @Test("files and folders keep their permissions", arguments: [(0o600, 0o700), (0o640, 0o750), (0o444, 0o755)])
    func permissions(file: Int, folder: Int) throws {
        let scenario = try scenario()
        try set(file, "\(from(scenario))/\(Self.name)")
        try set(folder, from(scenario))
        try set(folder, scenario.folder + "/.Store_SUPPORT")
        _ = try EngineRun.output(scenario.request(to: "V2"), as: "Out.sqlite")
        #expect(try mode("\(to(scenario))/\(Self.name)") == file)
        #expect(try mode(to(scenario)) == folder)
        #expect(try mode(scenario.folder + "/.Out_SUPPORT") == folder)
        #expect(try Data(contentsOf: URL(filePath: "\(to(scenario))/\(Self.name)")) == Self.content)
        #expect(try FileManager.default.contentsOfDirectory(atPath: to(scenario)) == [Self.name])
    }

    @Test("folders that a killed run left private and empty get their permissions")
    func privateFolders() throws {
        let scenario = try scenario()
        let support = scenario.folder + "/.Out_SUPPORT"
        try FileManager.default.createDirectory(
            atPath: support, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try set(0o755, scenario.folder + "/.Store_SUPPORT")
        _ = try EngineRun.output(scenario.request(to: "V2"), as: "Out.sqlite")
        #expect(try mode(support) == 0o755)
    }

    @Test("a folder that other stores use stays as it is")
    func foreignFolder() throws {
        let scenario = try scenario()
        try FileManager.default.createDirectory(atPath: to(scenario), withIntermediateDirectories: true)
        let other = to(scenario) + "/0A1B2C3D-0000-4000-8000-000000001234"
        try Data([1]).write(to: URL(filePath: other))
        try set(0o700, to(scenario))
        _ = try EngineRun.output(scenario.request(to: "V2"), as: "Out.sqlite")
        #expect(try mode(to(scenario)) == 0o700)
        #expect(try Data(contentsOf: URL(filePath: other)) == Data([1]))
    }

    @Test("an existing file with other content is never replaced; all work is kept until it is removed")
    func otherContent() throws {
        let scenario = try scenario()
        try FileManager.default.createDirectory(atPath: to(scenario), withIntermediateDirectories: true)
        let target = URL(filePath: "\(to(scenario))/\(Self.name)")
        for content in [Data(), Self.content.prefix(7), Data(Self.content.reversed())] {
            try content.write(to: target)
            let error = try failure { _ = try EngineRun.output(scenario.request(to: "V2"), as: "Out.sqlite") }
            #expect(error.kind == .cannotCreate)
            #expect(error.message.contains(Self.name))
            #expect(error.isResumable)
            #expect(try Data(contentsOf: target) == content)
            #expect(!FileManager.default.fileExists(atPath: scenario.folder + "/Out.sqlite"))
        }
        try FileManager.default.removeItem(at: target)
        _ = try EngineRun.output(scenario.request(to: "V2"), as: "Out.sqlite")
        #expect(try Data(contentsOf: target) == Self.content)
    }

    @Test("a link in a file's place isn't followed")
    func link() throws {
        let scenario = try scenario()
        try FileManager.default.createDirectory(atPath: to(scenario), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: "\(to(scenario))/\(Self.name)", withDestinationPath: "\(from(scenario))/\(Self.name)")
        #expect(
            try failure { _ = try EngineRun.output(scenario.request(to: "V2"), as: "Out.sqlite") }.kind == .cannotCreate
        )
    }

    @Test("an existing file with the same content is kept as the copy of an earlier run")
    func sameContent() throws {
        let scenario = try scenario()
        try FileManager.default.createDirectory(atPath: to(scenario), withIntermediateDirectories: true)
        let target = "\(to(scenario))/\(Self.name)"
        try Self.content.write(to: URL(filePath: target))
        let inode = try scenario.inode(target)
        _ = try EngineRun.output(scenario.request(to: "V2"), as: "Out.sqlite")
        #expect(try scenario.inode(target) == inode)
    }
}
