import CausewayExpressions

extension MappingModelDescription {
    /// The mapping model for people, line by line: entity mappings in their order with kind, rows and policy, under
    /// each its property mappings as `name ← expression`.
    ///
    /// `resolved` is the same resolved between two versions; nil if it fits none.
    package func lines(_ resolved: ResolvedMapping? = nil) -> [String] {
        var lines = ["\(name): \(entityMappings.count) entity mapping\(entityMappings.count == 1 ? "" : "s")"]
        for (side, model) in [("source", sourceModel), ("destination", destinationModel)] {
            if let path = model?.path { lines.append("  \(side) model: \(path)") }
        }
        lines += notices.map { "  note: \($0)" }
        for mapping in resolved?.entityMappings.map(\.mapping) ?? entityMappings {
            lines += mapping.lines().map { "  \($0)" }
        }
        return lines
    }
}

extension ResolvedMapping {
    /// The resolved mapping model as a description: what a `.cdm` would hold.
    package func compiled() -> MappingModelDescription {
        MappingModelDescription(
            name: name, path: path, form: .compiled, entityMappings: entityMappings.map(\.mapping))
    }

    /// The resolved mapping model: every default written out, then what the mapping model leaves out.
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
        ["\(name) ← \(value)"] + userInfo.lines.map { "  \($0)" }
    }

    /// The property's value: `$source.title`, `related through PostToPost: $source.posts`, `not set`.
    package var value: String {
        if let expression { return expression.relation ?? expression.formatString }
        switch origin {
        case nil: return "not set"
        case .automatic: return "$source.\(name) where the source has it, else not set"
        case .property(let name): return "$source.\(name)"
        case .keyPath(let path, mapping: let carrier):
            let objects = path ?? "$source.\(name)"
            return carrier.map { "related through \($0): \(objects)" } ?? objects
        case .text(let text): return text
        }
    }
}

extension Expression {
    /// Objects that entity mappings made from others, in words; nil for any other expression.
    fileprivate var relation: String? {
        guard case .function(.variable("manager")?, let selector, let arguments) = self, arguments.count == 2,
            let name = arguments[0].text
        else { return nil }
        switch selector {
        case ManagerSelector.instancesForMapping: return "related through \(name): \(arguments[1].formatString)"
        case ManagerSelector.instancesForRelationship:
            return "related through any mapping: \(arguments[1].formatString)"
        default: return nil
        }
    }
}

extension EntityMappingKind {
    /// The kind in a sentence.
    package var word: String { "\(self)" }
}

extension [String: Constant] {
    fileprivate var lines: [String] {
        sorted { $0.key < $1.key }.map { "user info \($0.key) = \(Expression.constant($0.value).formatString)" }
    }
}
