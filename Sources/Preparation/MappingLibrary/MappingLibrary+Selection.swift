package import CausewayMapping
import CausewayPlanning
import CausewayPlatform
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
    /// same destination entity: rows would be made twice. If one of the two was given or written in Swift, or lies
    /// nearer to the models, it is used, and the other one is skipped with a warning; two equal ones (an
    /// `.xcmappingmodel` beside its `.cdm`) are one.
    ///
    /// A mapping model that exists and doesn't match is never skipped silently. A given one is an error. A found one is
    /// an error if it claims a step that would be inferred instead, or may be for it, else a warning.
    ///
    /// - Parameters:
    ///   - hops: the path's steps.
    ///   - history: all versions.
    /// - Returns: the mapping models by hop, and warnings about those that aren't used.
    /// - Throws: `.plan` with every reason at once.
    package func selection(for hops: [MappingHop], in history: ModelHistory) throws(EngineError) -> MappingSelection {
        let verdicts = verdicts(hops, in: history)
        var selection = MappingSelection(models: [], warnings: notices)
        var choosing = Choosing()
        for (index, hop) in hops.enumerated() {
            let candidates = zip(entries, verdicts).filter { _, verdict in
                if case .fits(let positions) = verdict { positions.contains(index) } else { false }
            }
            selection.models.append(choosing.choose(candidates.map(\.0), for: hop))
        }
        selection.warnings += choosing.warnings
        var problems = choosing.conflicts
        for file in unread {
            let inferred = zip(hops, selection.models).filter { $0.1.isEmpty }.map(\.0)
            let sentence = file.complaint(inferred: !inferred.isEmpty)
            if !infersDespiteMismatch, file.isDamaged, inferred.contains(where: file.isNamed) {
                problems.append(sentence)
            } else {
                selection.warnings.append(sentence)
            }
        }
        let whole = verdictsOnWhole(hops, selection, in: history)
        for (index, (entry, verdict)) in zip(entries, verdicts).enumerated() {
            guard let sentence = Self.complaint(entry, whole[index] ?? verdict, hops) else { continue }
            if !infersDespiteMismatch && whole[index]?.isMeant == true || isError(entry, verdict, selection) {
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
        case .ambiguous(_, let steps):
            let advice = "end the path at its step with --to" + (entry.origin == .found ? ", and give --mapping" : "")
            return "mapping model \(entry.title) isn't used: \(entry.ambiguity(of: steps)); \(advice)"
        case .ofAnotherModel(let other):
            // Of a bundle that is there, it needs no word unless it would do for this one too.
            guard !other.isPresent || !other.hops.isEmpty else { return nil }
            let advice = other.hops.isEmpty ? "" : "; --mapping uses it"
            return "mapping model \(entry.title) is for another model, \(other.bundle), and isn't used\(advice)"
        case .elsewhere(let from, let to):
            // Mapping models found for other steps, or registered for all of a team's versions, aren't mistakes.
            guard entry.origin == .given else { return nil }
            let names = ([hops.first?.from] + hops.map(\.to)).map { $0?.name }
            let advice = names.contains(from) && names.contains(to) ? "; --next \"\(from)=\(to)\" uses it" : ""
            return """
                mapping model \(entry.title) is for \(from) → \(to), which isn't on the path \(title(of: hops))\(advice)
                """
        case .differs(_, let nearest, let sentences):
            let place = nearest.isEmpty ? "" : " \(nearest)"
            return "mapping model \(entry.title) exists but doesn't match\(place): \(sentences.joined(separator: "; "))"
        }
    }

    /// What found mapping models are for, by their place, that fit no step of the path but may lead over all of them:
    /// those that match replace the steps (`shortened`), and the others are told. None where a step has a mapping
    /// model.
    private func verdictsOnWhole(
        _ hops: [MappingHop], _ selection: MappingSelection, in history: ModelHistory
    ) -> [Int: MappingVerdict] {
        guard hops.count > 1, selection.models.allSatisfy(\.isEmpty), let first = hops.first, let last = hops.last,
            first.from.name.flatMap({ history.graph.edges[$0] }) == nil
        else { return [:] }
        let verdicts = verdicts([MappingHop(from: first.from, to: last.to)], in: history)
        return Dictionary(
            uniqueKeysWithValues: entries.indices.filter { entries[$0].origin == .found && verdicts[$0].isForHop }
                .map { ($0, verdicts[$0]) })
    }

    private func isError(_ entry: Entry, _ verdict: MappingVerdict, _ selection: MappingSelection) -> Bool {
        guard entry.origin == .found else { return true }
        let meant: [Int] =
            switch verdict {
            case .differs(let meant?, _, _): [meant]
            case .ambiguous(let hops, _): hops
            // The bundle and a version of it may have been renamed.
            case .ofAnotherModel(let other) where !other.isPresent && other.hops.count == 1: other.hops
            default: []
            }
        return !infersDespiteMismatch && meant.contains { selection.models[$0].isEmpty }
    }
}

extension MappingVerdict {
    /// Whether it claims a hop and doesn't match it.
    fileprivate var isMeant: Bool { if case .differs(_?, _, _) = self { true } else { false } }

    /// … or would fit one if it weren't another model's.
    fileprivate var isForHop: Bool {
        if case .ofAnotherModel(let other) = self { !other.hops.isEmpty } else { isMeant }
    }
}

extension MappingLibrary.Entry {
    /// Steps that a message names.
    private static let maximumSteps = 3

    /// Why it can't be told which of these steps it is for.
    package func ambiguity(of steps: [String]) -> String {
        let more = steps.count > Self.maximumSteps ? ", …" : ""
        let names = [description.sourceModel, description.destinationModel].compactMap { $0?.name.map { "“\($0)”" } }
        let made = names.isEmpty ? "" : "; it was made for \(names.joined(separator: " → "))"
        return """
            it fits several steps (\(steps.prefix(Self.maximumSteps).joined(separator: ", "))\(more)) and doesn't say \
            which it is for\(made)
            """
    }
}

extension MappingLibrary.Unread {
    /// The warning about it; `inferred` where a step has no mapping model.
    fileprivate func complaint(inferred: Bool) -> String {
        let loss = isDamaged && inferred ? "a step that is inferred instead may need it, and it can't be read: " : ""
        return "mapping model \(path): \(loss)\(reason)"
    }

    /// Whether its file is named for the step: `v1-v2`, `App_to_App2`.
    func isNamed(for hop: MappingHop) -> Bool {
        func plain(_ name: some StringProtocol) -> String { name.lowercased().filter { $0.isLetter || $0.isNumber } }
        guard let from = hop.from.name.map(plain), let to = hop.to.name.map(plain) else { return false }
        let file = Paths.name(of: path)
        let name = plain(file.prefix(upTo: file.lastIndex(of: ".") ?? file.endIndex))
        return [from + to, "\(from)to\(to)"].contains(name)
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
            if entry.origin == .found, rival.entry.origin != .found || rival.entry.place.depth < entry.place.depth {
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
