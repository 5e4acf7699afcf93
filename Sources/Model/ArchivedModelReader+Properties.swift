import CausewayExpressions
import CausewayPlist

extension ArchivedModelReader {
    mutating func add(
        _ value: ArchivedValue, named name: String, to entity: inout Entity
    ) throws(PropertyListError) {
        guard let reference = try underlying(value), let kind = archive.archivedClass(of: reference) else {
            report("The property isn't an object.")
            return
        }
        if kind.isKind(of: "NSAttributeDescription") {
            if let attribute = try attribute(reference, named: name, depth: 0) { entity.attributes.append(attribute) }
        } else if kind.isKind(of: "NSRelationshipDescription") {
            entity.relationships.append(try relationship(reference, named: name))
        } else if kind.isKind(of: "NSFetchedPropertyDescription") {
            entity.fetchedProperties.append(try fetchedProperty(reference, named: name))
        } else if !kind.isKind(of: "NSExpressionDescription") {
            // An expression description is neither stored nor hashed.
            report("The property is a \(kind.name), which isn't known.")
        }
    }

    /// The property behind a chain of `_NSPropertyDescriptionProxy`.
    private func underlying(_ value: ArchivedValue) throws(PropertyListError) -> Reference? {
        var reference = value.reference
        // Proxies of proxies aren't known; the bound ends a forged loop.
        for _ in 0..<8 {
            guard let current = reference, archive.className(of: current) == "_NSPropertyDescriptionProxy" else {
                break
            }
            reference = try archive.field("NSUnderlyingProperty", of: current)?.reference
        }
        return reference
    }

    // MARK: - Attributes

    private mutating func attribute(
        _ reference: Reference, named name: String, depth: Int
    ) throws(PropertyListError) -> Attribute? {
        let raw = try archive.integer(archive.field("NSAttributeType", of: reference)) ?? 0
        guard let type = Int(exactly: raw).flatMap(AttributeType.init(rawValue:)) else {
            report("The attribute type \(raw) is not known.")
            return nil
        }
        var attribute = Attribute(name: name, type: type)
        attribute.isOptional = try flag("NSIsOptional", of: reference)
        attribute.isTransient = try flag("NSIsTransient", of: reference)
        attribute.isIndexed = try flag("NSIsIndexed", of: reference)
        attribute.isIndexedBySpotlight = try flag("NSIndexedBySpotlight", of: reference)
        attribute.renamingIdentifier = try renaming(reference, name)
        attribute.versionHashModifier = try nonEmptyString("NSVersionHashModifier", of: reference)
        attribute.userInfo = try userInfo(of: reference)
        let flags = try archive.integer(archive.field("NSFlagsKey", of: reference)) ?? 0
        attribute.allowsExternalBinaryDataStorage = flags & AttributeFlags.externalBinaryData != 0
        attribute.preservesValueInHistoryOnDeletion = flags & AttributeFlags.preservedInHistory != 0
        attribute.allowsCloudEncryption = try flag("NSAllowsCloudEncryption", of: reference)
        attribute.valueTransformerName = try nonEmptyString("NSValueTransformerName", of: reference)
        attribute.valueClassName = try nonEmptyString("NSAttributeValueClassName", of: reference)
        attribute.defaultValue = try defaultValue(reference, type)
        attribute.validations = try validations(reference)
        attribute.derivation = try derivation(reference)
        if type == .composite { attribute.elements = try compositeElements(reference, depth) }
        return attribute
    }

    private mutating func defaultValue(
        _ reference: Reference, _ type: AttributeType
    ) throws(PropertyListError) -> Constant? {
        guard let value = try archive.field("NSDefaultValue", of: reference), !value.isNull,
            let constant = constant(value, "default value")
        else { return nil }
        return constant.canonical(for: type)
    }

    private mutating func validations(_ reference: Reference) throws(PropertyListError) -> [Attribute.Validation] {
        let predicates = try archive.array(archive.field("NSValidationPredicates", of: reference)) ?? []
        let warnings = try archive.array(archive.field("NSValidationWarnings", of: reference)) ?? []
        var validations: [Attribute.Validation] = []
        for (position, value) in predicates.enumerated() {
            guard let predicate = predicate(value, "validation predicate") else { continue }
            let warning = position < warnings.count ? constant(warnings[position], "validation warning") : .null
            validations.append(.init(predicate: predicate, warning: warning ?? .null))
        }
        return validations
    }

