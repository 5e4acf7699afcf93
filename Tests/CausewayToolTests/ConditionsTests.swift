import Causeway
import CausewaySQLite
import Foundation
import Testing

/// Steps whose success depends on the store's rows, on the command line.
@Suite("Commands on steps that depend on the rows", .timeLimit(.minutes(60)))
struct ConditionsTests {
    /// Versions V1, V2 and V3 of a model with posts and their authors; the rest of a post's and an author's properties
    /// are given.
    private static func models(_ versions: [(post: String, author: String)], in folder: WorkFolder) throws -> String {
        for (index, version) in versions.enumerated() {
            let text = """
                <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
                <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="Author"><relationship name="posts" optional="YES" toMany="YES" deletionRule="Nullify" \
                destinationEntity="Post" inverseName="author" inverseEntity="Post"/>\(version.author)</entity>
                <entity name="Post">\(version.post)</entity>
                <entity name="Draft" parentEntity="Post"/>
                </model>
                """
            let path = folder.path("Model.xcdatamodeld/V\(index + 1).xcdatamodel")
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: URL(fileURLWithPath: path + "/contents"))
        }
        return folder.path("Model.xcdatamodeld")
    }

    private static func attribute(_ name: String, optional: String = "YES") -> String {
        "<attribute name=\"\(name)\" attributeType=\"String\" optional=\"\(optional)\"/>"
    }

    private static func author(optional: String = "YES") -> String {
        """
        <relationship name="author" optional="\(optional)" maxCount="1" deletionRule="Nullify" \
        destinationEntity="Author" inverseName="posts" inverseEntity="Author"/>
        """
    }

    private static let unique = """
        <uniquenessConstraints><uniquenessConstraint><constraint value="name"/></uniquenessConstraint>\
        </uniquenessConstraints>
        """

    private static func history(in folder: WorkFolder) throws -> String {
        let plain = attribute("title") + author()
        let must = attribute("must", optional: "NO")
        return try models(
            [
                (plain, attribute("name")), (plain, attribute("name") + attribute("note")),
                (attribute("title", optional: "NO") + must + author(optional: "NO"), attribute("name") + unique),
            ], in: folder)
    }

    private static let conditions = [
        "if no two rows of Author have the same name: Author has a uniqueness constraint on name now",
        "if there are no rows of Post, Draft: Post.must is new, mandatory and has no default",
        "if it is NULL in no row of Post, Draft: Post.title is mandatory now and has no default",
        "if every row of Post, Draft has such a link: Post.author is mandatory now",
    ]

    @Test("models names the conditions of a step, in its text and in its JSON")
    func models() throws {
        let folder = try WorkFolder()
        let models = try Self.history(in: folder)
        let text = try ToolProcess(["models", models])
        #expect(text.status == 0, "\(text.errors)")
        #expect(text.output.contains("  V1 → V2: can be inferred\n"))
        let shown = Self.conditions.map { "    - \($0)\n" }.joined()
        #expect(
            text.output.contains(
                """
                  V2 → V3: can be inferred where the rows allow it
                      Author       unique now: name
                      Author.note  dropped, String
                      Post.must    added, String
                      Post.title   mandatory now
                      Post.author  mandatory now

                """ + shown),
            "\(text.output)")
        let json = try ToolProcess(["models", models, "--json"])
        let report = try JSONDecoder().decode(ModelsReport.self, from: Data(json.output.utf8))
        #expect(report.steps.map(\.isInferable) == [true, true])
        #expect(report.steps.map(\.conditions) == [[], Self.conditions])
    }

    @Test("plan refuses with 65 what the last step would refuse, and writes nothing", arguments: [[], ["--no-fuse"]])
    func plan(flags: [String]) throws {
        let folder = try WorkFolder()
        let models = try Self.history(in: folder)
        let store = folder.path("Store.sqlite")
        let made = try ToolProcess(["generate", models, store, "--rows", "40", "--seed", "1", "--version", "V1"])
        #expect(made.status == 0, "\(made.errors)")
        let before = try folder.content()
        for command in ["plan", "migrate"] {
            let run = try ToolProcess([command, store, "--models", models, "--to", "V3"] + flags)
            #expect(run.status == 65)
            #expect(run.output == "")
            #expect(run.errors.contains("V3: Post.must is new, mandatory and has no default, but there is no value"))
            #expect(run.errors.contains("--bad-rows quarantine --rejects FILE"))
            #expect(try folder.content() == before)
        }
        let json = try ToolProcess(["plan", store, "--models", models, "--to", "V3", "--json"] + flags)
        #expect(json.status == 65)
        #expect(json.output.contains("Post.must"))
        #expect(try ToolProcess(["plan", store, "--models", models, "--to", "V2"] + flags).status == 0)
        #expect(try folder.content() == before)
    }

    @Test("with --bad-rows quarantine the plan counts the rows that will be left out")
    func quarantine() throws {
        let folder = try WorkFolder()
        let models = try Self.history(in: folder)
        let store = folder.path("Store.sqlite")
        #expect(
            try ToolProcess(["generate", models, store, "--rows", "40", "--seed", "1", "--version", "V1"]).status == 0)
        let before = try folder.content()
        let plan = try ToolProcess([
            "plan", store, "--models", models, "--to", "V3", "--bad-rows", "quarantine", "--rejects",
            folder.path("rejects.jsonl"), "--json",
        ])
        #expect(plan.status == 0, "\(plan.errors)")
        let decoded = try JSONDecoder().decode(MigrationPlan.self, from: Data(plan.output.utf8))
        #expect(decoded.warnings.contains { $0.hasPrefix("V3: Post.must") && $0.hasSuffix("; to be quarantined") })
        #expect(try folder.content() == before)
    }

    @Test("inspect counts rows of an entity that isn't in their table, and not as another table's")
    func strangers() throws {
        let folder = try WorkFolder()
        let models = try Self.history(in: folder)
        let store = folder.path("Store.sqlite")
        #expect(
            try ToolProcess(["generate", models, store, "--rows", "40", "--seed", "1", "--version", "V1"]).status == 0)
        func inspection() throws -> StoreInspection {
            let run = try ToolProcess(["inspect", store, "--models", models, "--json"])
            return try JSONDecoder().decode(StoreInspection.self, from: Data(run.output.utf8))
        }
        let before = try inspection()
        #expect(before.unknownRows == 0)
        // Author 1, Post 2, Draft 3.
        let connection = try Connection(path: store, mode: .readWrite, hardening: .own)
        try connection.execute(
            "UPDATE ZAUTHOR SET Z_ENT = 2 WHERE Z_PK = 1; UPDATE ZAUTHOR SET Z_ENT = NULL WHERE Z_PK = 2")
        try connection.close()
        let after = try inspection()
        #expect(after.unknownRows == 2)
        #expect(after.entities.map(\.rows)[1...] == before.entities.map(\.rows)[1...])
        #expect(after.entities[0].rows == before.entities[0].rows - 2)
        #expect(try ToolProcess(["inspect", store, "--models", models]).output.contains("(no entity of their table)"))
        let plan = try ToolProcess(["plan", store, "--models", models, "--to", "V2"])
        #expect(plan.status == 65)
        #expect(plan.errors.contains("table ZAUTHOR: Z_ENT is that of an entity with another table in 1 row (p1)"))
        #expect(plan.errors.contains("leave these rows out with --bad-rows quarantine --rejects FILE"))
        // The message's advice works.
        let run = try ToolProcess([
            "migrate", store, "--models", models, "--to", "V2", "--bad-rows", "quarantine", "--rejects",
            folder.path("rejects.jsonl"),
        ])
        #expect(run.status == 0, "\(run.errors)")
        #expect(try inspection().unknownRows == 0)
    }
}
