import Causeway

/// A report about models for a pull request: the versions as a diagram, a table for every step.
struct ModelsMarkdown {
    let report: ModelsReport

    var lines: [String] {
        let name = report.models.split(separator: "/").last.map(String.init) ?? report.models
        var lines = ["# \(Markdown.code(name))", ""]
        lines += Markdown.diagram(
            report.versions.map(\.name),
            report.steps.compactMap { step in
                guard let from = place(step.from), let to = place(step.to) else { return nil }
                return (from, to, words(step), step.isInferable || step.isEqual || isMapped(step))
            })
        for step in report.steps {
            lines += ["", "## \(Markdown.plain("\(step.from) → \(step.to)"))", "", Markdown.plain(verdict(step))]
            let reasons = step.refusals + step.conditions
            if !reasons.isEmpty { lines += [""] + Markdown.list(reasons) }
            if !step.changes.isEmpty { lines += [""] + Markdown.changes(step.changes) }
        }
        let unreadable = report.versions.compactMap { version in
            version.error.map { "\(version.name) can't be read: \($0)" }
        }
        let notices = unreadable + report.notices
        return lines + (notices.isEmpty ? [] : ["", "## Notices", ""] + Markdown.list(notices))
    }

    private func place(_ version: String) -> Int? { report.versions.firstIndex { $0.name == version } }

    private func words(_ step: ModelsReport.Step) -> String {
        if step.error != nil { return "not compared" }
        if step.isEqual { return "equal" }
        let changes = Figures.count(step.changes.count, "change", "changes")
        if isMapped(step) { return "mapped, \(changes)" }
        return step.isInferable ? "inferred, \(changes)" : "can't be inferred, \(changes)"
    }

    private func isMapped(_ step: ModelsReport.Step) -> Bool {
        (report.mappings ?? []).contains { mapping in
            mapping.fits.contains { $0.from == step.from && $0.to == step.to }
        }
    }

    private func verdict(_ step: ModelsReport.Step) -> String {
        if let error = step.error { return error }
        if step.isEqual { return "No migration needed: the hashes are equal." }
        guard step.isInferable else { return "The mapping can't be inferred:" }
        return step.conditions.isEmpty
            ? "The mapping can be inferred." : "The mapping can be inferred where the rows allow it:"
    }
}
