import Foundation
import Testing

/// `--schema-template` and `--join-table`, on a store whose model doesn't determine a name.
@Suite("Names that a model doesn't determine, on the command line", .timeLimit(.minutes(60)))
struct JoinTableOptionTests {
    private static func model(_ attribute: String) -> String {
        func side(_ name: String, _ inverse: String) -> String {
            """
            <relationship name="\(name)" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="User" \
            inverseName="\(inverse)" inverseEntity="User"/>
            """
        }
        return """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0"><entity name="User">\(attribute)\
            \(side("likes", "likedBy"))\(side("likedBy", "likes"))</entity></model>
            """
    }

    /// A bundle of two versions, the second with one more attribute, and stores of both.
    private struct Names {
        let folder: WorkFolder
        let store: String
        /// The store of the second version, without rows.
        let template: String
        let models: String
        static let both = ["Z_1LIKES", "Z_1LIKEDBY"]

        init() throws {
            folder = try WorkFolder()
            models = folder.path("App.xcdatamodeld")
            for (name, attribute) in [
                ("V1", ""), ("V2", "<attribute name=\"age\" optional=\"YES\" attributeType=\"Integer 16\"/>"),
            ] {
                let version = models + "/\(name).xcdatamodel"
                try FileManager.default.createDirectory(atPath: version, withIntermediateDirectories: true)
                try Data(JoinTableOptionTests.model(attribute).utf8).write(
                    to: URL(fileURLWithPath: version + "/contents"))
            }
            store = folder.path("Store.sqlite")
            template = folder.path("Template.sqlite")
            for (path, version, rows) in [(store, "V1", "20"), (template, "V2", "0")] {
                let made = try ToolProcess(
                    ["generate", models, path, "--version", version, "--rows", rows, "--seed", "1"])
                #expect(made.status == 0, "\(made.errors)")
            }
        }

        func run(_ command: String, to version: String, _ options: [String] = []) throws -> ToolProcess {
            try ToolProcess([command, store, "--models", models, "--to", version] + options)
        }

        /// The name that the store has, and the other possible one.
        func names() throws -> (has: String, other: String) {
            let plan = try run("plan", to: "V2", ["--sql"])
            let has = try #require(Self.both.first { plan.output.contains("CREATE TABLE \($0) ") })
            return (has, Self.both[0] == has ? Self.both[1] : Self.both[0])
        }
    }

    @Test("plan and migrate name both names; with a template or a chosen name there is no warning")
    func warnings() throws {
        let names = try Names()
        for command in ["plan", "migrate"] {
            let said = try names.run(
                command, to: "V2", command == "plan" ? [] : ["--output", names.folder.path("New")])
            #expect(said.status == 0, "\(said.errors)")
            let text = said.output + said.errors
            for word in Names.both + ["--join-table", "--schema-template"] { #expect(text.contains(word)) }
        }
        for settled in [["--schema-template", names.template], ["--join-table", try names.names().has.lowercased()]] {
            let plan = try names.run("plan", to: "V2", settled)
            #expect(plan.status == 0, "\(plan.errors)")
            #expect(!(plan.output + plan.errors).contains("--join-table"))
        }
    }

    @Test("a wrong choice is corrected by a run that only renames; a right one needs no work")
    func renames() throws {
        let names = try Names()
        let (has, other) = try names.names()
        #expect(try names.run("migrate", to: "V2").status == 0)
        let plan = try names.run("plan", to: "V2", ["--join-table", other])
        #expect(plan.output.contains("Renames  \(has) → \(other); nothing else changes"))
        #expect(try names.run("migrate", to: "V2", ["--join-table", other]).status == 0)
        let before = try names.folder.content()
        let again = try names.run("migrate", to: "V2", ["--join-table", other])
        #expect(again.status == 0)
        #expect(again.output.contains("nothing to do"))
        #expect(try names.folder.content() == before)
    }

    @Test("an impossible name exits with 64 and names the possible ones; a template of another version exits with 78")
    func refusals() throws {
        let names = try Names()
        let before = try names.folder.content()
        let impossible = try names.run("migrate", to: "V2", ["--join-table", "Z_7LIKES"])
        #expect(impossible.status == 64)
        for name in Names.both { #expect(impossible.errors.contains(name)) }
        let foreign = try names.run("migrate", to: "V1", ["--schema-template", names.template])
        #expect(foreign.status == 78)
        #expect(foreign.errors.contains("of version V2, not of V1"))
        #expect(try names.folder.content() == before)
    }
}
