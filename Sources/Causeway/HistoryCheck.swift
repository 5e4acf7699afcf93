import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewayPlatform
import CausewayPreparation

/// Whether every step of a history can be taken, and every mapping model is for one.
struct HistoryCheck {
    let history: ModelHistory
    let library: MappingLibrary
    private let hops: [MappingHop]
    private let verdicts: [MappingVerdict]
    private let jumps: [MappingJump]

    init(history: ModelHistory, library: MappingLibrary) {
        (self.history, self.library) = (history, library)
        hops = history.hops
        verdicts = library.verdicts(hops, in: history)
        jumps = library.jumps(in: history)
    }

    /// Steps that can be neither inferred nor mapped, and those for which two mapping models do the same.
    func steps() -> [ModelsCheck.Problem] {
        var problems: [ModelsCheck.Problem] = []
        for (index, hop) in hops.enumerated() {
            let fitting = zip(library.entries, verdicts).filter { _, verdict in
                if case .fits(let positions) = verdict { positions.contains(index) } else { false }
            }.map(\.0)
            if fitting.isEmpty {
                if isLeftOut(hop) { continue }
                if let problem = inference(hop) { problems.append(problem) }
            } else {
                problems += fitting.compactMap { mistakes(of: $0, in: hop, beside: fitting.map(\.description)) }
            }
        }
        return problems
            + library.conflicts(for: hops, in: history).map { ModelsCheck.Problem(kind: .step, message: $0) }
    }

    /// No store takes a step from a version that no other leads to, if a mapping model takes its stores to the current
    /// version at once.
    private func isLeftOut(_ hop: MappingHop) -> Bool {
        guard let from = hop.from.name, jumps.contains(where: { $0.from == from && $0.isTaken(in: history) }) else {
            return false
        }
        return !history.graph.versions.contains { history.graph.next(after: $0) == from }
    }

    /// Mapping models that fit no step or several, or can't be read; not those that are, or may be, of another model
    /// (`notices`).
    func mappingModels() -> [ModelsCheck.Problem] {
        var problems: [ModelsCheck.Problem] = []
        for (entry, verdict) in zip(library.entries, verdicts) {
            var problem = ModelsCheck.Problem(kind: .mappingModel, message: "", file: Self.file(of: entry))
            switch verdict {
            case .differs where library.isOfAnotherModel(entry, in: history): continue
            case .differs(_, let nearest, let sentences):
                let compared = nearest.isEmpty ? "" : "; compared with \(nearest):"
                problem.message = "the mapping model \(entry.title) fits no step\(compared)"
                problem.details = sentences
            case .ambiguous(_, let steps):
                problem.message = "the mapping model \(entry.title) can't be used: \(entry.ambiguity(of: steps))"
            case .fits, .elsewhere, .ofAnotherModel: continue
            }
            problems.append(problem)
        }
        return problems
            + library.unread.filter { !library.mayBeOfAnotherModel($0, in: history) }.map { unread in
                ModelsCheck.Problem(
                    kind: .mappingModel, message: "the mapping model \(unread.path) can't be used",
                    details: [unread.reason], file: unread.path)
            }
    }

    /// Mapping models that lead over versions, and those of other models.
    func notices() -> [String] {
        var notices = library.notices
        notices += jumps.map { $0.notice(in: history) }
        for (entry, verdict) in zip(library.entries, verdicts) {
            switch verdict {
            case .ofAnotherModel(let other):
                notices.append("the mapping model \(entry.title) is for another model, \(other.bundle)")
            case .differs where library.isOfAnotherModel(entry, in: history):
                notices.append(
                    "the mapping model \(entry.title) is for another model: no version has the entities that it names")
            default: break
            }
        }
        for file in library.unread where library.mayBeOfAnotherModel(file, in: history) {
            notices.append(
                "the mapping model \(file.path) can't be used, and may be for another model: \(file.reason)")
        }
        return notices
    }

    private func inference(_ hop: MappingHop) -> ModelsCheck.Problem? {
        do throws(InferenceError) {
            _ = try MappingInference.infer(from: hop.from.model, to: hop.to.model)
            return nil
        } catch {
            return problem(
                hop, "\(hop.title): can't be inferred, and no mapping model fits", error.refusals.map(\.description))
        }
    }

    private func mistakes(
        of entry: MappingLibrary.Entry, in hop: MappingHop, beside others: [MappingModelDescription]
    ) -> ModelsCheck.Problem? {
        do throws(MappingResolutionError) {
            _ = try entry.description.resolved(from: hop.from, to: hop.to, beside: others)
            return nil
        } catch {
            var problem = problem(
                hop, "\(hop.title): the mapping model \(entry.title) can't be used", error.problems.map(\.description))
            problem.file = Self.file(of: entry) ?? problem.file
            return problem
        }
    }

    /// A step's problem is found in the version that it leads to: that is the one which can still change.
    private func problem(_ hop: MappingHop, _ message: String, _ details: [String]) -> ModelsCheck.Problem {
        let comparison = ShippedComparison(ShippedModels(), history)
        return ModelsCheck.Problem(
            kind: .step, message: message, details: details, version: hop.from.name, nextVersion: hop.to.name,
            file: hop.to.name.flatMap { comparison.place(of: $0).file })
    }

    /// The file of a mapping model; of the editor's bundle the one inside. nil for one in Swift.
    private static func file(of entry: MappingLibrary.Entry) -> String? {
        guard let path = entry.description.path else { return nil }
        guard (try? Files.status(of: path))?.kind == .directory else { return path }
        return Paths.join(path, "xcmapping.xml")
    }
}
