import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

extension HostileInput {
    /// Hostile models and mapping models. The current version is the one that is replaced.
    static let hostileModels: [HostileInput] = [
        model("200,000 elements inside each other") {
            let depth = 200_000
            return "<model>" + String(repeating: "<entity name=\"a\">", count: depth)
                + String(repeating: "</entity>", count: depth) + "</model>"
        },
        model("an external entity") {
            """
            <?xml version="1.0"?><!DOCTYPE model [<!ENTITY x SYSTEM "file:///etc/passwd">]>
            <model><entity name="&x;"/></model>
            """
        },
        model("entities that expand without end") {
            let entities = (1..<12).map {
                "<!ENTITY e\($0) \"" + String(repeating: "&e\($0 - 1);", count: 10) + "\">"
            }.joined()
            return "<?xml version=\"1.0\"?><!DOCTYPE model [<!ENTITY e0 \"lol\">\(entities)]>"
                + "<model><entity name=\"&e11;\"/></model>"
        },
        model("240 KB of entity references") {
            "<model><entity name=\"" + String(repeating: "&amp;", count: 48_000) + "\"/></model>"
        },
        model("an attribute of 2 MB") {
            "<model><entity name=\"" + String(repeating: "a", count: 2 << 20) + "\"/></model>"
        },
        model("more than 1,000,000 elements") { "<model>" + String(repeating: "<e/>", count: 1_000_001) + "</model>" },
        model("an expression 100,000 brackets deep") {
            let brackets = String(repeating: "(", count: 100_000)
            return """
                <model><entity name="Note"><attribute name="a" optional="YES" attributeType="Integer 64" derived="YES" \
                derivationExpression="\(brackets)"/></entity></model>
                """
        },
        model("an entity that is its own ancestor") {
            """
            <model><entity name="Note" parentEntity="Folder"/><entity name="Folder" parentEntity="Note"/></model>
            """
        },
        model("escape sequences in names") {
            "<model><entity name=\"No\u{202E}te&#x9B;2J\" parentEntity=\"gone&#x9;\u{200F}\"/></model>"
        },
        HostileInput("a model file of 70 MiB") { folder in
            let ground = try HostileGround(folder)
            let path = ground.models + "/v2.xcdatamodel/contents"
            guard unsafe truncate(path, 70 << 20) == 0 else { throw HarnessFailure("a file can't be lengthened") }
            return ground.run(exits: [66, 78])
        },
        HostileInput("a pipe in the model's place") { folder in
            let ground = try HostileGround(folder)
            let path = ground.models + "/v2.xcdatamodel/contents"
            try FileManager.default.removeItem(atPath: path)
            guard unsafe mkfifo(path, 0o600) == 0 else { throw HarnessFailure("no pipe can be made") }
            return ground.run(exits: [66, 78])
        },
        HostileInput("a link that points outside the model bundle") { folder in
            let ground = try HostileGround(folder)
            let path = ground.models + "/v2.xcdatamodel/contents"
            try FileManager.default.moveItem(atPath: path, toPath: folder + "/outside")
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder + "/outside")
            return ground.run(exits: [66, 78])
        },
        HostileInput("a current version outside the bundle") { folder in
            let ground = try HostileGround(folder)
            try HostileGround.current("../../outside").write(
                to: URL(fileURLWithPath: ground.models + "/.xccurrentversion"))
            // Only the last part of the path counts. Where the bundle has no such version, the last one is the current
            // one.
            return ground.run(exits: [0, 66, 78])
        },
        archive("an archive that expands without end", Bomb.propertyList(levels: 200)),
        archive("an archive that contains itself", Bomb.cyclicPropertyList()),
        archive("an archive that announces more than there is", Bomb.hugeCountPropertyList()),
        mapping("a mapping model with an external entity") {
            """
            <?xml version="1.0"?><!DOCTYPE database [<!ENTITY x SYSTEM "file:///etc/passwd">]>
            <database><databaseInfo><version>134481920</version><UUID>&x;</UUID></databaseInfo></database>
            """
        },
        mapping("a mapping model of 200,000 elements inside each other") {
            String(repeating: "<database>", count: 200_000)
        },
    ]

    /// Replaces the current version's XML. It can't be migrated to, and the store must stay unchanged.
    private static func model(_ name: String, _ text: @escaping @Sendable () -> String) -> HostileInput {
        HostileInput("a model with " + name) { folder in
            let ground = try HostileGround(folder)
            try ground.write(text(), to: ground.models + "/v2.xcdatamodel/contents")
            return ground.run(exits: [65, 66, 78])
        }
    }

    private static func archive(_ name: String, _ bytes: [UInt8]) -> HostileInput {
        HostileInput(name) { folder in
            let ground = try HostileGround(folder)
            try ground.write(bytes, to: folder + "/Model.mom")
            return Run(
                arguments: ["migrate", ground.store, "--models", folder + "/Model.mom"], exits: [66, 78],
                source: ground.store)
        }
    }

    private static func mapping(_ name: String, _ text: @escaping @Sendable () -> String) -> HostileInput {
        HostileInput(name) { folder in
            let ground = try HostileGround(folder)
            let path = folder + "/m.xcmappingmodel"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try ground.write(text(), to: path + "/xcmapping.xml")
            return ground.run(exits: [66, 78], more: ["--mapping", path])
        }
    }
}
