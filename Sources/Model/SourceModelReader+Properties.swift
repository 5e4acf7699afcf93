import CausewayExpressions
import CausewayXML

extension SourceModelReader {
    // MARK: - Attributes

    /// nil, with a problem noted, if the attribute's type isn't known.
    mutating func attribute(_ element: Element, named name: String, depth: Int) -> Attribute? {
        guard let type = AttributeType(sourceName: element["attributeType"]) else {
            report("The attribute type “\(element["attributeType"] ?? "")” is not known.", element, property: name)
            return nil
        }
        var attribute = Attribute(name: name, type: type)
        attribute.isOptional = isYes(element["optional"])
        attribute.isTransient = isYes(element["transient"])
        attribute.isIndexed = isYes(element["indexed"])
        attribute.isIndexedBySpotlight = isYes(element["spotlightIndexingEnabled"])
        attribute.renamingIdentifier = renaming(element, name)
        attribute.versionHashModifier = nonEmpty(element["versionHashModifier"])
        attribute.userInfo = userInfo(element)
        attribute.allowsExternalBinaryDataStorage = isYes(element["allowsExternalBinaryDataStorage"])
        // The first is what Xcode writes (InsideVersionHashes §3), the second the name of the property in code.
        attribute.preservesValueInHistoryOnDeletion =
            isYes(element["preserveAfterDeletion"]) || isYes(element["preservesValueInHistoryOnDeletion"])
        attribute.allowsCloudEncryption = isYes(element["allowsCloudEncryption"])
        attribute.valueTransformerName = nonEmpty(element["valueTransformerName"])
        attribute.valueClassName = type.valueClassName ?? nonEmpty(element["customClassName"])
        attribute.defaultValue = defaultValue(element, type)
        attribute.validations = validations(element, type)
        if isYes(element["derived"]) { attribute.derivation = derivation(element, name) }
        if type == .composite { attribute.elements = compositeElements(element, name, depth) }
        return attribute
    }

    /// nil, too, for a text that the type has no value for: the editor leaves texts behind when an attribute's type is
    /// changed (a UUID's default is `0` then), and neither hashes nor stores hold a default.
    private func defaultValue(_ element: Element, _ type: AttributeType) -> Constant? {
        if type == .date, let text = nonEmpty(element["defaultDateTimeInterval"]) {
            return SourceValue.parse(text, as: type)
        }
        guard let text = element["defaultValueString"], !text.isEmpty || type == .string else { return nil }
        switch type {
        // These have no default in this form.
        case .undefined, .binary, .transformable, .objectID, .composite, .date: return nil
        default: return SourceValue.parse(text, as: type)
        }
    }

    /// Minimum, maximum and pattern become predicates with the error codes of `CoreDataErrors.h`, as in the caches of
    /// Photos (`SELF <= 8` with 1610, `SELF >= 1` with 1620). A bound that the type has no value for is none, as with
    /// defaults.
    private func validations(_ element: Element, _ type: AttributeType) -> [Attribute.Validation] {
        var validations: [Attribute.Validation] = []
        for rule in ValidationRule.all(of: type) {
            guard let text = nonEmpty(element[rule.key]),
                let bound = SourceValue.parse(text, as: rule.valueType)
            else { continue }
            validations.append(rule.validation(bound))
        }
        return validations
    }

    private mutating func derivation(_ element: Element, _ name: String) -> Attribute.Derivation? {
        guard let text = nonEmpty(element["derivationExpression"]) else {
            report("The derived attribute has no derivation expression.", element, property: name)
            return nil
        }
        do {
            return Attribute.Derivation(expression: try Expression.derivation(parsing: text))
        } catch {
            report("The derivation “\(text)” can't be read: \(error).", element, property: name)
            return nil
        }
    }

    /// The elements of a composite attribute's type, nested types expanded.
    private mutating func compositeElements(_ element: Element, _ name: String, _ depth: Int) -> [Attribute] {
        guard let typeName = nonEmpty(element["composite"]), let type = composites[typeName] else {
            report("The composite type “\(element["composite"] ?? "")” is not in the model.", element, property: name)
            return []
        }
        guard depth < ModelLimits.compositeDepth, expandedElements <= ModelLimits.compositeElements else {
            report("Composite types contain each other, or too many elements.", element, property: name)
            return []
        }
        var elements: [Attribute] = []
        for child in type.children(named: "attribute") {
            guard let childName = nonEmpty(child["name"]) else {
                report("An element of the composite type “\(typeName)” has no name.", child, property: name)
                continue
            }
            expandedElements += 1
            if let attribute = attribute(child, named: childName, depth: depth + 1) { elements.append(attribute) }
        }
        if elements.isEmpty {
            report("The composite type “\(typeName)” has no elements.", element, property: name)
        }
        return elements
    }

