import CausewayModel
import CausewayPlist
import Foundation
import Testing

@Suite("Order of versions", .timeLimit(.minutes(60)))
struct VersionOrderTests {
    @Test(
        "numbers in names are ordered by value",
        arguments: [
            ["App", "App 2", "App 3", "App 10"],
            [
                "zmessaging", "zmessaging1.27", "zmessaging2.3", "zmessaging2.10", "zmessaging2.21.0",
                "zmessaging2.100.0",
            ],
            ["OE 1.0 Beta", "OE 1.0 Beta 2", "OE 1.0 Beta 4", "OE 1.0", "OE 1.1", "OE 1.2"],
            ["SampleModel3", "SampleModel3_v2", "SampleModel3_v3"], ["Model", "Modelv2", "Modelv10"],
            ["model 2", "Model 3", "model 04", "Model 5"], ["A 99999999999999999999", "A 100000000000000000000"],
            ["Beta", "Beta 2"], ["X", "X-2", "X_3"],
        ])
    func order(names: [String]) {
        #expect(names.reversed().sorted(by: VersionOrder.precedes) == names)
        #expect(names.shuffled().sorted(by: VersionOrder.precedes) == names)
    }

    @Test(
        "words before the number may differ",
        arguments: [
            (["Model", "Model 2", "AppModel 3", "AppModel 4"], nil),
            (["Zebra", "Zebra 2", "App 3", "App 10"], "App 10"),
            (["App", "AppV2", "App 3", "app-model_4", "V10"], "App"),
            (["Initial", "V1", "V2"], "V2"), (["V1", "V2", "Latest"], "Latest"),
            (["Old 1", "Old 2", "New 1", "New 2"], "New 1"), (["New 1", "New 2", "Old 1.0", "Old 2"], "Old 2"),
            (["Zoo", "App", "App 2"], "App 2"), (["Alpha", "Gamma", "Beta"], "Beta"),
            (["2018", "2019.1", "Model 2020"], nil),
            (["OE 1.0 Beta", "OE 1.0", "OEDatabase 1.1"], nil), (["Other", "Model", "Model 2", "App 3"], "App 3"),
        ] as [([String], String?)])
    func mixed(names: [String], current: String?) {
        #expect(VersionOrder.sorted(names.reversed(), current: current) == names)
        #expect(VersionOrder.sorted(names.shuffled(), current: current) == names)
    }

