import CausewayExpressions
import CausewayXML

extension SourceForm {
    mutating func reduced(_ original: Attribute, depth: Int) -> Attribute {
        var attribute = original
        requireWritable(attribute.name, "the attribute's name")
        attribute.renamingIdentifier = renaming(attribute.renamingIdentifier, of: attribute.name)
        attribute.versionHashModifier = modifier(attribute.versionHashModifier)
        attribute.userInfo = reduced(attribute.userInfo)
        attribute.valueTransformerName = writable(attribute.valueTransformerName, "the value transformer")
        reduceClass(&attribute)
        reduceDefault(&attribute)
        attribute.validations = reducedValidations(attribute)
        if let derivation = attribute.derivation { attribute.derivation = reduced(derivation) }
        if depth > 0 { attribute.isIndexed = false }
        guard attribute.type == .composite else { return attribute }
        if attribute.elements.isEmpty { refuse("the composite attribute has no elements") }
        attribute.elements = attribute.elements.map { reduced($0, depth: depth + 1) }
        composite(attribute.elements, usedAs: attribute.name)
        return attribute
    }

    private mutating func reduceClass(_ attribute: inout Attribute) {
        guard let own = attribute.type.valueClassName else {
            attribute.valueClassName = writable(attribute.valueClassName, "the class of its values")
            return
        }
        if let other = attribute.valueClassName, !other.isEmpty, other != own {
            leaveOut("the class of its values, \(other): the compiler sets \(own)")
        }
        attribute.valueClassName = own
    }

    private mutating func reduceDefault(_ attribute: inout Attribute) {
        guard let value = attribute.defaultValue else { return }
        if let text = SourceValue.text(value, as: attribute.type), XMLWriter.canWrite(text) { return }
        if case .foreign(let className) = value {
            leaveOut("its default value, an object of the class \(className)")
        } else {
            leaveOut("its default value: the source has none of this kind for \(attribute.type.modelName)")
        }
        attribute.defaultValue = nil
    }

    // MARK: - Validation

    /// Minimum, maximum and pattern in the reader's order; any other rule is left out.
    private mutating func reducedValidations(_ attribute: Attribute) -> [Attribute.Validation] {
        let rules = ValidationRule.all(of: attribute.type)
        var found: [String: Attribute.Validation] = [:]
        for validation in attribute.validations {
            if let rule = rules.first(where: { $0.text(validation) != nil }), found[rule.key] == nil,
                let text = rule.text(validation), XMLWriter.canWrite(text),
                let value = SourceValue.parse(text, as: rule.valueType)
            {
                found[rule.key] = rule.validation(value)
            } else {
                leaveOut(
                    "the validation “\(validation.predicate.predicateFormat)”: no field of Xcode's editor makes it")
            }
        }
        return rules.compactMap { found[$0.key] }
    }

    // MARK: - Derivation

    /// A derived attribute's hash is made of its expression, so that a text must give the same one.
    private mutating func reduced(_ derivation: Attribute.Derivation) -> Attribute.Derivation {
        if derivation.filter != nil {
            refuse("the derivation has a filter, which Xcode's source can't say and the version hash depends on")
        }
        let format = derivation.expression.predicateFormat
        guard let text = Self.text(derivation.expression), let read = try? Expression.derivation(parsing: text),
            read.predicateFormat == format
        else {
            refuse("the derivation “\(format)” has no text that gives it, and the version hash depends on it")
            return derivation
        }
        return Attribute.Derivation(expression: read)
    }

    /// The derivation as Xcode's editor has it: `pages.@count` for `count:(pages)`; nil if it can't be written.
    static func text(_ derivation: Expression) -> String? {
        var text = derivation.formatString
        if case .function(nil, let name, let arguments) = derivation,
            let suffix = ["count:": "@count", "sum:": "@sum"][name],
            arguments.count == 1, case .keyPath(.evaluatedObject, _) = arguments[0]
        {
            text = "\(arguments[0].formatString).\(suffix)"
        }
        return XMLWriter.canWrite(text) ? text : nil
    }
}
