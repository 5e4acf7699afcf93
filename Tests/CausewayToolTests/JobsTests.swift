import CausewaySQLite
import Foundation
import Testing

/// The article of eight jobs: every script does what its text says.
@Suite("Eight jobs", .timeLimit(.minutes(60)))
struct JobsTests {
    private let recipes: Recipes
    private let place: RecipeFolder

    init() throws {
        recipes = try Recipes(article: "Jobs")
        place = try RecipeFolder()
    }

    private func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: place.folder.path(name)) }

    /// Waits at most a minute, which only a hanging run takes.
    private func wait(until isDone: () throws -> Bool) throws {
        for _ in 0..<600 {
            if try isDone() { return }
            usleep(100_000)
        }
        Issue.record("it takes more than a minute")
    }

    @Test("there are eight, each with a script")
    func all() throws {
        #expect(
            recipes.headings == [
                "A lost ssh", "A busy store", "A store without models", "50 stores", "A read-only model folder",
                "Another file system", "A full disk", "A change of mind",
            ])
    }

    @Test("a lost ssh: the hangup doesn't reach the run; a killed one is resumed by the same command")
    func lostSession() throws {
        let scripts = try recipes.scripts("A lost ssh")
        #expect(scripts.count == 3)
        #if DEBUG
            // The run pauses once, so that the hangup comes while it works.
            let pause = ["CAUSEWAY_PAUSE_AT": "planWritten:1500"]
        #else
            let pause: [String: String] = [:]
        #endif
        // A loaded machine may take seconds to start it.
        func begun(_ store: String) -> String {
            "for i in $(seq 300); do [ -d .\(store).migration ] && break; sleep 0.1; done"
        }
        #if DEBUG
            // Without nohup it stops as after SIGTERM. The store is another one: what this run leaves would look as
            // if the next had begun.
            try place.generate("Stopped.sqlite")
            let stopped = try place.run(
                "causeway migrate Stopped.sqlite --models App.xcdatamodeld & \(begun("Stopped.sqlite")); "
                    + "kill -HUP $!; wait $!",
                environment: pause)
            #expect(stopped.status == 143 && stopped.output.contains("Terminated"), "\(stopped.output)")
        #endif
        // What a closing terminal sends: SIGHUP to everything in the session.
        let started = try place.run(
            "set -m\n" + scripts[0] + "\n\(begun("Library.sqlite")); kill -HUP %1; sleep 0.2; kill -HUP $$",
            environment: pause)
        // A shell that has been told to ignore the hangup ends by itself.
        #expect([0, 128 + SIGHUP].contains(started.status), "\(started.output)")
        #expect(try place.run(scripts[1]).status == 0)
        try wait { try place.version(of: "Library.sqlite") == "v3" && !exists(".Library.sqlite.migration") }
        #expect(try place.run(scripts[2]).status == 0)
    }

    /// Another program that writes to a store.
    private final class Writer {
        private var connection: Connection?

        init(_ store: String) throws {
            let connection = try Connection(path: store, mode: .readWrite, hardening: .own)
            try connection.begin(.immediate)
            self.connection = consume connection
        }

        /// Closes the store; its transaction is rolled back.
        func end() { connection = nil }
    }

    @Test("a busy store: it waits for the other program", arguments: [0, 1])
    func busy(number: Int) throws {
        let scripts = try recipes.scripts("A busy store")
        #expect(scripts.count == 2)
        let quick = "sleep() { echo asleep; command sleep 0.1; }"
        let writer = try Writer(place.folder.path("Library.sqlite"))
        let run = try place.run(scripts[number], setup: quick) { _ in
            usleep(2_500_000)
            writer.end()
        }
        #expect(run.status == 0, "\(run.output)")
        #expect(run.output.contains("asleep") == (number == 1), "\(run.output)")
        #expect(try place.version(of: "Library.sqlite") == "v3")
    }

    @Test("a busy store: any other failure ends the attempts")
    func notBusy() throws {
        let script = try #require(try recipes.scripts("A busy store").last)
        try FileManager.default.removeItem(atPath: place.folder.path("Library.sqlite"))
        let missing = try place.run(script, setup: "sleep() { echo asleep; exit 1; }")
        #expect(missing.status == 66 && !missing.output.contains("asleep"), "\(missing.output)")
    }

    @Test("a store without models: a store of the newer version takes their place")
    func withoutModels() throws {
        let script = try #require(try recipes.scripts("A store without models").first)
        try place.generate("Newer.sqlite", version: "v3", rows: 0)
        let run = try place.run("set -e\nmv App.xcdatamodeld Away\n" + script + "\nmv Away App.xcdatamodeld")
        #expect(run.status == 0, "\(run.output)")
        #expect(try place.version(of: "Library.sqlite") == "v3")
    }

    @Test("50 stores, three of them bad, in one call: the others are migrated, the status is the first failure's")
    func several() throws {
        let script = try #require(try recipes.scripts("50 stores").first)
        try place.makeFleet()
        let run = try place.run(script)
        #expect(run.status == 65 && run.output.contains("47 migrated, 3 failed"), "\(run.output)")
        for name in ["s01", "s12", "s50"] { #expect(try place.version(of: "Stores/\(name).sqlite") == "v3") }
        #expect(try place.version(of: "Stores/s11.sqlite") == "")
        let again = try place.run(script)
        #expect(again.status == 65 && again.output.contains("47 had the version already"), "\(again.output)")
    }

    @Test("50 stores in a loop: those that failed are listed, and only they are done again")
    func loop() throws {
        let script = try #require(try recipes.scripts("50 stores").last)
        try place.makeFleet()
        let run = try place.run(script)
        #expect(run.status == 65, "\(run.output)")
        let failed = try String(contentsOfFile: place.folder.path("failed.txt"), encoding: .utf8)
        #expect(failed == RecipeFolder.bad.map { "65 Stores/\($0).sqlite\n" }.joined())
        for name in ["s01", "s12", "s50"] { #expect(try place.version(of: "Stores/\(name).sqlite") == "v3") }
        // Once more, with the bad ones repaired: the others have nothing to do.
        for name in RecipeFolder.bad {
            try FileManager.default.removeItem(atPath: place.folder.path("Stores/\(name).sqlite"))
            try place.generate("Stores/\(name).sqlite")
        }
        #expect(try place.run(script).status == 0)
        #expect(try String(contentsOfFile: place.folder.path("failed.txt"), encoding: .utf8) == "")
        #expect(try place.version(of: "Stores/s23.sqlite") == "v3")
    }

    @Test("a read-only model folder: nothing is written there, and options say what can't be put there")
    func readOnlyModels() throws {
        let script = try #require(try recipes.scripts("A read-only model folder").first)
        let run = try place.run(
            "set -e\nmkdir Models; mv App.xcdatamodeld Models; ls -lR --full-time Models >before\nchmod -R a-w Models\n"
                + "trap 'chmod -R u+w Models' EXIT\n" + script
                + "\nchmod -R u+w Models; ls -lR --full-time Models | diff before -; mv Models/App.xcdatamodeld .")
        #expect(run.status == 0, "\(run.output)")
        #expect(run.output.contains("v1 → v3"), "\(run.output)")
        #expect(try place.version(of: "Library.sqlite") == "v3")
    }

    @Test(
        "another file system: the new store is written there, the old one stays",
        .enabled(if: FileManager.default.isWritableFile(atPath: "/dev/shm"), "there is no /dev/shm"))
    func elsewhere() throws {
        let script = try #require(try recipes.scripts("Another file system").first)
        let before = try Data(contentsOf: URL(fileURLWithPath: place.folder.path("Library.sqlite")))
        let other = "/dev/shm/causeway-jobs-\(UUID().uuidString)"
        let run = try place.run("set -e\nmkdir \(other); ln -s \(other) Elsewhere\n" + script)
        defer { try? FileManager.default.removeItem(atPath: other) }
        #expect(run.status == 0, "\(run.output)")
        #expect(try place.version(of: "Elsewhere/Library.sqlite") == "v3")
        #expect(try Data(contentsOf: URL(fileURLWithPath: place.folder.path("Library.sqlite"))) == before)
    }

    @Test("a full disk: the store stays whole, and the same command goes on when there is room")
    func fullDisk() throws {
        let scripts = try recipes.scripts("A full disk")
        #expect(scripts.count == 2)
        // A file that may grow no further fails as one on a full disk does: 40 KiB, less than the store.
        let run = try place.run(scripts[0], setup: "ulimit -f 40")
        #expect(run.status == 74 && run.output.contains("the next run resumes; make room"), "\(run.output)")
        #expect(try place.version(of: "Library.sqlite") == "v1")
        let again = try place.run(scripts[1])
        #expect(again.status == 0, "\(again.output)")
        #expect(try place.version(of: "Library.sqlite") == "v3")
    }

    @Test("a change of mind: after the swap the original comes back, and nothing has changed")
    func rollback() throws {
        let scripts = try recipes.scripts("A change of mind")
        #expect(scripts.count == 2)
        let run = try place.run("set -e\ncp Library.sqlite Copy.sqlite\n" + scripts[1])
        #expect(run.status == 0 && run.output.contains("The stores are equal."), "\(run.output)")
        #expect(try place.version(of: "Library.sqlite") == "v1")
    }

    #if DEBUG
        @Test("a change of mind: before the swap, the work directory is all that a run leaves")
        func discard() throws {
            let script = try recipes.scripts("A change of mind")[0]
            let before = try place.folder.content().keys.filter { $0.hasPrefix("Library") }.sorted()
            let stopped = try place.run(
                "causeway migrate Library.sqlite --models App.xcdatamodeld & sleep 1; kill -TERM $!; wait $!",
                environment: ["CAUSEWAY_PAUSE_AT": "planWritten:2500"])
            #expect(stopped.status == 143, "\(stopped.output)")
            #expect(exists(".Library.sqlite.migration"))
            #expect(try place.run(script).status == 0)
            #expect(try place.folder.content().keys.filter { $0.hasPrefix("Library") }.sorted() == before)
            #expect(try place.version(of: "Library.sqlite") == "v1")
        }
    #endif
}
