import Foundation

/// Lets entrants work on one store by turns, there and back.
struct Rounds {
    let place: Workplace
    let entrants: [Entrant]
    let count: Int
    /// Who works in the first round only.
    var once: Set<Contender> = []
    /// Compares every result of the first round, row by row.
    var checks = true

    /// What became of an entrant.
    struct Result {
        let entrant: Entrant
        var series = Series([])
        /// Why it didn't take part on this machine.
        var absence: String?
        /// Why it stopped, or what is wrong with what it made.
        var failure: String?
    }

    func run() throws -> [Result] {
        var results = entrants.map { Result(entrant: $0, absence: $0.contender.absence) }
        var outcomes = entrants.map { _ in [Outcome]() }
        for result in results {
            if let absence = result.absence { say("skipped: \(result.entrant.label): \(absence)") }
        }
        try makeScripts()
        for round in 1...max(1, count) {
            // There and back: a disk or a machine that gets slower meanwhile counts for all.
            for index in round % 2 == 1 ? Array(entrants.indices) : entrants.indices.reversed()
            where results[index].absence == nil && results[index].failure == nil
                && (round == 1 || !once.contains(entrants[index].contender))
            {
                do {
                    let outcome = try run(entrants[index], isChecked: checks && round == 1)
                    outcomes[index].append(outcome)
                    say(line(round, entrants[index], outcome))
                } catch {
                    results[index].failure = "\(error)"
                    say("failed: \(entrants[index].label): \(error)")
                }
            }
            // Its pages are no longer needed in the cache.
            if round == 1 { try removeReference() }
        }
        try place.clearRun()
        for index in results.indices { results[index].series = Series(outcomes[index]) }
        return results
    }

    private func line(_ round: Int, _ entrant: Entrant, _ outcome: Outcome) -> String {
        let task = entrant.steps > 1 ? " (\(entrant.change.rawValue), \(entrant.steps) steps)" : ""
        return "round \(round) of \(count): \(entrant.label)\(task): \(outcome.seconds) s, "
            + "\(outcome.processorSeconds) s of the processors"
    }

    private func run(_ entrant: Entrant, isChecked: Bool) throws -> Outcome {
        if isChecked, entrant.contender.makesRows { try makeReference(entrant.task) }
        try entrant.prepare(place)
        let outcome = try Measuring(folder: place.disk).outcome { programs in try entrant.work(place, programs) }
        if isChecked { try check(entrant) }
        return outcome
    }

    private func check(_ entrant: Entrant) throws {
        guard entrant.contender.makesRows else {
            guard try Workplace.size(place.store) > 0 else { throw BenchmarkError("it made nothing") }
            return
        }
        let differences = try SameRows(place.store, as: place.reference)
            .differences(isForeign: entrant.contender == .sqliteUtils)
        guard differences.isEmpty else {
            throw BenchmarkError("its result is another one: \(differences.joined(separator: "; "))")
        }
    }

    /// For every piece of work that somebody does by hand.
    private func makeScripts() throws {
        let tasks = entrants.filter { [.sql, .copyAndAlter, .cloneAndAlter].contains($0.contender) }.map(\.task)
        for task in Set(tasks).sorted(by: { $0.steps < $1.steps }) {
            try makeReference(task)
            try HandSQL(place, task).write()
        }
    }

    /// The statement engine's result, with which all others are compared. It stays until another one is made.
    private func makeReference(_ task: ArchiveTask) throws {
        let note = place.script("reference", task)
        guard !FileManager.default.fileExists(atPath: note) else { return }
        try removeReference()
        let entrant = Entrant(
            contender: .statements, change: task.change, steps: task.steps, verification: .none)
        let arguments = try entrant.migration(place.source, at: place) + ["--output", place.reference]
        _ = try Programs().runSelf(arguments)
        try "".write(toFile: note, atomically: true, encoding: .utf8)
    }

    private func removeReference() throws {
        let files = FileManager.default
        for name in try files.contentsOfDirectory(atPath: place.folder.path) where name.hasPrefix("reference") {
            try files.removeItem(at: place.folder.appendingPathComponent(name))
        }
    }
}
