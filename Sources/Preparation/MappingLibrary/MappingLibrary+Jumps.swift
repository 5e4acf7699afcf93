import CausewayMapping
import CausewayPlanning

/// A mapping model that leads over versions of a path.
package struct MappingJump: Hashable, Sendable {
    package let entry: MappingLibrary.Entry
    package let from: String
    let to: String
    /// The versions that it leaves out.
    let between: [String]
    /// Whether it leads from the path's first version to its last.
    let isWhole: Bool
    /// A step that it would replace and that has a mapping model of its own.
    let mappedStep: String?

    /// Whether it replaces the steps: as in Core Data, which looks for a mapping model of just the store's version and
    /// the target. Where the steps have mapping models too, the team meant them to run.
    fileprivate var replacesSteps: Bool { isWhole && mappedStep == nil }

    /// What a plan says.
    var notice: String {
        if replacesSteps {
            return """
                "\(from)" → "\(to)" is one step, by the mapping model \(entry.title); --next "\(from)=\(between[0])" \
                takes the versions in between
                """
        }
        let reason = isWhole ? mappedStep.map { ", as \($0) has one of its own" } ?? "" : ""
        return """
            mapping model \(entry.title) leads from "\(from)" to "\(to)" at once and isn't used\(reason): \
            --next "\(from)=\(to)" uses it
            """
    }

    /// What a report on the models says.
    package func notice(in history: ModelHistory) -> String {
        guard replacesSteps else { return notice }
        let way = "mapping model \(entry.title) takes stores of \"\(from)\" to \"\(to)\" at once"
        return isTaken(in: history)
            ? "\(way), without \(between.map { "\"\($0)\"" }.joined(separator: ", "))"
            : "\(way), but not on the way to another version: --next \"\(from)=\(to)\" does that"
    }

    /// Whether it is taken on the way to the current version.
    package func isTaken(in history: ModelHistory) -> Bool { replacesSteps && to == history.currentVersion }
}

extension MappingLibrary {
    /// The mapping models that lead over versions of a path.
    ///
    /// Those whose content alone fits don't count: a mapping model of one of the steps fits several of them at once
    /// where little was changed.
    ///
    /// - Parameters:
    ///   - hops: the path's steps, one after another.
    ///   - history: all versions.
    /// - Returns: the jumps; none where the user says what follows (`--next`, `versions.json`).
    func jumps(over hops: [MappingHop], in history: ModelHistory) -> [MappingJump] {
        let line = [hops.first?.from.name].compactMap(\.self) + hops.compactMap(\.to.name)
        guard hops.count > 1, line.count == hops.count + 1, let first = hops.first, let last = hops.last else {
            return []
        }
        let verdicts = verdicts(hops, in: history)
        let whole = self.verdicts([MappingHop(from: first.from, to: last.to)], in: history)
        var mapped: Set<Int> = []
        for (entry, verdict) in zip(entries, verdicts) {
            guard case .fits(let positions) = verdict else { continue }
            // A leftover whose versions nobody knows doesn't outrank one that names both.
            mapped.formUnion(
                positions.filter { position in
                    let (from, to) = (hops[position].from.name, hops[position].to.name)
                    return entry.origin != .found || entry.description.isMade(from: from ?? "", to: to ?? "")
                })
        }
        return entries.indices.compactMap { index in
            let entry = entries[index]
            guard case .elsewhere(var from, var to) = verdicts[index] else { return nil }
            // Hashes may allow several pairs of versions.
            if case .fits = whole[index] { (from, to) = (line[0], line[hops.count]) }
            guard let start = line.firstIndex(of: from), let end = line.firstIndex(of: to), end > start + 1,
                entry.description.isMade(from: from, to: to), history.graph.edges[from] == nil
            else { return nil }
            return MappingJump(
                entry: entry, from: from, to: to, between: Array(line[(start + 1)..<end]),
                isWhole: start == 0 && end == hops.count,
                mappedStep: (start..<end).first(where: mapped.contains).map { hops[$0].title })
        }
    }

    /// Those over the history's own paths.
    package func jumps(in history: ModelHistory) -> [MappingJump] {
        zip(entries, verdicts(history.hops, in: history)).flatMap { entry, verdict -> [MappingJump] in
            guard case .elsewhere(let from, let to) = verdict, let hops = history.hops(from: from, to: to) else {
                return []
            }
            return jumps(over: hops, in: history).filter { $0.entry == entry && $0.isWhole }
        }
    }

    /// Leaves out the versions that a mapping model leads over from the first to the last.
    ///
    /// - Parameters:
    ///   - line: the path's versions.
    ///   - history: all versions.
    /// - Returns: the versions to go through, and a notice about every mapping model that leads over some of the path.
    func shortened(
        _ line: [ModelHistory.Version], in history: ModelHistory
    ) -> (line: [ModelHistory.Version], notices: [String]) {
        let hops = zip(line, line.dropFirst()).map { MappingHop(from: $0.versioned, to: $1.versioned) }
        let jumps = jumps(over: hops, in: history)
        guard let first = line.first, let last = line.last, let jump = jumps.first(where: \.replacesSteps) else {
            return (line, jumps.filter { $0.entry.origin != .given }.map(\.notice))
        }
        return ([first, last], [jump.notice])
    }
}
