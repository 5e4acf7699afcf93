import Causeway

/// A plan as a person reads it.
struct PlanText {
    let plan: MigrationPlan
    let showsSQL: Bool
    var layout = TextLayout()

    var lines: [String] {
        var lines = ["Store    \(plan.store), \(Figures.bytes(plan.storeBytes))"]
        guard !plan.isNothingToDo else {
            lines.append("Version  \(plan.sourceVersion): nothing to do, this is the target")
            return lines + listed(plan.warnings, in: layout, under: "", "Warnings")
        }
        lines += fact("Version  \(plan.path.joined(separator: " → "))")
        lines += [
            "Disk     \(Figures.bytes(plan.diskBytes)) beside the store at the peak",
            "Memory   \(Figures.bytes(plan.memoryBytes)) for rows in flight at most",
        ]
        if let mirror = plan.cloudKit { lines += fact(Self.mirror(mirror)) }
        if !plan.renames.isEmpty {
            lines += fact("Renames  \(plan.renames.joined(separator: ", ")); nothing else changes")
        }
        if !plan.metadata.isEmpty { lines += fact("Sets     \(plan.metadata.inWords) in the store's metadata") }
        for (index, step) in plan.steps.enumerated() {
            lines +=
                [""]
                + layout.lines(
                    "Step \(index + 1) of \(plan.steps.count): \(step.versions.joined(separator: " → ")), "
                        + "\(Figures.bytes(step.diskBytes)) of disk")
            if step.runsWithStepBefore {
                lines.append("  Runs together with the step before it: no store is made between them")
            } else if let barrier = step.barrier {
                lines += layout.lines("  Doesn't run together with the step before it: \(barrier)")
            }
            let mappings = step.passes.compactMap(\.mapping).flatMap(Self.mapping)
            lines +=
                passes(step) + (methods(step) + mappings).flatMap { layout.lines($0) } + changes(step)
                + listed(step.losses, in: layout, under: "  Lost:")
            if showsSQL { lines += [""] + Self.statements(step) }
        }
        return lines + listed(plan.warnings, in: layout, under: "", "Warnings")
    }

    /// A line with a name of up to eight letters.
    private func fact(_ text: String) -> [String] { layout.lines(text, hanging: 9) }

    private static func mirror(_ mirror: MigrationPlan.CloudKit) -> String {
        "CloudKit \(Figures.count(mirror.objects, "object", "objects")) mirrored, "
            + "\(Figures.grouped(mirror.waitingForUpload)) to upload, "
            + "\(Figures.grouped(mirror.waitingForDeletion)) to delete in the cloud; "
            + "\(Figures.count(mirror.tables, "table", "tables")) carried"
    }

    /// Losses that a migration names; a plan names all.
    private static let namedLosses = 20

    /// What a migration says before it runs.
    static func cautions(_ plan: MigrationPlan) -> [String] {
        losses(plan.steps.flatMap(\.losses)) + plan.warnings.map { "warning: \($0)" }
    }

    /// The first losses, before or after the run.
    static func losses(_ losses: [String]) -> [String] {
        let (shown, more) = TextLayout().folded(losses, to: namedLosses)
        return shown + (more == 0 ? [] : ["… and \(Figures.grouped(more)) more losses; causeway plan names all"])
    }

    /// What every version of a step changes.
    private func changes(_ step: MigrationPlan.Step) -> [String] {
        var lines: [String] = []
        for version in step.versions.dropFirst() {
            let changes = step.changes.filter { $0.version == version }
            guard !changes.isEmpty else { continue }
            lines.append("  Changes in \(version):")
            lines += ChangeText(changes: changes, layout: layout).lines(indent: 4)
        }
        return lines
    }

    private func passes(_ step: MigrationPlan.Step) -> [String] {
        var table = TextTable([
            ("PASS", .leading), ("METHOD", .leading), ("ROWS", .trailing), ("CARRIED", .trailing),
            ("CHANGED", .trailing),
        ])
        for pass in step.passes {
            let movesRows = pass.carried + pass.changed > 0
            table.add(
                pass.title, pass.method, pass.rows.map(Figures.grouped) ?? "",
                movesRows ? String(pass.carried) : "", movesRows ? String(pass.changed) : "")
        }
        return table.isEmpty ? [] : table.lines(width: layout.width)
    }

    /// How tables and indexes are made, and why not by a cheaper method, where pages make any.
    private func methods(_ step: MigrationPlan.Step) -> [String] {
        let made = step.tables.flatMap(\.indexes)
        guard
            made.contains(where: { $0.reason != nil })
                || step.tables.contains(where: { $0.reason != nil || ["keep", "patch", "rebuild"].contains($0.method) })
        else { return [] }
        func line(_ title: String, _ found: [(name: String, reason: String?)]) -> String? {
            let names = found.map { found in found.reason.map { "\(found.name) (\($0))" } ?? found.name }
            return names.isEmpty ? nil : "  \(title): \(names.joined(separator: ", "))"
        }
        func tables(_ method: String, _ title: String) -> String? {
            line("Tables \(title)", step.tables.filter { $0.method == method }.map { ($0.name, $0.reason) })
        }
        func indexes(_ method: String, _ title: String) -> String? {
            line("Indexes \(title)", made.filter { $0.method == method }.map { ($0.name, $0.reason) })
        }
        return [
            tables("keep", "kept"), tables("patch", "patched"), tables("rebuild", "rebuilt from pages"),
            tables("statements", "by statements"), indexes("keep", "kept"), indexes("patch", "patched"),
            indexes("carry", "carried"), indexes("sort", "sorted"), indexes("statements", "by statements"),
        ].compactMap(\.self)
    }

    /// An entity mapping: what is special about its rows, and how every property gets its value.
    private static func mapping(_ mapping: MigrationPlan.Mapping) -> [String] {
        let ends = "\(mapping.source ?? "(nothing)") → \(mapping.destination ?? "(nothing)")"
        var lines = ["  Mapping \(mapping.name) of \(mapping.model): \(ends)"]
        if let policy = mapping.policy {
            let again = ", called again for every row in stage 2 (createsRelationships)"
            lines.append("    policy: \(policy)" + (mapping.createsRelationships ? again : ""))
        }
        if let filter = mapping.filter { lines.append("    rows: \(filter)") }
        if mapping.source != nil, mapping.destination != nil { lines.append("    keys: \(mapping.keys.words)") }
        if let method = mapping.method {
            lines.append("    written by \(method)" + (mapping.reason.map { " (\($0))" } ?? ""))
        }
        return lines + mapping.properties.map { "    \($0)" }
    }

    /// The statements of a step, each after what it is for.
    static func statements(_ step: MigrationPlan.Step) -> [String] {
        var lines = ["-- schema"] + step.statements.map { $0 + ";" }
        for pass in step.passes where !pass.statement.isEmpty && pass.method != "index" {
            lines += ["-- rows of \(pass.title)", pass.statement + ";"]
        }
        return lines
    }
}

extension MigrationPlan.Keys {
    fileprivate var words: String {
        switch self {
        case .kept: "kept"
        case .keptIfFree: "kept unless another row has them"
        case .new: "new"
        }
    }
}
