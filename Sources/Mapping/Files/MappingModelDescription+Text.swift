import CausewayExpressions

extension MappingModelDescription {
    /// The mapping model for people, line by line: entity mappings in their order with kind, rows and policy, under
    /// each its property mappings as `name ← expression`.
    package func lines() -> [String] {
        var lines = ["\(name): \(entityMappings.count) entity mapping\(entityMappings.count == 1 ? "" : "s")"]
        for (side, model) in [("source", sourceModel), ("destination", destinationModel)] {
            if let path = model?.path { lines.append("  \(side) model: \(path)") }
        }
        lines += notices.map { "  note: \($0)" }
        for mapping in entityMappings { lines += mapping.lines().map { "  \($0)" } }
        return lines
    }
}

extension ResolvedMapping {
    /// The same as resolved: every default written out, then what the mapping model leaves out.
    package func lines() -> [String] {
        compiled().lines() + warnings.map { "  warning: \($0)" } + losses.map { "  lost: \($0)" }
    }
}

extension EntityMappingDescription {
    /// What `MappingModelDescription.lines()` says about one entity mapping.
    package func lines() -> [String] {
        let ends = [sourceEntity ?? "(nothing)", destinationEntity ?? "(nothing)"].joined(separator: " → ")
        var lines = ["\(name): \(kind == .undefined ? "" : "\(kind.word) ")\(ends)"]
        if let rows = rowsText { lines.append("  rows: \(rows)") }
        if let policyClassName { lines.append("  policy: \(policyClassName)") }
        lines += userInfo.lines.map { "  \($0)" }
        for property in attributeMappings + relationshipMappings { lines += property.lines().map { "  \($0)" } }
        if fillsUnmentioned { lines.append("  the rest ← the source's properties of the same name") }
        return lines
    }

    /// nil where all rows of the source entity are read.
    private var rowsText: String? {
        if let filter { return filter }
        guard let expression = sourceExpression else { return nil }
        guard let fetch = SourceFetch(expression), fetch.entity == sourceEntity else { return expression.formatString }
        let filter = fetch.filter == "TRUEPREDICATE" ? nil : fetch.filter
        return fetch.includesSubentities ? "\(filter ?? "all"), subentities included" : filter
    }
}

extension PropertyMappingDescription {
    fileprivate func lines() -> [String] {
        let value: String =
            if let expression {
                expression.formatString
            } else {
                switch origin {
                case nil: "(nothing)"
                case .automatic: "(default)"
                case .property(let name): "$source.\(name)"
                case .keyPath(let path, mapping: let carrier):
                    (path ?? "$source.\(name)") + (carrier.map { " through \($0)" } ?? "")
                case .text(let text): text
                }
            }
        return ["\(name) ← \(value)"] + userInfo.lines.map { "  \($0)" }
    }
}

extension EntityMappingKind {
    /// The kind in a sentence.
    package var word: String { editorName.lowercased() }
}

extension [String: Constant] {
    fileprivate var lines: [String] {
        sorted { $0.key < $1.key }.map { "user info \($0.key) = \(Expression.constant($0.value).formatString)" }
    }
}
