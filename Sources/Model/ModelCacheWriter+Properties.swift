import CausewayExpressions
import CausewayPlist

/// Bits of `_P`, the private summary of a property (52 real caches, no exception).
enum PropertyBits {
    /// The bits of a property without any of those below.
    static let plain: Int64 = 0b1111_0001
    static let optional: Int64 = 2
    static let readOnly: Int64 = 4
    static let transient: Int64 = 8
    static let ordered: Int64 = 1024
    /// Set where there are no validation predicates.
    static let notValidated: Int64 = 0b0011_0000
    /// Set where there is no user info.
    static let withoutUserInfo: Int64 = 0b0100_0000
    /// Set where there is no version hash modifier.
    static let withoutModifier: Int64 = 0b1000_0000
}

extension ModelCacheWriter {
    // MARK: - Attributes

    mutating func write(
        _ attribute: Attribute, of entity: Entity, declaredBy declaring: Entity
    ) throws(ExpressionArchiveError) -> Reference {
        let attribute = attribute.withoutDateTexts
        let reference = properties[PropertyKey(entity: entity.name, property: attribute.name)] ?? writer.reserve()
        let origin = PropertyKey(entity: declaring.name, property: attribute.name)
        let common: [Field]
        if let known = shared[origin] {
            common = known
        } else {
            common = try sharedFields(attribute)
            shared[origin] = common
        }
        try fill(reference, attribute, common, entity)
        return reference
    }

    /// Fields that don't depend on a copy's entity.
    private mutating func sharedFields(_ attribute: Attribute) throws(ExpressionArchiveError) -> [Field] {
        var fields: [Field] = []
        if let value = attribute.defaultValue, !value.containsForeign {
            fields.append(("NSDefaultValue", .reference(try value.archive(into: &writer))))
        } else {
            fields.append(("NSDefaultValue", .null))
        }
        if !attribute.validations.isEmpty {
            var predicates: [Reference] = []
            var warnings: [Reference] = []
            for validation in attribute.validations {
                predicates.append(try validation.predicate.archive(into: &writer))
                let warning = validation.warning.containsForeign ? Constant.null : validation.warning
                warnings.append(try warning.archive(into: &writer))
            }
            fields.append(("NSValidationPredicates", .reference(writer.array(predicates))))
            fields.append(("NSValidationWarnings", .reference(writer.array(warnings))))
        }
        if let derivation = attribute.derivation {
            fields.append(
                ("NSDerivationExpression", .reference(try derivation.expression.archive(into: &writer))))
            var filter = Reference.null
            if let predicate = derivation.filter { filter = try predicate.archive(into: &writer) }
            fields.append(("NSFilteringPredicate", .reference(filter)))
        }
        return fields
    }

    private mutating func fill(
        _ reference: Reference, _ attribute: Attribute, _ common: [Field], _ entity: Entity
    ) throws(ExpressionArchiveError) {
        let isDerived = attribute.derivation != nil
        let all = Common(attribute)
        var bits = all.bits
        if !attribute.validations.isEmpty { bits &= ~PropertyBits.notValidated }
        var flags: Int64 = 0
        if attribute.allowsExternalBinaryDataStorage { flags |= AttributeFlags.externalBinaryData }
        if attribute.preservesValueInHistoryOnDeletion { flags |= AttributeFlags.preservedInHistory }
        var fields: [Field] =
            common + [
                ("NSAttributeType", .integer(Int64(attribute.type.rawValue))),
                ("NSAttributeValueClassName", text(attribute.valueClassName)),
                ("NSValueTransformerName", text(attribute.valueTransformerName)),
                ("NSFlagsKey", .integer(flags)),
            ]
        if isDerived { fields.append(("NSIsReadOnly", .boolean(true))) }
        if attribute.isIndexed { fields.append(("NSIsIndexed", .boolean(true))) }
        if attribute.allowsCloudEncryption { fields.append(("NSAllowsCloudEncryption", .boolean(true))) }
        var kind = ["NSAttributeDescription", "NSPropertyDescription", "NSObject"]
        if isDerived {
            kind.insert("NSDerivedAttributeDescription", at: 0)
        } else if attribute.type == .composite {
            kind.insert("NSCompositeAttributeDescription", at: 0)
            var elements: [Reference] = []
            for element in attribute.elements {
                let leaf = writer.reserve()
                try fill(leaf, element, try sharedFields(element), entity)
                elements.append(leaf)
            }
            fields.append(("NSCompositeElements", .reference(writer.array(elements))))
        }
        fields += try propertyFields(all, of: entity, bits: bits)
        writer.fill(reference, ArchivedClass(kind), fields)
    }

    // MARK: - Relationships

