import Causeway

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What `models --check` prints.
enum ModelsCheckText {
    private static var layout: TextLayout { .output(showsAll: true) }

    static func lines(_ check: ModelsCheck, _ format: ModelsFormat) throws -> [String] {
        let end =
            check.problems.isEmpty
            ? "Nothing is wrong" : Figures.count(check.problems.count, "problem", "problems")
        switch format {
        case .json: return [try JSONText.document(check)]
        case .github:
            return check.problems.map { annotation("error", $0) } + check.notices.map { "::notice::\(escaped($0))" }
                + [end]
        case .text, .markdown:
            let new = check.unrecorded.joined(separator: ", ")
            let shipped = Figures.count(check.recorded.count, "version", "versions")
            return ["Models   \(check.models.joined(separator: ", "))", "Shipped  \(check.shipped), \(shipped)"]
                + (new.isEmpty ? [] : layout.lines("New      \(new)", hanging: 9)) + ["", end] + list(check.problems)
                + listed(check.notices, in: layout, under: "", "Notices")
        }
    }

    static func lines(_ recording: ShippedModelsRecording, _ format: ModelsFormat) throws -> [String] {
        let isWritten = recording.problems.isEmpty
        let end =
            isWritten
            ? "\(recording.shipped): \(Figures.count(recording.added.count, "version", "versions")) added, "
                + "\(recording.unchanged.count) unchanged"
                + (recording.replaced.isEmpty
                    ? "" : "; replaced or removed: \(recording.replaced.joined(separator: ", "))")
            : "\(recording.shipped): not written; --force replaces what was edited or removed"
        switch format {
        case .json: return [try JSONText.document(recording)]
        case .github: return recording.problems.map { annotation("error", $0) } + [end]
        case .text, .markdown: return [end] + list(recording.problems)
        }
    }

    private static func list(_ problems: [ModelsCheck.Problem]) -> [String] {
        problems.flatMap { problem -> [String] in
            // A message that has the path itself doesn't need it again.
            let file = problem.file.flatMap { problem.line == nil && problem.message.contains($0) ? nil : $0 }
            let place = file.map { "  (\($0)\(problem.line.map { line in ":\(line)" } ?? ""))" } ?? ""
            return layout.lines("  - \(problem.message)\(place)")
                + problem.details.flatMap { layout.lines("      \($0)") }
        }
    }

    // MARK: - GitHub

    /// A workflow command, as GitHub's runner reads it: it marks the line in a pull request.
    private static func annotation(_ level: String, _ problem: ModelsCheck.Problem) -> String {
        var properties: [String] = []
        if let file = problem.file {
            properties.append("file=\(escapedProperty(inRepository(file)))")
            if let line = problem.line { properties.append("line=\(line)") }
        }
        properties.append("title=\(escapedProperty(title(of: problem.kind)))")
        let text = ([problem.message] + problem.details.map { "- \($0)" }).joined(separator: "\n")
        return "::\(level) \(properties.joined(separator: ","))::\(escaped(text))"
    }

    /// Why the models can't be checked at all.
    static func annotation(_ failure: MigrationError) -> String {
        let remedy = failure.remedy.isEmpty ? [] : [failure.remedy]
        let text = ([failure.message] + failure.details.map { "- \($0)" } + remedy).joined(separator: "\n")
        return "::error title=The models can't be checked::\(escaped(text))"
    }

    private static func title(of kind: ModelsCheck.Problem.Kind) -> String {
        switch kind {
        case .shippedVersionEdited: "A shipped version was edited"
        case .shippedVersionRemoved: "A shipped version was removed"
        case .version: "A version can't be read"
        case .step: "A step can't be taken"
        case .mappingModel: "A mapping model fits no step"
        case .store: "A store can't be migrated"
        }
    }

    /// A path from the folder that the command runs in, which is the repository's: GitHub knows no others.
    private static func inRepository(_ path: String) -> String {
        let folder = FileManager.default.currentDirectoryPath + "/"
        return path.hasPrefix(folder) ? String(path.dropFirst(folder.count)) : path
    }

    /// Line breaks would end the command, and a percent sign begins an escape.
    private static func escaped(_ text: String) -> String {
        text.replacing("%", with: "%25").replacing("\r", with: "%0D").replacing("\n", with: "%0A")
    }

    private static func escapedProperty(_ text: String) -> String {
        escaped(text).replacing(":", with: "%3A").replacing(",", with: "%2C")
    }
}
