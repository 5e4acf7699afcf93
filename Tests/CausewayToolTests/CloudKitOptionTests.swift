import CausewaySQLite
import Foundation
import Testing

/// `--cloudkit`, on generated stores that get the tables of CloudKit's mirror.
@Suite("Stores that CloudKit mirrors, on the command line", .timeLimit(.minutes(60)))
struct CloudKitOptionTests {
    private static func model(_ entities: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">\(entities)</model>
        """
    }

    private static func entity(_ name: String, _ attribute: String, was: String? = nil) -> String {
        """
        <entity name="\(name)"\(was.map { " elementID=\"\($0)\"" } ?? "")>\
        <attribute name="\(attribute)" optional="YES" attributeType="String"/></entity>
        """
    }

    /// V2 has one entity more and one less; V3 renames one.
    private static let versions = [
        ("V1", entity("Draft", "text") + entity("Note", "text")),
        ("V2", entity("Album", "name") + entity("Note", "text")),
        ("V3", entity("Draft", "text") + entity("Page", "text", was: "Note")),
        ("V4", entity("Draft", "text") + entity("Note", "text").replacing("String", with: "Integer 64")),
    ]

    /// As Core Data makes them, as far as that has been published; a record for each object.
    private static let mirror = """
        CREATE TABLE ANSCKRECORDMETADATA ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZENTITYID INTEGER, \
        ZENTITYPK INTEGER, ZNEEDSCLOUDDELETE INTEGER, ZNEEDSUPLOAD INTEGER, ZRECORDZONE INTEGER, ZCKRECORDNAME VARCHAR );
        CREATE UNIQUE INDEX Z_NSCKRecordMetadata_UNIQUE_entityId_entityPK ON ANSCKRECORDMETADATA \
        (ZENTITYID COLLATE BINARY ASC, ZENTITYPK COLLATE BINARY ASC);
        INSERT INTO ANSCKRECORDMETADATA (Z_ENT, Z_OPT, ZENTITYID, ZENTITYPK, ZNEEDSCLOUDDELETE, ZNEEDSUPLOAD, ZCKRECORDNAME) \
        SELECT 17012, 1, Z_ENT, Z_PK, 0, Z_PK = 1, 'd' || Z_PK FROM ZDRAFT;
        INSERT INTO ANSCKRECORDMETADATA (Z_ENT, Z_OPT, ZENTITYID, ZENTITYPK, ZNEEDSCLOUDDELETE, ZNEEDSUPLOAD, ZCKRECORDNAME) \
        SELECT 17012, 1, Z_ENT, Z_PK, Z_PK = 2, Z_PK = 1, 'n' || Z_PK FROM ZNOTE;
        INSERT INTO Z_PRIMARYKEY SELECT 17012, 'NSCKRecordMetadata', 0, max(Z_PK) FROM ANSCKRECORDMETADATA;
        """

    private struct Mirrored {
        let folder: WorkFolder
        let store: String
        let models: String

        init() throws {
            folder = try WorkFolder()
            models = folder.path("App.xcdatamodeld")
            store = folder.path("Store.sqlite")
            for (name, entities) in CloudKitOptionTests.versions {
                let version = models + "/\(name).xcdatamodel"
                try FileManager.default.createDirectory(atPath: version, withIntermediateDirectories: true)
                try Data(CloudKitOptionTests.model(entities).utf8).write(
                    to: URL(fileURLWithPath: version + "/contents"))
            }
            let made = try ToolProcess(["generate", models, store, "--version", "V1", "--rows", "40", "--seed", "3"])
            #expect(made.status == 0, "\(made.errors)")
            let connection = try Connection(path: store, mode: .readWrite, hardening: .own)
            try connection.execute(CloudKitOptionTests.mirror)
        }

        func run(_ command: String, to version: String, _ options: [String] = []) throws -> ToolProcess {
            try ToolProcess([command, store, "--models", models, "--to", version] + options)
        }

        func count(_ condition: String = "1") throws -> Int {
            let connection = try Connection(path: store, mode: .readOnly, hardening: .own)
            var statement = try connection.prepare("SELECT count(*) FROM ANSCKRECORDMETADATA WHERE \(condition)")
            return try statement.step() ? Int(statement.int64(at: 0)) : -1
        }
    }

    @Test("without it plan and migrate exit with 65 and three lines that say what it does")
    func refused() throws {
        let mirrored = try Mirrored()
        let before = try mirrored.folder.content()
        for command in ["plan", "migrate"] {
            let refused = try mirrored.run(command, to: "V2")
            #expect(refused.status == 65)
            #expect(refused.output.isEmpty)
            let lines = refused.errors.split(separator: "\n")
            try #require(lines.count == 3, "\(refused.errors)")
            #expect(lines[0].contains("CloudKit mirrors this store"))
            for words in [
                "--cloudkit carry migrates it by inferred steps", "every key stays", "rows of Z_PRIMARYKEY",
                "the history are carried whole", "entity numbers in them follow", "removed entities and relationships",
                "counted and listed as lost", "wait for upload or for deletion",
                "renames, type changes, mapping models", "a CloudKit schema only grows",
            ] {
                #expect(lines[1].contains(words), "\(words): \(lines[1])")
            }
            #expect(lines[2].contains("plan --cloudkit carry first") && lines[2].contains("keep the backup"))
        }
        #expect(try mirrored.folder.content() == before)
    }

    @Test("the plan says what waits and what is left out, as text and as JSON")
    func plan() throws {
        let mirrored = try Mirrored()
        let (all, drafts) = (try mirrored.count(), try mirrored.count("ZENTITYID = 1"))
        let text = try mirrored.run("plan", to: "V2", ["--cloudkit", "carry"])
        #expect(text.status == 0, "\(text.errors)")
        #expect(
            text.output.contains(
                "CloudKit \(all) objects mirrored, 2 to upload, 1 to delete in the cloud; 1 table carried"),
            "\(text.output)")
        let lost = "\(drafts) rows of ANSCKRECORDMETADATA about Draft objects are left out"
        #expect(text.output.contains(lost))
        let json = try mirrored.run("plan", to: "V2", ["--cloudkit", "carry", "--json"])
        let document = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
        let mirror = try #require(document?["cloudKit"] as? [String: Any])
        #expect(mirror["objects"] as? Int == all)
        #expect(mirror["waitingForUpload"] as? Int == 2)
        #expect(mirror["waitingForDeletion"] as? Int == 1)
        let leftOut = try #require(mirror["leftOut"] as? [[String: Any]])
        #expect(leftOut.count == 1)
        #expect(leftOut.first?["rows"] as? Int == drafts)
        #expect(leftOut.first?["reason"] as? String == "entity")
        #expect(leftOut.first?["subject"] as? String == "Draft")
    }

    @Test("migrate carries the mirror and says so; inspect and verify know it")
    func migrate() throws {
        let mirrored = try Mirrored()
        let notes = try mirrored.count("ZENTITYID = 2")
        let run = try mirrored.run("migrate", to: "V2", ["--cloudkit", "carry", "--verify", "full"])
        #expect(run.status == 0, "\(run.errors)")
        #expect((run.output + run.errors).contains("no real one has confirmed the result yet"))
        #expect(try mirrored.count() == notes)
        #expect(
            try mirrored.count("EXISTS (SELECT 1 FROM ZNOTE AS n WHERE n.Z_PK = ZENTITYPK AND n.Z_ENT = ZENTITYID)")
                == notes)
        let inspected = try ToolProcess(["inspect", mirrored.store])
        #expect(inspected.output.contains("yes, \(notes) objects, 1 to upload, 1 to delete in the cloud"))
        #expect(try ToolProcess(["verify", mirrored.store, "--strict"]).status == 0)
    }

    @Test("what a CloudKit schema can't follow exits with 78; an unknown choice with 64")
    func refusals() throws {
        let mirrored = try Mirrored()
        let before = try mirrored.folder.content()
        let refused = try mirrored.run("migrate", to: "V3", ["--next", "V1=V3", "--cloudkit", "carry"])
        #expect(refused.status == 78)
        #expect(refused.errors.contains("V1 → V3: the entity Note becomes Page"), "\(refused.errors)")
        let another = try mirrored.run("plan", to: "V4", ["--next", "V1=V4", "--cloudkit", "carry"])
        #expect(another.status == 78)
        #expect(another.errors.contains("CloudKit mirrors this store: steps must be inferred"), "\(another.errors)")
        #expect(!another.errors.contains("add a mapping model"))
        #expect(try mirrored.run("plan", to: "V2", ["--cloudkit", "maybe"]).status == 64)
        #expect(try mirrored.folder.content() == before)
    }
}