    mutating func write(
        _ relationship: Relationship, of entity: Entity
    ) throws(ExpressionArchiveError) -> Reference {
        let reference = properties[PropertyKey(entity: entity.name, property: relationship.name)] ?? writer.reserve()
        let all = Common(relationship)
        var bits = all.bits
        if relationship.isOrdered { bits |= PropertyBits.ordered }
        var inverse = Reference.null
        if let found = model.inverse(of: relationship) {
            // The declaring entity's own property, never a subentity's copy.
            let key = PropertyKey(entity: found.owner, property: found.relationship.name)
            inverse = properties[key] ?? .null
        }
        var fields: [Field] = [
            ("NSDestinationEntity", .reference(entities[relationship.destination] ?? .null)),
            ("_NSDestinationEntityName", text(relationship.destination)),
            ("NSInverseRelationship", .reference(inverse)),
            ("_NSInverseRelationshipName", text(relationship.inverse)),
            ("NSDeleteRule", .integer(Int64(relationship.deleteRule.rawValue))),
            ("NSMinCount", .integer(Int64(relationship.minCount))),
            ("NSMaxCount", .integer(Int64(relationship.maxCount))),
        ]
        if relationship.isOrdered { fields.append(("NSIsOrdered", .boolean(true))) }
        fields += try propertyFields(all, of: entity, bits: bits)
        writer.fill(
            reference, ArchivedClass(["NSRelationshipDescription", "NSPropertyDescription", "NSObject"]), fields)
        return reference
    }

    // MARK: - Fetched properties

    mutating func write(
        _ property: FetchedProperty, of entity: Entity
    ) throws(ExpressionArchiveError) -> Reference {
        let reference = properties[PropertyKey(entity: entity.name, property: property.name)] ?? writer.reserve()
        var predicate = Reference.null
        if let condition = property.predicate { predicate = try condition.archive(into: &writer) }
        let target = property.fetchEntity.flatMap { entities[$0] } ?? .null
        // The values of an unconfigured request; 30 and the flag as in real caches.
        let request = writer.add(
            ArchivedClass(["NSFetchRequest", "NSPersistentStoreRequest", "NSObject"]),
            [
                ("NSEntity", .reference(target)), ("NSPredicate", .reference(predicate)), ("NSSortDescriptors", .null),
                ("NSValuesToFetch", .null), ("NSValuesToGroupBy", .null), ("NSHavingPredicate", .null),
                ("NSRelationshipKeyPathsForPrefetching", .null), ("NSHasFetchRequestFlags", .boolean(true)),
                ("NSFetchRequestFlags", .integer(30)), ("NSResultType", .integer(0)), ("NSFetchOffset", .integer(0)),
                ("NSFetchLimit", .integer(0)), ("NSBatchSize", .integer(0)), ("NSAllocationType", .integer(0)),
            ])
        let fields: [Field] = [
            ("NSFetchRequest", .reference(request)), ("_NSFetchRequestEntityName", text(property.fetchEntity)),
            ("NSIsReadOnly", .boolean(true)),
        ]
        let all = Common(property)
        writer.fill(
            reference, ArchivedClass(["NSFetchedPropertyDescription", "NSPropertyDescription", "NSObject"]),
            fields + (try propertyFields(all, of: entity, bits: all.bits)))
        return reference
    }

    // MARK: - Common

    /// What every kind of property has.
    private struct Common {
        let name: String
        let renaming: String?
        let isOptional: Bool
        var isTransient = true
        var isReadOnly = true
        var isIndexedBySpotlight = false
        let userInfo: [String: Constant]
        var modifier: String?

        init(_ attribute: Attribute) {
            (name, renaming) = (attribute.name, attribute.renamingIdentifier)
            (isOptional, isTransient) = (attribute.isOptional, attribute.isTransient)
            (isReadOnly, isIndexedBySpotlight) = (attribute.derivation != nil, attribute.isIndexedBySpotlight)
            (userInfo, modifier) = (attribute.userInfo, attribute.versionHashModifier)
        }

        init(_ relationship: Relationship) {
            (name, renaming) = (relationship.name, relationship.renamingIdentifier)
            (isOptional, isTransient) = (relationship.isOptional, relationship.isTransient)
            (isReadOnly, isIndexedBySpotlight) = (false, relationship.isIndexedBySpotlight)
            (userInfo, modifier) = (relationship.userInfo, relationship.versionHashModifier)
        }

        init(_ property: FetchedProperty) {
            (name, renaming) = (property.name, property.renamingIdentifier)
            (isOptional, userInfo) = (property.isOptional, property.userInfo)
        }

        var bits: Int64 {
            var bits = PropertyBits.plain
            if isOptional { bits |= PropertyBits.optional }
            if isReadOnly { bits |= PropertyBits.readOnly }
            if isTransient { bits |= PropertyBits.transient }
            if !userInfo.isEmpty { bits &= ~PropertyBits.withoutUserInfo }
            if modifier != nil { bits &= ~PropertyBits.withoutModifier }
            return bits
        }
    }

    /// A flag that isn't set is left out.
    private mutating func propertyFields(
        _ common: Common, of entity: Entity, bits: Int64
    ) throws(ExpressionArchiveError) -> [Field] {
        var fields: [Field] = [
            ("NSPropertyName", text(common.name)), ("NSEntity", .reference(entities[entity.name] ?? .null)),
            ("NSRenamingIdentifier", text(common.renaming ?? common.name)), ("_P", .integer(bits)),
        ]
        if common.isOptional { fields.append(("NSIsOptional", .boolean(true))) }
        if common.isTransient { fields.append(("NSIsTransient", .boolean(true))) }
        if common.isIndexedBySpotlight { fields.append(("NSIndexedBySpotlight", .boolean(true))) }
        if !common.userInfo.isEmpty { fields.append(("NSUserInfo", .reference(try userInfo(common.userInfo)))) }
        if let modifier = common.modifier { fields.append(("NSVersionHashModifier", text(modifier))) }
        return fields
    }
}
