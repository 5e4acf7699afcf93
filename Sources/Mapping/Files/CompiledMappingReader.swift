import CausewayExpressions
import CausewayPlist

/// Reads a `.cdm`: a keyed archive with an `NSMappingModel` at its root.
///
/// Classes and keys as in V2toV3.cdm. `NSEntityMappingsByName` repeats `NSEntityMappings` and isn't read.
struct CompiledMappingReader {
    typealias Reference = KeyedArchive.Reference

    /// Bytes of an entity's version hash.
    private static let hashSize = 32

    private let archive: KeyedArchive
    private var values = ArchivedMappingValues()
    private var propertyCount = 0
    private var notices: [String] = []

    /// The name and the path are the caller's.
    static func read(_ bytes: [UInt8]) throws(MappingFileError) -> MappingModelDescription {
        var reader = CompiledMappingReader(archive: try ArchivedMappingValues.archive(bytes))
        return try reader.read()
    }

    private mutating func read() throws(MappingFileError) -> MappingModelDescription {
        guard archive.className(of: archive.root) == "NSMappingModel" else {
            let name = archive.className(of: archive.root) ?? "plain value"
            throw MappingFileError(
                .notAMappingModel, "The archive holds a \(name), not a mapping model; name a .cdm.")
        }
        let references = try instances("NSEntityMappings", of: archive.root, "NSEntityMapping")
        try MappingFileLimits.check(references.count, MappingFileLimits.entityMappings, "entity mappings")
        var mappings: [EntityMappingDescription] = []
        for reference in references { mappings.append(try entityMapping(reference)) }
        var description = MappingModelDescription(name: "", form: .compiled, entityMappings: mappings)
        description.notices = notices
        return description
    }

    private mutating func entityMapping(_ reference: Reference) throws(MappingFileError) -> EntityMappingDescription {
        let source = try text("NSSourceEntityName", of: reference)
        let destination = try text("NSDestinationEntityName", of: reference)
        let name =
            try text("NSMappingName", of: reference)
            ?? EntityMappingDescription.defaultName(source: source, destination: destination)
        do throws(MappingFileError) {
            var mapping = EntityMappingDescription(
                name: name, kind: try kind(reference), sourceEntity: source, destinationEntity: destination)
            mapping.sourceHash = try hash("NSSourceEntityVersionHash", of: reference)
            mapping.destinationHash = try hash("NSDestinationEntityVersionHash", of: reference)
            mapping.sourceExpression = try expression("NSSourceExpression", of: reference)
            mapping.policyClassName = try text("NSEntityMigrationPolicyClassName", of: reference)
            if let notice = mapping.noticeOfMissingPolicy { notices.append(notice) }
            mapping.userInfo = try values.userInfo(archive, field("NSUserInfo", of: reference))
            mapping.attributeMappings = try propertyMappings("NSAttributeMappings", of: reference)
            mapping.relationshipMappings = try propertyMappings("NSRelationshipMappings", of: reference)
            return mapping
        } catch {
            throw error.at(mapping: name)
        }
    }

    private mutating func propertyMappings(
        _ name: String, of owner: Reference
    ) throws(MappingFileError) -> [PropertyMappingDescription] {
        let references = try instances(name, of: owner, "NSPropertyMapping")
        propertyCount += references.count
        try MappingFileLimits.check(propertyCount, MappingFileLimits.propertyMappings, "property mappings")
        var mappings: [PropertyMappingDescription] = []
        for reference in references {
            guard let name = try text("NSDestinationPropertyName", of: reference) else {
                throw damaged("It names no property.", reference)
            }
            do throws(MappingFileError) {
                var mapping = PropertyMappingDescription(
                    name: name, expression: try expression("NSValueExpression", of: reference))
                mapping.userInfo = try values.userInfo(archive, field("NSUserInfo", of: reference))
                if let transforms = try field("NSPropertyTransforms", of: reference), !transforms.isNull {
                    notices.append("The mapping of “\(name)” has property transforms, which only Core Data can run.")
                }
                mappings.append(mapping)
            } catch {
                throw error.at(property: name)
            }
        }
        return mappings
    }

    private func kind(_ reference: Reference) throws(MappingFileError) -> EntityMappingKind {
        // Archivers leave a zero out.
        let number = try MappingFileError.wrapping {
            try archive.integer(archive.field("NSMappingType", of: reference)) ?? 0
        }
        guard let raw = Int(exactly: number), let kind = EntityMappingKind(rawValue: raw) else {
            throw damaged("Its mapping type \(number) isn't known.", reference)
        }
        return kind
    }

    private mutating func expression(_ name: String, of owner: Reference) throws(MappingFileError) -> Expression? {
        switch try field(name, of: owner) {
        case nil, .null: return nil
        case .object(let reference): return try values.expression(archive, reference)
        default: throw damaged("Its “\(name)” isn't an expression.", owner)
        }
    }

    private func hash(_ name: String, of owner: Reference) throws(MappingFileError) -> [UInt8]? {
        let bytes = try MappingFileError.wrapping { try archive.data(archive.field(name, of: owner)) }
        guard let bytes else { return nil }
        guard bytes.count == Self.hashSize else {
            throw damaged("Its “\(name)” has \(bytes.count) bytes instead of \(Self.hashSize).", owner)
        }
        return bytes
    }

    // MARK: - Fields

    private func field(_ name: String, of reference: Reference) throws(MappingFileError) -> ArchivedValue? {
        do { return try archive.field(name, of: reference) } catch { throw MappingFileError(error) }
    }

    /// nil for null and for an empty text.
    private func text(_ name: String, of reference: Reference) throws(MappingFileError) -> String? {
        try MappingFileError.wrapping {
            let text = try archive.string(archive.field(name, of: reference))
            return text?.isEmpty == true ? nil : text
        }
    }

    /// The elements of an array, which must all be of one class; empty for an absent one.
    private func instances(
        _ name: String, of owner: Reference, _ className: String
    ) throws(MappingFileError) -> [Reference] {
        let elements = try MappingFileError.wrapping { try archive.array(archive.field(name, of: owner)) ?? [] }
        var references: [Reference] = []
        references.reserveCapacity(elements.count)
        for element in elements {
            guard let reference = element.reference,
                archive.archivedClass(of: reference)?.isKind(of: className) == true
            else { throw damaged("Its “\(name)” holds something that isn't a \(className).", owner) }
            references.append(reference)
        }
        return references
    }

    private func damaged(_ message: String, _ reference: Reference) -> MappingFileError {
        MappingFileError(.damaged, "The \(archive.place(of: reference)) can't be understood. \(message)")
    }
}
