package import CausewayMapping
package import CausewayStores

/// The mapping models of every hop of a path.
package struct MappingSelection: Sendable {
    /// By hop, in the order in which they run; empty where the step is inferred.
    package var models: [[MappingModelDescription]]
    /// Mapping models that exist and aren't used, a sentence each.
    package var warnings: [String]
}

extension MappingLibrary {
    /// Chooses the mapping models of a path's steps.
    ///
    /// Several that fit one step run one after another, unless two of them carry the same source entity over to the
    /// same destination entity: rows would be made twice. If one of the two was given or written in Swift, it is used,
    /// and the found one is skipped with a warning; two equal ones (an `.xcmappingmodel` beside its `.cdm`) are one.
    ///
    /// A mapping model that exists and doesn't match is never skipped silently. A given one is an error. A found one is
    /// an error if it claims a step that would be inferred instead, else a warning.
    ///
    /// - Parameters:
    ///   - hops: the path's steps.
    ///   - history: all versions.
    /// - Returns: the mapping models by hop, and warnings about those that aren't used.
    /// - Throws: `.plan` with every reason at once.
    package func selection(for hops: [MappingHop], in history: ModelHistory) throws(EngineError) -> MappingSelection {
        let verdicts = verdicts(hops, in: history)
        var selection = MappingSelection(models: [], warnings: unread.map { "mapping model \($0.path): \($0.reason)" })
        var choosing = Choosing()
        for (index, hop) in hops.enumerated() {
            let candidates = zip(entries, verdicts).filter { _, verdict in
                if case .fits(let positions) = verdict { positions.contains(index) } else { false }
            }
            selection.models.append(choosing.choose(candidates.map(\.0), for: hop))
        }
        selection.warnings += choosing.warnings
        var problems = choosing.conflicts
        for (entry, verdict) in zip(entries, verdicts) {
            guard let sentence = Self.complaint(entry, verdict, hops) else { continue }
            if isError(entry, verdict, selection) {
                problems.append(sentence)
            } else {
                selection.warnings.append(sentence)
            }
        }
        guard problems.isEmpty else {
            throw EngineError(
                .plan, "the mapping models can't be used for \(Self.title(of: hops))", details: problems,
                remedy: choosing.conflicts.isEmpty
                    ? "make the mapping model again from the current models, or infer the step with --infer"
                    : "two mapping models fit: choose with --mapping, and move the other one away")
        }
        return selection
    }

    /// Mapping models that fit the same step and map the same entities, a sentence for each pair.
    ///
    /// - Parameters:
    ///   - hops: the steps.
    ///   - history: all versions.
    /// - Returns: the pairs of which neither can be preferred; empty where every step has a clear choice.
    package func conflicts(for hops: [MappingHop], in history: ModelHistory) -> [String] {
        let verdicts = verdicts(hops, in: history)
        var choosing = Choosing()
        for (index, hop) in hops.enumerated() {
            let candidates = zip(entries, verdicts).filter { _, verdict in
                if case .fits(let positions) = verdict { positions.contains(index) } else { false }
            }
            _ = choosing.choose(candidates.map(\.0), for: hop)
        }
        return choosing.conflicts
    }

    private static func title(of hops: [MappingHop]) -> String {
        ([hops.first?.from.name ?? "?"] + hops.map { $0.to.name ?? "?" }).joined(separator: " → ")
    }

    /// The warning about a mapping model that isn't used; nil if none is needed.
    private static func complaint(_ entry: Entry, _ verdict: MappingVerdict, _ hops: [MappingHop]) -> String? {
        switch verdict {
        case .fits: return nil
        case .elsewhere(let from, let to):
            // Mapping models found for other steps, or registered for all of a team's versions, aren't mistakes.
            guard entry.origin == .given else { return nil }
            return "mapping model \(entry.title) is for \(from) → \(to), which isn't on the path \(title(of: hops))"
        case .differs(_, let nearest, let sentences):
            let place = nearest.isEmpty ? "" : " \(nearest)"
            return "mapping model \(entry.title) exists but doesn't match\(place): \(sentences.joined(separator: "; "))"
        }
    }

    private func isError(_ entry: Entry, _ verdict: MappingVerdict, _ selection: MappingSelection) -> Bool {
        guard entry.origin == .found else { return true }
        guard case .differs(let meant?, _, _) = verdict, !infersDespiteMismatch else { return false }
        return selection.models[meant].isEmpty
    }
}

/// Chooses among mapping models that fit the same step.
private struct Choosing {
    private struct Choice {
        var entry: MappingLibrary.Entry
        /// nil where it has mistakes, which the planner reports.
        var resolved: ResolvedMapping?
    }

    var warnings: [String] = []
    var conflicts: [String] = []

    mutating func choose(_ candidates: [MappingLibrary.Entry], for hop: MappingHop) -> [MappingModelDescription] {
        var chosen: [Choice] = []
        for entry in candidates {
            let choice = Choice(entry: entry, resolved: try? entry.description.resolved(from: hop.from, to: hop.to))
            let rivals = chosen.lazy.compactMap { rival in Self.overlap(rival, choice).map { (rival, $0) } }
            guard let (rival, overlap) = rivals.first else {
                chosen.append(choice)
                continue
            }
            // The editor's file and the one that Xcode compiled from it may be side by side.
            if rival.resolved?.entityMappings == choice.resolved?.entityMappings { continue }
            if entry.origin == .found, rival.entry.origin != .found {
                warnings.append(
                    "mapping model \(entry.title) fits \(hop.title) too and isn't used: \(rival.entry.title) is")
            } else {
                conflicts.append("\(hop.title): both \(rival.entry.title) and \(entry.title) map \(overlap)")
            }
        }
        return chosen.map(\.entry.description)
    }

    /// The first pair of entities that both map, without filters that tell the rows apart.
    private static func overlap(_ a: Choice, _ b: Choice) -> String? {
        guard let first = a.resolved, let second = b.resolved else { return nil }
        for mapping in first.entityMappings {
            guard let from = mapping.mapping.sourceEntity, let to = mapping.mapping.destinationEntity else { continue }
            let isTwice = second.entityMappings.contains { other in
                other.mapping.sourceEntity == from && other.mapping.destinationEntity == to
                    && (other.rows == mapping.rows || other.isUnfiltered || mapping.isUnfiltered)
            }
            if isTwice { return "\(from) → \(to)" }
        }
        return nil
    }
}

extension ResolvedEntityMapping {
    fileprivate var isUnfiltered: Bool {
        if case .entity(nil, _) = rows { true } else { false }
    }
}
