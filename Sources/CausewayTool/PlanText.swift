import Causeway

/// A plan as a person reads it.
struct PlanText {
    let plan: MigrationPlan
    let showsSQL: Bool

    var lines: [String] {
        var lines = ["Store    \(plan.store), \(Figures.bytes(plan.storeBytes))"]
        guard !plan.isNothingToDo else {
            lines.append("Version  \(plan.sourceVersion): nothing to do, this is the target")
            return lines + listed(plan.warnings, under: "", "Warnings")
        }
        lines += [
            "Version  \(plan.path.joined(separator: " → "))",
            "Disk     \(Figures.bytes(plan.diskBytes)) beside the store at the peak",
            "Memory   \(Figures.bytes(plan.memoryBytes)) for rows in flight at most",
        ]
        if !plan.renames.isEmpty {
            lines.append("Renames  \(plan.renames.joined(separator: ", ")); nothing else changes")
        }
        for (index, step) in plan.steps.enumerated() {
            lines += [
                "",
                "Step \(index + 1) of \(plan.steps.count): \(step.versions.joined(separator: " → ")), "
                    + "\(Figures.bytes(step.diskBytes)) of disk",
            ]
            if step.runsWithStepBefore {
                lines.append("  Runs together with the step before it: no store is made between them")
            } else if let barrier = step.barrier {
                lines.append("  Doesn't run together with the step before it: \(barrier)")
            }
            lines +=
                passes(step) + methods(step) + step.passes.compactMap(\.mapping).flatMap(Self.mapping)
                + listed(step.conversions, under: "  Converted:") + listed(step.losses, under: "  Lost:")
            if showsSQL { lines += statements(step) }
        }
        return lines + listed(plan.warnings, under: "", "Warnings")
    }

    /// What a migration says before it runs.
    static func cautions(_ plan: MigrationPlan) -> [String] {
        plan.steps.flatMap(\.losses).map { "lost in \($0)" } + plan.warnings.map { "warning: \($0)" }
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
        return table.isEmpty ? [] : table.lines
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
        if let policy = mapping.policy { lines.append("    policy: \(policy)") }
        if let filter = mapping.filter { lines.append("    rows: \(filter)") }
        if mapping.source != nil, mapping.destination != nil { lines.append("    keys: \(mapping.keys.words)") }
        if let method = mapping.method {
            lines.append("    written by \(method)" + (mapping.reason.map { " (\($0))" } ?? ""))
        }
        return lines + mapping.properties.map { "    \($0)" }
    }

    private func statements(_ step: MigrationPlan.Step) -> [String] {
        var lines = ["", "-- schema"] + step.statements.map { $0 + ";" }
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