    // MARK: - Relationships

    mutating func relationship(_ element: Element, named name: String) -> Relationship {
        var relationship = Relationship(name: name, destination: element["destinationEntity"] ?? "")
        relationship.inverse = nonEmpty(element["inverseName"])
        relationship.inverseEntity = relationship.inverse == nil ? nil : nonEmpty(element["inverseEntity"])
        relationship.isOptional = isYes(element["optional"])
        relationship.isTransient = isYes(element["transient"])
        relationship.isOrdered = isYes(element["ordered"])
        relationship.isIndexedBySpotlight = isYes(element["spotlightIndexingEnabled"])
        // As written, absent = 0: `toMany` and `optional` change neither (InsideVersionHashes §3).
        relationship.minCount = count("minCount", element, name)
        relationship.maxCount = count("maxCount", element, name)
        relationship.renamingIdentifier = renaming(element, name)
        relationship.versionHashModifier = nonEmpty(element["versionHashModifier"])
        relationship.userInfo = userInfo(element)
        switch element["deletionRule"] {
        case nil, "", "Nullify": relationship.deleteRule = .nullify
        case "No Action": relationship.deleteRule = .noAction
        case "Cascade": relationship.deleteRule = .cascade
        case "Deny": relationship.deleteRule = .deny
        case let rule?: report("The delete rule “\(rule)” is not known.", element, property: name)
        }
        return relationship
    }

    private mutating func count(_ key: String, _ element: Element, _ name: String) -> Int {
        guard let text = nonEmpty(element[key]) else { return 0 }
        if let count = Int(text) { return count }
        report("The \(key) “\(text)” isn't a number.", element, property: name)
        return 0
    }

    // MARK: - Fetched properties and fetch indexes

    mutating func fetchedProperty(_ element: Element, named name: String) -> FetchedProperty {
        var property = FetchedProperty(name: name)
        property.isOptional = isYes(element["optional"])
        property.renamingIdentifier = renaming(element, name)
        property.userInfo = userInfo(element)
        let request = element.child(named: "fetchRequest")
        property.fetchEntity = nonEmpty(request?["entity"])
        if let request, let text = nonEmpty(request["predicateString"]) {
            property.predicate = predicate(text, request, name)
        }
        return property
    }

    /// nil, with a problem noted, if the index can't be read.
    mutating func fetchIndex(_ element: Element) -> FetchIndex? {
        guard let name = nonEmpty(element["name"]) else {
            report("A fetch index has no name.", element)
            return nil
        }
        var elements: [FetchIndex.Element] = []
        for child in element.children(named: "fetchIndexElement") {
            guard let indexed = indexed(child, name) else { return nil }
            let kind: FetchIndex.Kind
            switch child["type"] {
            case nil, "", "Binary": kind = .binary
            case "RTree": kind = .rTree
            case let type?:
                report("The fetch index “\(name)” has an element of the unknown type “\(type)”.", child)
                return nil
            }
            elements.append(.init(indexed, kind: kind, isAscending: child["order"] != "descending"))
        }
        var index = FetchIndex(name: name, elements: elements)
        if let text = nonEmpty(element["partialIndexPredicate"]) {
            index.partialPredicate = predicate(text, element, nil)
        }
        return index
    }

    private mutating func indexed(_ element: Element, _ index: String) -> FetchIndex.Indexed? {
        if let property = nonEmpty(element["property"]) { return .property(property) }
        let expression: Expression
        switch element["expression"] {
        case "self", "SELF": expression = .evaluatedObject
        case "entity", "self.entity", "SELF.entity": expression = .key("entity")
        case let text:
            report(
                "The fetch index “\(index)” has an element that is neither a property nor `self` nor `entity`: "
                    + "“\(text ?? "")”. Stores can't index it.", element)
            return nil
        }
        expressionCount += 1
        return .expression(name: "expression\(expressionCount)", expression)
    }

    private mutating func predicate(_ text: String, _ element: Element, _ property: String?) -> Predicate? {
        do {
            return try Predicate(parsing: text)
        } catch {
            report("The predicate “\(text)” can't be read: \(error).", element, property: property)
            return nil
        }
    }
}