    private mutating func derivation(_ reference: Reference) throws(PropertyListError) -> Attribute.Derivation? {
        guard archive.archivedClass(of: reference)?.isKind(of: "NSDerivedAttributeDescription") == true else {
            return nil
        }
        guard let target = try archive.field("NSDerivationExpression", of: reference)?.reference else {
            report("The derived attribute has no derivation expression.")
            return nil
        }
        let expression: Expression
        do {
            expression = try Expression(archive: archive, at: target)
        } catch {
            report("The derivation expression can't be read: \(error).")
            return nil
        }
        var derivation = Attribute.Derivation(expression: expression)
        if let filter = try archive.field("NSFilteringPredicate", of: reference), !filter.isNull {
            derivation.filter = predicate(filter, "derivation's filter")
        }
        return derivation
    }

    private mutating func compositeElements(
        _ reference: Reference, _ depth: Int
    ) throws(PropertyListError) -> [Attribute] {
        guard depth < ModelLimits.compositeDepth else {
            report("Composite attributes contain each other.")
            return []
        }
        var elements: [Attribute] = []
        for value in try archive.array(archive.field("NSCompositeElements", of: reference)) ?? [] {
            expandedElements += 1
            guard expandedElements <= ModelLimits.compositeElements else {
                report("The composite attributes have too many elements.")
                return []
            }
            guard let element = value.reference, let name = try nonEmptyString("NSPropertyName", of: element) else {
                report("An element of the composite attribute has no name.")
                continue
            }
            if let attribute = try attribute(element, named: name, depth: depth + 1) { elements.append(attribute) }
        }
        return elements
    }

    // MARK: - Relationships and fetched properties

    private mutating func relationship(
        _ reference: Reference, named name: String
    ) throws(PropertyListError) -> Relationship {
        var destination = try nonEmptyString("_NSDestinationEntityName", of: reference)
        if destination == nil { destination = try entityName("NSDestinationEntity", of: reference) }
        var relationship = Relationship(name: name, destination: destination ?? "")
        relationship.inverse = try nonEmptyString("_NSInverseRelationshipName", of: reference)
        if let inverse = try archive.field("NSInverseRelationship", of: reference), let target = try underlying(inverse)
        {
            relationship.inverse = try string("NSPropertyName", of: target) ?? relationship.inverse
            relationship.inverseEntity = try entityName("NSEntity", of: target)
        }
        relationship.isOptional = try flag("NSIsOptional", of: reference)
        relationship.isTransient = try flag("NSIsTransient", of: reference)
        relationship.isOrdered = try flag("NSIsOrdered", of: reference)
        relationship.isIndexedBySpotlight = try flag("NSIndexedBySpotlight", of: reference)
        relationship.minCount = Int(try archive.integer(archive.field("NSMinCount", of: reference)) ?? 0)
        relationship.maxCount = Int(try archive.integer(archive.field("NSMaxCount", of: reference)) ?? 0)
        relationship.renamingIdentifier = try renaming(reference, name)
        relationship.versionHashModifier = try nonEmptyString("NSVersionHashModifier", of: reference)
        relationship.userInfo = try userInfo(of: reference)
        let rule = try archive.integer(archive.field("NSDeleteRule", of: reference)) ?? 0
        if let known = Int(exactly: rule).flatMap(Relationship.DeleteRule.init(rawValue:)) {
            relationship.deleteRule = known
        } else {
            report("The delete rule \(rule) is not known.")
        }
        return relationship
    }

    private mutating func fetchedProperty(
        _ reference: Reference, named name: String
    ) throws(PropertyListError) -> FetchedProperty {
        var property = FetchedProperty(name: name)
        property.isOptional = try flag("NSIsOptional", of: reference)
        property.renamingIdentifier = try renaming(reference, name)
        property.userInfo = try userInfo(of: reference)
        property.fetchEntity = try nonEmptyString("_NSFetchRequestEntityName", of: reference)
        if let request = try archive.field("NSFetchRequest", of: reference)?.reference {
            if property.fetchEntity == nil { property.fetchEntity = try entityName("NSEntity", of: request) }
            if let value = try archive.field("NSPredicate", of: request), !value.isNull {
                property.predicate = predicate(value, "fetched property's predicate")
            }
        }
        return property
    }

