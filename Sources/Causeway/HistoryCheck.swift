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

    init(history: ModelHistory, library: MappingLibrary) {
        (self.history, self.library) = (history, library)
        hops = history.hops
        verdicts = library.verdicts(hops, in: history)
    }

    /// Steps that can be neither inferred nor mapped, and those for which two mapping models do the same.
    func steps() -> [ModelsCheck.Problem] {
        var problems: [ModelsCheck.Problem] = []
        for (index, hop) in hops.enumerated() {
            let fitting = zip(library.entries, verdicts).filter { _, verdict in
                if case .fits(let positions) = verdict { positions.contains(index) } else { false }
            }.map(\.0)
            if fitting.isEmpty {
                if let problem = inference(hop) { problems.append(problem) }
            } else {
                problems += fitting.compactMap { mistakes(of: $0, in: hop, beside: fitting.map(\.description)) }
            }
        }
        return problems
            + library.conflicts(for: hops, in: history).map { ModelsCheck.Problem(kind: .step, message: $0) }
    }

    /// Mapping models that fit no two versions, or can't be read.
    func mappingModels() -> [ModelsCheck.Problem] {
        var problems: [ModelsCheck.Problem] = []
        for (entry, verdict) in zip(library.entries, verdicts) {
            guard case .differs(_, let nearest, let sentences) = verdict else { continue }
            let compared = nearest.isEmpty ? "" : "; compared with \(nearest):"
            problems.append(
                ModelsCheck.Problem(
                    kind: .mappingModel, message: "the mapping model \(entry.title) fits no step\(compared)",
                    details: sentences, file: Self.file(of: entry)))
        }
        return problems
            + library.unread.map { unread in
                ModelsCheck.Problem(
                    kind: .mappingModel, message: "the mapping model \(unread.path) can't be used",
                    details: [unread.reason], file: unread.path)
            }
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
