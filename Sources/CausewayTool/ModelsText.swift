import Causeway

/// A report about models as a person reads it.
struct ModelsText {
    let report: ModelsReport
    let showsHashes: Bool
    var layout = TextLayout()

    var lines: [String] {
        var lines = ["Models  \(report.models)", "", Figures.count(report.versions.count, "version", "versions")]
        lines += versions
        lines += report.versions.flatMap { version in
            version.error.map { layout.lines("  \(version.name): can't be read: \($0)") } ?? []
        }
        if showsHashes { lines += hashes }
        if !report.steps.isEmpty { lines += ["", Figures.count(report.steps.count, "step", "steps")] + steps }
        if let mappings = report.mappings { lines += [""] + Self.mappings(mappings).flatMap { layout.lines($0) } }
        return lines + listed(report.notices, in: layout, under: "", "Notices")
    }

    private var versions: [String] {
        var table = TextTable([
            ("", .leading), ("VERSION", .leading), ("IDENTIFIERS", .leading), ("ENTITIES", .trailing),
            ("CHECKSUM", .leading),
        ])
        for version in report.versions {
            table.add(
                version.isCurrent ? "*" : "", version.name,
                version.versionIdentifiers.filter { !$0.isEmpty }.joined(separator: ", "),
                version.error == nil ? Figures.grouped(version.entityCount) : "?", version.checksum)
        }
        return table.lines(width: layout.width) + ["  * the current version"]
    }

    private var hashes: [String] {
        report.versions.filter { $0.error == nil }.flatMap { version in
            var table = TextTable([("ENTITY", .leading), ("HASH", .leading)])
            for (entity, hash) in version.entityHashes.sorted(by: { $0.key < $1.key }) {
                table.add(entity, hash + (version.unverifiedEntities.contains(entity) ? "  unverified" : ""))
            }
            return ["", version.name] + layout.lines("  digest  \(version.digest)", hanging: 10)
                + table.lines(width: layout.width)
        }
    }

    private var steps: [String] {
        report.steps.flatMap { step -> [String] in
            let head = "  \(step.from) → \(step.to): "
            if let error = step.error { return layout.lines(head + error) }
            if step.isEqual { return [head + "no migration needed: the hashes are equal"] }
            let inferable = step.conditions.isEmpty ? "can be inferred" : "can be inferred where the rows allow it"
            let verdict = (step.isInferable ? inferable : "can't be inferred") + fitting(step)
            return layout.lines(head + verdict) + changes(step)
                + (step.refusals + step.conditions).flatMap { layout.lines("    - \($0)") }
        }
    }

    /// The mapping models of a step; none unless they were asked for.
    private func fitting(_ step: ModelsReport.Step) -> String {
        let names = report.mappingModels(of: step)
        guard names.isEmpty else { return "; by mapping model: \(names.joined(separator: ", "))" }
        let spanning = report.mappingModels(spanning: step)
        return spanning.isEmpty ? "" : "; spanned by mapping model: \(spanning.joined(separator: ", "))"
    }

    private static func mappings(_ mappings: [ModelsReport.Mapping]) -> [String] {
        [Figures.count(mappings.count, "mapping model", "mapping models")]
            + mappings.flatMap { mapping -> [String] in
                ["  \(mapping.title): \(mapping.verdict)"] + mapping.differences.map { "    - \($0)" }
                    + mapping.lines.dropFirst().map { "    \($0)" }
            }
    }

    /// Property by property; where only hashes tell that something changes, entity by entity.
    private func changes(_ step: ModelsReport.Step) -> [String] {
        guard step.changes.isEmpty else { return ChangeText(changes: step.changes, layout: layout).lines(indent: 6) }
        let renamed = step.renamedEntities.map { "\($0.from) → \($0.to)" }
        return [
            ("added", step.addedEntities), ("removed", step.removedEntities), ("renamed", renamed),
            ("changed", step.changedEntities),
        ].filter { !$0.1.isEmpty }.flatMap {
            layout.lines("      \($0.0.padded(to: 9))\($0.1.joined(separator: ", "))", hanging: 15)
        }
    }
}

extension ModelsReport {
    /// Names of the mapping models that a step runs by; empty unless they were asked for.
    func mappingModels(of step: Step) -> [String] {
        (mappings ?? []).filter { mapping in
            mapping.fits.contains { $0.from == step.from && $0.to == step.to }
        }.map(\.name)
    }

    /// Those that lead over a step which has no mapping otherwise, each with the option that uses it.
    func mappingModels(spanning step: Step) -> [String] {
        guard !step.isInferable else { return [] }
        return (mappings ?? []).compactMap { mapping in
            mapping.fits.first { spans($0, step) }.map { "\(mapping.name) (--next \"\($0.from)=\($0.to)\")" }
        }
    }

    private func spans(_ edge: Mapping.Edge, _ step: Step) -> Bool {
        func place(_ version: String) -> Int? { versions.firstIndex { $0.name == version } }
        guard let first = place(edge.from), let last = place(edge.to), let from = place(step.from),
            let to = place(step.to)
        else { return false }
        return first <= from && to <= last
    }
}

extension ModelsReport.Mapping {
    /// Its path, or that it has none.
    var title: String { path ?? "\(name), written in Swift" }

    /// What it fits; a colon at the end where reasons follow.
    var verdict: String {
        guard fits.isEmpty else { return "fits " + fits.map { "\($0.from) → \($0.to)" }.joined(separator: ", ") }
        return lines.isEmpty
            ? "can't be used:" : "fits no step" + (nearest.map { "; compared with \($0):" } ?? ":")
    }
}
