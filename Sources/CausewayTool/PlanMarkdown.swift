import Causeway

/// A plan for a pull request: the path as a diagram, a table for every step, totals.
struct PlanMarkdown {
    let plan: MigrationPlan
    /// `--sql`: the statements of every step at the end.
    var showsSQL = false

    var lines: [String] {
        let store = plan.store.split(separator: "/").last.map(String.init) ?? plan.store
        guard !plan.isNothingToDo else {
            return [
                "# \(Markdown.code(store)): nothing to do", "",
                "The store is at version \(Markdown.code(plan.sourceVersion)), which is the target.",
            ] + warnings
        }
        var lines = [
            "# \(Markdown.code(store)): \(Markdown.plain(plan.sourceVersion)) → \(Markdown.plain(plan.targetVersion))",
            "",
            "\(Figures.bytes(plan.storeBytes)); the migration needs \(Figures.bytes(plan.diskBytes)) of disk beside the "
                + "store and \(Figures.bytes(plan.memoryBytes)) of memory for rows.", "",
        ]
        lines += Markdown.diagram(
            plan.path,
            hops.enumerated().map { place, hop in
                (place, place + 1, words(hop), true)
            })
        if !plan.renames.isEmpty {
            lines +=
                ["", "Tables and columns get other names; nothing else changes:", ""]
                + Markdown.list(plan.renames)
        }
        if !plan.metadata.isEmpty {
            lines += ["", "The new store's metadata get \(Markdown.plain(plan.metadata.inWords))."]
        }
        for hop in hops {
            lines += ["", "## \(Markdown.plain("\(hop.from) → \(hop.to)"))", ""] + Markdown.changes(hop.changes)
            if !hop.losses.isEmpty { lines += ["", "Lost:", ""] + Markdown.list(hop.losses) }
        }
        let changes = plan.steps.flatMap(\.changes)
        lines += ["", "## In all", "", Markdown.plain(ChangeText.totals(changes))]
        let losses = plan.steps.flatMap(\.losses).count
        lines += ["", losses == 0 ? "Nothing is lost." : Figures.count(losses, "loss", "losses")]
        return lines + warnings + (showsSQL ? statements : [])
    }

    private var statements: [String] {
        plan.steps.flatMap { step in
            let title = Markdown.plain("Statements of \(step.versions.joined(separator: " → "))")
            return ["", "## \(title)", ""] + Markdown.block(PlanText.statements(step), "sql")
        }
    }

    private var warnings: [String] {
        plan.warnings.isEmpty ? [] : ["", "## Warnings", ""] + Markdown.list(plan.warnings)
    }

    /// A step of the path.
    private struct Hop {
        var from: String
        var to: String
        var models: [String]
        var changes: [ModelChange]
        /// Without the versions, which the heading has.
        var losses: [String]
    }

    private var hops: [Hop] {
        plan.steps.flatMap { step in
            zip(step.versions, step.versions.dropFirst()).map { from, to in
                var models: [String] = []
                for model in step.passes.compactMap(\.mapping?.model) where !models.contains(model) {
                    models.append(model)
                }
                let isWhole = step.versions.count == 2
                let prefix = "\(from) → \(to): "
                // What a fused run loses as a whole stands with its last version.
                let whole = ["\(step.versions.joined(separator: " → ")): ", "\(step.versions[0]) → … → \(to): "]
                let losses = step.losses.compactMap { loss -> String? in
                    if loss.hasPrefix(prefix) { return String(loss.dropFirst(prefix.count)) }
                    guard !isWhole, to == step.versions.last, let whole = whole.first(where: { loss.hasPrefix($0) })
                    else {
                        return nil
                    }
                    return String(loss.dropFirst(whole.count))
                }
                return Hop(
                    from: from, to: to, models: models, changes: step.changes.filter { $0.version == to },
                    losses: losses)
            }
        }
    }

    private func words(_ hop: Hop) -> String {
        let method = hop.models.isEmpty ? "inferred" : "by \(hop.models.joined(separator: ", "))"
        let losses = hop.losses.isEmpty ? "" : ", \(Figures.count(hop.losses.count, "loss", "losses"))"
        return "\(method), \(Figures.count(hop.changes.count, "change", "changes"))\(losses)"
    }
}
