import Foundation

/// How each contender does its work.
extension Entrant {
    /// Makes ready what isn't measured: an empty folder; for a migration in place, the store that it replaces.
    func prepare(_ place: Workplace) throws {
        try place.clearRun()
        if contender.engine != nil { try FileManager.default.copyItem(atPath: place.source, toPath: place.store) }
        // What was written so far is no work of this one.
        sync()
        try Ballast(in: place.folder).fill()
        // Twice: what was read once is the first to go.
        for _ in 0..<2 { try Workplace.warm(contender.engine == nil ? place.source : place.store) }
    }

    /// Does the work; the result is `place.store`, and on the disk.
    func work(_ place: Workplace, _ programs: Programs) throws -> MigrationAccount? {
        switch contender {
        case .pages, .statements:
            return try programs.runSelf(try migration(place.store, at: place), environment: environment)
        case .sql:
            try programs.runShell(place.script("transfer", task), on: place.store)
        case .vacuum:
            try programs.run(
                try Programs.named("sqlite3"),
                ["-batch", "-bail", "file:\(place.source)?immutable=1", "VACUUM INTO '\(place.store)'"])
        case .copy:
            try copy(place, programs, reflink: "never")
        case .copyAndAlter, .cloneAndAlter:
            try copy(place, programs, reflink: contender == .copyAndAlter ? "never" : "always")
            try programs.runShell(place.script("alter", task), on: place.store)
        case .sqliteUtils:
            try copy(place, programs, reflink: "never")
            try transform(place, programs)
        }
        try Programs.sync(place.store)
        try Programs.sync(place.run.path)
        return nil
    }

    /// Arguments of this executable that migrate a store.
    func migration(_ store: String, at place: Workplace) throws -> [String] {
        ["migrate-once", store, "--models", try place.models(task), "--to", Archive.version(steps)]
            + ["--engine", contender.rawValue, "--verify", verification.rawValue] + flags
    }

    private func copy(_ place: Workplace, _ programs: Programs, reflink: String) throws {
        #if os(Linux)
            // Without it cp shares extents in silence.
            let options = ["--reflink=\(reflink)"]
        #else
            let options = reflink == "always" ? ["-c"] : []
        #endif
        try programs.run(try Programs.named("cp"), options + [place.source, place.store])
    }

    /// One table after the other, as its command line offers it.
    private func transform(_ place: Workplace, _ programs: Programs) throws {
        let tool = try Programs.named("sqlite-utils")
        for entity in Archive(shape: place.shape, change: change, steps: steps).changed {
            let table = "Z\(entity.uppercased())"
            try programs.run(
                tool,
                ["transform", place.store, table, "--rename", "ZTITLE0", "ZTITLE\(steps)", "--drop", "ZEXTRA0"])
            try programs.run(
                tool,
                [
                    "add-column", place.store, table, "ZEXTRA\(steps)", "integer", "--not-null-default", String(steps),
                ])
        }
    }
}