    /// nil, with a problem noted, if the predicate can't be read.
    private mutating func predicate(_ value: ArchivedValue, _ role: String) -> Predicate? {
        guard let reference = value.reference else {
            report("The \(role) isn't an object.")
            return nil
        }
        do {
            return try Predicate(archive: archive, at: reference)
        } catch {
            report("The \(role) can't be read: \(error).")
            return nil
        }
    }

    // MARK: - Fetch indexes

    mutating func fetchIndexes(_ value: ArchivedValue) throws(PropertyListError) -> [FetchIndex] {
        var indexes: [FetchIndex] = []
        for item in try archive.array(value) ?? [] {
            guard let reference = item.reference, let name = try string("NSIndexName", of: reference) else {
                report("A fetch index has no name.")
                continue
            }
            var index = FetchIndex(name: name, elements: [])
            for element in try archive.array(archive.field("NSIndexElements", of: reference)) ?? [] {
                if let element = try indexElement(element, name) { index.elements.append(element) }
            }
            if let partial = try archive.field("NSPartialIndexPredicate", of: reference), !partial.isNull {
                index.partialPredicate = predicate(partial, "predicate of the fetch index “\(name)”")
            }
            indexes.append(index)
        }
        return indexes
    }

    private mutating func indexElement(
        _ value: ArchivedValue, _ index: String
    ) throws(PropertyListError) -> FetchIndex.Element? {
        guard let reference = value.reference else {
            report("The fetch index “\(index)” has an element that isn't an object.")
            return nil
        }
        let raw = try archive.integer(archive.field("NSFetchIndexElementType", of: reference)) ?? 0
        guard let kind = Int(exactly: raw).flatMap(FetchIndex.Kind.init(rawValue:)) else {
            report("The fetch index “\(index)” has an element of the unknown type \(raw).")
            return nil
        }
        let property = try archive.field("NSIndexedProperty", of: reference)?.reference
        var name = try nonEmptyString("NSPropertyName", of: reference)
        if name == nil, let property { name = try nonEmptyString("NSPropertyName", of: property) }
        guard let name else {
            report("The fetch index “\(index)” has an element without a name.")
            return nil
        }
        let isAscending = try flag("NSAscending", of: reference)
        if let property, archive.archivedClass(of: property)?.isKind(of: "NSExpressionDescription") == true {
            guard let target = try archive.field("NSExpression", of: property)?.reference else {
                report("The fetch index “\(index)” has an element without its expression.")
                return nil
            }
            do {
                let expression = try Expression(archive: archive, at: target)
                return .init(.expression(name: name, expression), kind: kind, isAscending: isAscending)
            } catch {
                report("The fetch index “\(index)” has an expression that can't be read: \(error).")
                return nil
            }
        }
        return .init(.property(name), kind: kind, isAscending: isAscending)
    }
}

/// Bits of `NSFlagsKey` (InsideStoreFormat §6).
enum AttributeFlags {
    static let externalBinaryData: Int64 = 4
    static let preservedInHistory: Int64 = 16
}

extension Constant {
    /// The value in the one case that an attribute of that type has: archives hold `0` for `NO` and for `0.0`.
    func canonical(for type: AttributeType) -> Constant {
        switch (type, self) {
        case (.boolean, .integer(let value)): .boolean(value != 0)
        case (.integer16, .boolean(let value)), (.integer32, .boolean(let value)), (.integer64, .boolean(let value)):
            .integer(value ? 1 : 0)
        case (.integer16, .real(let value)), (.integer32, .real(let value)), (.integer64, .real(let value)):
            Int64(exactly: value).map { .integer($0) } ?? self
        case (.double, .integer(let value)), (.float, .integer(let value)): .real(Double(value))
        case (.double, .boolean(let value)), (.float, .boolean(let value)): .real(value ? 1 : 0)
        case (.decimal, .integer(let value)): .decimal(DecimalText.canonical(String(value)) ?? String(value))
        case (.decimal, .real(let value)): DecimalText.canonical(String(value)).map { .decimal($0) } ?? self
        case (.decimal, .decimal(let text)): DecimalText.canonical(text).map { .decimal($0) } ?? self
        default: self
        }
    }
}
