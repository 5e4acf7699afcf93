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
        lines += mappings
        let unreadable = report.versions.compactMap { version in
            version.error.map { "\(version.name) can't be read: \($0)" }
        }
        let notices = unreadable + report.notices
        return lines + (notices.isEmpty ? [] : ["", "## Notices", ""] + Markdown.list(notices))
    }

    /// Every mapping model with the steps that it fits, or why it fits none; empty unless they were asked for.
    private var mappings: [String] {
        guard let mappings = report.mappings, !mappings.isEmpty else { return [] }
        return ["", "## Mapping models", ""]
            + mappings.flatMap { mapping in
                ["- \(Markdown.code(mapping.title)): \(Markdown.plain(mapping.verdict))"]
                    + Markdown.list(mapping.differences).map { "  \($0)" }
            }
    }

    private func place(_ version: String) -> Int? { report.versions.firstIndex { $0.name == version } }

    private func words(_ step: ModelsReport.Step) -> String {
        if step.error != nil { return "not compared" }
        if step.isEqual { return "equal" }
        let changes = Figures.count(step.changes.count, "change", "changes")
        if isMapped(step) { return "mapped, \(changes)" }
        return step.isInferable ? "inferred, \(changes)" : "can't be inferred, \(changes)"
    }

    private func isMapped(_ step: ModelsReport.Step) -> Bool { !report.mappingModels(of: step).isEmpty }

    private func verdict(_ step: ModelsReport.Step) -> String {
        if let error = step.error { return error }
        if step.isEqual { return "No migration needed: the hashes are equal." }
        let models = report.mappingModels(of: step)
        if !models.isEmpty {
            let (noun, other) = models.count == 1 ? ("mapping model", "it") : ("mapping models", "them")
            return "By the \(noun) \(models.joined(separator: ", ")). Without \(other), the mapping \(inference(step))"
        }
        let spanning = report.mappingModels(spanning: step)
        let other = spanning.isEmpty ? "" : "A mapping model spans the step: \(spanning.joined(separator: ", ")). "
        return "\(other)The mapping \(inference(step))"
    }

    private func inference(_ step: ModelsReport.Step) -> String {
        guard step.isInferable else { return "can't be inferred:" }
        return step.conditions.isEmpty ? "can be inferred." : "can be inferred where the rows allow it:"
    }
}