    @Test("names with the same words are ordered alike, whatever other names there are")
    func sameWords() {
        let names = ["App", "App 2", "App 2 fix", "App 10"]
        for current in names { #expect(VersionOrder.sorted(names.reversed(), current: current) == names) }
    }

    @Test("names that differ only in spelling always have the same order")
    func total() {
        let names = ["A 2", "A2", "a-2", "A 02", "A"]
        #expect(names.sorted(by: VersionOrder.precedes) == names.reversed().sorted(by: VersionOrder.precedes))
        for name in names { #expect(!VersionOrder.precedes(name, name)) }
    }
}

@Suite("Model bundles", .timeLimit(.minutes(60)))
struct ModelBundleTests {
    private let good = source("<entity name='E'><attribute name='a' attributeType='String'/></entity>")
    private let current = Array(
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>App.xcdatamodel</string></dict></plist>
        """.utf8)

    private func bundle(_ name: String, _ files: [String: [UInt8]]) throws -> ModelBundle {
        try TemporaryFolder.with { folder in
            try TemporaryFolder.write(
                Dictionary(uniqueKeysWithValues: files.map { ("\(name)/\($0.key)", $0.value) }), in: folder)
            return try ModelReader.bundle(at: folder.appending(path: name).path)
        }
    }

    private func compiled() throws -> [UInt8] {
        try ModelCacheWriter.archive(of: ModelReader.model(source: good))
    }

    private func versionInfo(_ versions: [String]) throws -> [UInt8] {
        try BinaryPropertyListWriter.bytes(
            of: .dictionary([
                "NSManagedObjectModel_CurrentVersionName": .string("B"),
                "NSManagedObjectModel_VersionHashes": .dictionary(
                    Dictionary(uniqueKeysWithValues: versions.map { ($0, .dictionary(["E": .data([1])])) })),
                "NSManagedObjectModel_VersionChecksums": .dictionary(["A": .string("sum")]),
            ]))
    }

    @Test("a broken version leaves the others usable")
    func brokenVersion() throws {
        let bundle = try bundle(
            "App.xcdatamodeld",
            [
                "App.xcdatamodel/contents": good, "App 10.xcdatamodel/contents": good,
                "App 2.xcdatamodel/contents": source("<entity name='E' parentEntity='X'/>"),
                "App 3.xcdatamodel/elements": Array("bplist00".utf8), "App 4.xcdatamodel/layout": [],
                ".xccurrentversion": current, "notes.txt": [],
            ])
        #expect(bundle.kind == .sourceHistory)
        #expect(bundle.name == "App")
        #expect(bundle.versions.map(\.name) == ["App", "App 2", "App 3", "App 4", "App 10"])
        #expect(bundle.currentVersionName == "App")
        #expect(bundle.models.map(\.name) == ["App", "App 10"])
        #expect(bundle.failures.map(\.error.code) == [.inconsistent, .damaged, .notAModel])
        #expect(bundle.failures[0].error.path?.hasSuffix("App 2.xcdatamodel/contents") == true)
    }

    @Test("without .xccurrentversion only a single version is current")
    func withoutCurrent() throws {
        let one = try bundle("App.xcdatamodeld", ["App.xcdatamodel/contents": good])
        #expect(one.currentVersionName == "App")
        let two = try bundle(
            "App.xcdatamodeld", ["App.xcdatamodel/contents": good, "App 2.xcdatamodel/contents": good])
        #expect(two.currentVersionName == nil)
        #expect(two.notices.count == 1)
    }

    @Test("an unreadable or wrong .xccurrentversion is a notice")
    func wrongCurrent() throws {
        for bytes in [Array("<plist".utf8), Array("bplist00".utf8), Array("<plist><dict/></plist>".utf8)] {
            let bundle = try bundle(
                "App.xcdatamodeld",
                [
                    "App.xcdatamodel/contents": good, "App 2.xcdatamodel/contents": good, ".xccurrentversion": bytes,
                ])
            #expect(bundle.currentVersionName == nil)
            #expect(bundle.notices.count == 1)
        }
        let gone = try bundle(
            "App.xcdatamodeld", ["App 2.xcdatamodel/contents": good, ".xccurrentversion": current])
        #expect(gone.notices.count == 1)
        #expect(gone.version(named: "App") == nil)
    }

    @Test("compiled versions have the compiler's hashes; a missing one gives a notice")
    func compiledHistory() throws {
        let bundle = try bundle(
            "App.momd",
            [
                "A.mom": compiled(), "B.mom": compiled(), "B.omo": Array("momv2$".utf8), "C.omo": Array("momv2$".utf8),
                "VersionInfo.plist": versionInfo(["A", "B", "D"]),
            ])
        #expect(bundle.kind == .compiledHistory)
        #expect(bundle.currentVersionName == "B")
        // Names without numbers give no order: the current version is the last.
        #expect(bundle.versions.map(\.name) == ["A", "C", "D", "B"])
        #expect(bundle.models.map(\.name) == ["A", "B"])
        #expect(bundle.failures.map(\.error.code) == [.unsupportedFormat, .unreadable])
        #expect(bundle.versions.first?.recorded == .init(entities: ["E": [1]], checksum: "sum"))
    }

    @Test("single files are told apart by their content")
    func singleFiles() throws {
        let files: [String: ([UInt8], ModelError.Code?)] = [
            "a.mom": (try compiled(), nil), "noextension": (try compiled(), nil), "contents": (good, nil),
            "b.omo": (Array("momv2$srsraori55".utf8), .unsupportedFormat),
            "c.mom": (Array("momv2$srsraori55".utf8), .unsupportedFormat),
            "d.sqlite": (Array("SQLite format 3\0".utf8), .notAModel), "e.mom": ([], .notAModel),
            "f.mom": (Array("bplist00".utf8), .damaged), "g": (Array("hello".utf8), .notAModel),
        ]
        for (name, file) in files {
            try TemporaryFolder.with { folder in
                try TemporaryFolder.write([name: file.0], in: folder)
                let path = folder.appending(path: name).path
                guard let code = file.1 else {
                    let bundle = try ModelReader.bundle(at: path)
                    #expect(bundle.versions.count == 1)
                    #expect(bundle.currentVersionName == bundle.versions.first?.name)
                    return
                }
                let error = try #require(throws: ModelError.self) { try ModelReader.bundle(at: path) }
                #expect(error.code == code, "\(name)")
                #expect(error.path == path)
            }
        }
    }

    @Test("a single .xcdatamodel is a bundle of one version")
    func singleSource() throws {
        let bundle = try bundle("App.xcdatamodel", ["contents": good])
        #expect(bundle.kind == .source)
        #expect(bundle.versions.map(\.name) == ["App"])
    }

    @Test("folders that aren't bundles are refused, and the error names what they hold")
    func otherFolders() throws {
        let error = try #require(throws: ModelError.self) {
            try bundle("App", ["X.momd/A.mom": [], "Y.xcdatamodeld/Y.xcdatamodel/contents": []])
        }
        #expect(error.code == .notAModel)
        #expect(error.message.contains("X.momd") && error.message.contains("Y.xcdatamodeld"))
        #expect(throws: ModelError.self) { try bundle("Empty", ["readme": []]) }
        #expect(throws: ModelError.self) { try ModelReader.bundle(at: "/nonexistent/App.momd") }
        #expect(throws: ModelError.self) { try ModelReader.bundle(at: "") }
    }

    @Test("a symbolic link out of the bundle is refused, one to the bundle is followed")
    func symbolicLinks() throws {
        try TemporaryFolder.with { folder in
            try TemporaryFolder.write(
                [
                    "secret": good, "App.xcdatamodeld/App.xcdatamodel/contents": good,
                    "App.xcdatamodeld/Out.xcdatamodel/other": [],
                ], in: folder)
            let inside = folder.appending(path: "App.xcdatamodeld/Out.xcdatamodel/contents")
            try FileManager.default.createSymbolicLink(
                at: inside, withDestinationURL: folder.appending(path: "secret"))
            let link = folder.appending(path: "link")
            try FileManager.default.createSymbolicLink(
                at: link, withDestinationURL: folder.appending(path: "App.xcdatamodeld"))
            let bundle = try ModelReader.bundle(at: link.path)
            #expect(bundle.models.map(\.name) == ["App"])
            #expect(bundle.failures.map(\.error.code) == [.unreadable])
        }
    }
}

@Suite("Links in bundles", .timeLimit(.minutes(60)))
struct BundleLinkTests {
    @Test("a link that leads nowhere or in a circle is named, and a bundle inside a bundle too")
    func links() throws {
        try TemporaryFolder.with { folder in
            try TemporaryFolder.write(
                [
                    "Zoo.xcdatamodeld/Zoo.xcdatamodel/contents": source("<entity name='Cage'/>"),
                    "Zoo.xcdatamodeld/Zoo.xcdatamodeld/Zoo.xcdatamodel/contents": source("<entity name='Cage'/>"),
                    "Zoo.xcdatamodeld/Zoo 4.xcdatamodel/layout": [],
                ], in: folder)
            let bundle = folder.appending(path: "Zoo.xcdatamodeld").path
            for (name, target) in [
                ("Zoo 2.xcdatamodel", "nowhere"), ("Zoo 3.xcdatamodel", "Zoo 3.xcdatamodel"),
                ("Zoo 4.xcdatamodel/contents", "nowhere"), (".xccurrentversion", "nowhere"),
            ] {
                try FileManager.default.createSymbolicLink(
                    atPath: "\(bundle)/\(name)", withDestinationPath: target)
            }
            let history = try ModelReader.bundle(at: bundle)
            let failures = Dictionary(uniqueKeysWithValues: history.failures.map { ($0.name, $0.error) })
            #expect(failures.keys.sorted() == ["Zoo 2", "Zoo 3", "Zoo 4"])
            #expect(failures["Zoo 2"]?.message.contains("leads nowhere") == true)
            #expect(failures["Zoo 3"]?.message.contains("leads in a circle") == true)
            #expect(failures["Zoo 4"]?.path == "\(bundle)/Zoo 4.xcdatamodel/contents")
            #expect(history.notices.contains { $0.contains(".xccurrentversion") && $0.contains("leads nowhere") })
            #expect(history.notices.contains { $0.contains("\(bundle)/Zoo.xcdatamodeld") })
        }
    }
}
